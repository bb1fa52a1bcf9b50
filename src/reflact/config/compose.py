"""Override lists in, a typed and checked configuration out."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from hydra import version
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.utils import create_config_search_path
from hydra.core.config_search_path import SearchPathQuery
from hydra.core.default_element import GroupDefault
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override, OverrideType
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import OmegaConfBaseException

from reflact.config.axes import choosing, load_axes
from reflact.config.check import check
from reflact.config.errors import explain, unknown_key
from reflact.config.keys import all_keys, sections
from reflact.config.overrides import accepted
from reflact.config.paths import conf_dir
from reflact.config.repository import CachedLoader
from reflact.config.schema import Config
from reflact.config.store import register
from reflact.core.errors import ConfigError

CONFIG_NAME = "config"
VERSION_BASE = "1.3"

# Hydra keeps its plug-ins, its config store and its compatibility level in singletons of the process.
_LOCK = threading.RLock()

T = TypeVar("T")


@contextmanager
def _version_base() -> Iterator[None]:
    """Compose under our compatibility level, whatever another Hydra application in the process has set."""
    base = version.VersionBase.instance()
    before = base.getbase()
    version.setbase(VERSION_BASE)
    try:
        yield
    finally:
        base.version_base = before


class Composer:
    """Composes configurations; several from one composer are cheaper than one each from several."""

    def __init__(self, config_dir: Path | None = None, config_name: str = CONFIG_NAME) -> None:
        """Prepare.

        Args:
            config_dir: A folder that is searched before our own (Hydra's `--config-dir`).
            config_name: The primary configuration.

        Raises:
            ConfigError: The folder does not exist.
        """
        if config_dir is not None and not config_dir.is_dir():
            raise ConfigError(f"--config-dir {config_dir} is not a folder.")
        self._name = config_name
        conf = conf_dir()
        with _LOCK, _version_base():
            register(conf)
            path = create_config_search_path(str(conf))
            if config_dir is not None:
                anchor = SearchPathQuery(provider="schema", path=None)
                path.prepend("command-line", f"file://{config_dir.absolute()}", anchor)
            self._loader = CachedLoader(path)
        self._ours_only = config_dir is None and config_name == CONFIG_NAME
        self._bases: dict[tuple[str, ...], DictConfig] = {}

    def raw(self, overrides: Sequence[str], *, mode: RunMode = RunMode.RUN) -> DictConfig:
        """Compose the configuration as Hydra sees it, with the node `hydra`.

        Raises:
            ConfigError: The overrides do not compose; the message says which one and what is allowed.
        """
        lines = [accepted(line) for line in choosing(overrides)]

        def load() -> DictConfig:
            return self._loader.load_configuration(self._name, lines, run_mode=mode)

        with _LOCK, _version_base():
            return self._explained(load, overrides, sweep=mode is RunMode.MULTIRUN)

    def compose(self, overrides: Sequence[str]) -> Config:
        """Compose, convert and check.

        Raises:
            ConfigError: As for `raw`, or a value is not allowed.
        """
        config = self._explained(lambda: typed(self._composed(overrides)), overrides)
        check(config)
        return config

    def _composed(self, overrides: Sequence[str]) -> DictConfig:
        """Compose; what the choices of options alone give is taken from an earlier call where there was one."""
        with _LOCK, _version_base():
            parsed = OverridesParser.create().parse_overrides([accepted(line) for line in choosing(overrides)])
            if any(item.is_sweep_override() or item.is_hydra_override() for item in parsed):
                return self.raw(overrides)
            layers = self._layers(parsed)
            groups = [item for item in parsed if self._is_group(item) and item.key_or_group not in layers]
            node = copy.deepcopy(self._base(tuple(item.input_line or "" for item in groups)))
            for sets in layers.values():
                for key, value in sets.items():
                    OmegaConf.update(node, key, value)
            values = [item for item in parsed if not self._is_group(item)]
            ConfigLoaderImpl._apply_overrides_to_config(values, node)
            return node

    def _base(self, groups: tuple[str, ...]) -> DictConfig:
        if groups not in self._bases:
            base = self.raw(groups)
            with open_dict(base):
                del base["hydra"]
            self._bases[groups] = base
        return self._bases[groups]

    def _layers(self, parsed: Sequence[Override]) -> dict[str, Mapping[str, Any]]:
        """Return what chosen axes set, by group, in the order in which Hydra would merge their files.

        They come last in the defaults list, so that a base without them and then their values is the same, and a plan
        with every combination of them needs few bases. Anything unusual is left to Hydra.
        """
        chosen = {item.key_or_group: item for item in parsed if item.key_or_group.startswith("ablation/")}
        plain = all(item.type is OverrideType.CHANGE and item.package is None for item in chosen.values())
        once = len(chosen) == sum(item.key_or_group in chosen for item in parsed)
        if not (plain and once and self._ours_only):
            return {}
        options = {
            f"ablation/{axis.name}": {option.name: option.sets for option in axis.options} for axis in load_axes().axes
        }
        found = {group: options[group].get(str(chosen[group].value())) for group in options if group in chosen}
        return {group: sets for group, sets in found.items() if sets is not None}

    def _is_group(self, override: Override) -> bool:
        return override.package is not None or self._loader.repository.group_exists(override.key_or_group)

    def options(self, group: str) -> list[str]:
        """Return the names of a group's options."""
        with _LOCK, _version_base():
            return list(self._loader.get_group_options(group))

    def wish(self, group: str, name: str, of: str) -> str | None:
        """Return which option of another group an option's file chooses (`- override /OF: NAME`), None if none."""
        with _LOCK, _version_base():
            known = self._loader.repository.group_exists(group)
            found = self._loader.repository.load_config(f"{group}/{name}") if known else None
        for item in [] if found is None else found.defaults_list or []:
            if isinstance(item, GroupDefault) and item.override and (item.group or "").lstrip("/") == of:
                return str(item.value)
        return None

    def groups(self) -> list[str]:
        """Return the names of the groups (`ablation/lr`), Hydra's own left out."""
        with _LOCK, _version_base():
            return sorted(self._groups_under(""))

    def _groups_under(self, parent: str) -> Iterator[str]:
        for name in self._loader.list_groups(parent):
            group = f"{parent}/{name}" if parent else name
            if group != "hydra":
                if self._loader.get_group_options(group):
                    yield group
                yield from self._groups_under(group)

    def _explained(self, load: Callable[[], T], overrides: Sequence[str], *, sweep: bool = False) -> T:
        try:
            return load()
        except (HydraException, OmegaConfBaseException, ValueError) as error:
            raise explain(error, overrides, self, sweep=sweep) from error


def compose(overrides: Sequence[str] = ()) -> Config:
    """Compose a configuration from overrides such as `benchmark=docvqa` or `optimizer.learning_rate=8`.

    Works from any folder and any thread, as often as wanted.

    Raises:
        ConfigError: An override is not understood or a value is not allowed.
    """
    return Composer().compose(overrides)


def typed(node: DictConfig) -> Config:
    """Convert a composed configuration to the schema's dataclasses, leaving the node `hydra` out.

    Raises:
        ConfigError: It has keys that the schema does not have (`+` on the command line opens a node for them).
    """
    if "hydra" in node:
        node = copy.copy(node)
        with open_dict(node):
            node.pop("hydra")
    for name in _names(node):
        if name not in all_keys():
            raise ConfigError(unknown_key(name))
    config = OmegaConf.to_object(node)
    assert isinstance(config, Config), "the primary configuration begins with the schema"
    return config


def _names(node: DictConfig, prefix: str = "") -> Iterator[str]:
    for name in map(str, node):
        dotted = prefix + name
        if dotted in sections():
            yield from _names(node[name], dotted + ".")
        else:
            yield dotted
