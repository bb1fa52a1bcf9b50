"""Hydra's composition errors, in our words: which override, what is allowed, what was probably meant."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any, Protocol

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException, OverrideParseException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from reflact.config.keys import all_keys, sections
from reflact.config.nearest import suggestion
from reflact.config.overrides import override as written
from reflact.config.schema import Config
from reflact.core.errors import ConfigError


class Groups(Protocol):
    """What is known of config groups."""

    def groups(self) -> list[str]:
        """Return the names of all groups (`ablation/lr`)."""
        ...

    def options(self, group: str) -> list[str]:
        """Return the names of a group's options."""
        ...


def explain(error: Exception, overrides: Sequence[str], known: Groups, *, sweep: bool = False) -> ConfigError:
    """Turn an error of a composition into one paragraph.

    Args:
        error: What Hydra or OmegaConf raised.
        overrides: The overrides that were composed.
        known: The groups and options that exist.
        sweep: Lists of values are allowed; they are looked at when the jobs are composed one by one.
    """
    if isinstance(error, ConfigError):
        return error
    if isinstance(error, OverrideParseException):
        return ConfigError(_syntax(error.override))
    for line in overrides:
        try:
            parsed = OverridesParser.create().parse_override(line)
        except HydraException:
            return ConfigError(_syntax(line))
        if sweep and parsed.is_sweep_override():
            continue
        for find in (_group, _unknown, _sweep, _type):
            message = find(parsed, known)
            if message is not None:
                return ConfigError(message)
    return ConfigError(_file(error))


def unknown_key(name: str) -> str:
    """Say that a key does not exist, and which one may have been meant."""
    if name in sections():
        inside = ", ".join(key for key in all_keys() if key.rpartition(".")[0] == name)
        return f"{name} is not a key but a group of keys: {inside}."
    return f"There is no key {name}{suggestion(name, all_keys())}. `reflact keys` lists all of them."


def _line(parsed: Override) -> str:
    return parsed.input_line or parsed.key_or_group


def _syntax(line: str) -> str:
    key, equals, value = line.partition("=")
    if not equals:
        return f"{line!r} is not an override: it has no `=`. Overrides look like optimizer.learning_rate=8."
    if not re.fullmatch(r"[~+]{0,2}[A-Za-z_][\w./@:-]*", key):
        return f"{line!r} is not an override: {key!r} cannot be the name of a key."
    text = shlex.quote(written(key, value)) if value != "???" else key
    return (
        f"The value of {key} cannot be read: {value!r}. Hydra reads , = : {{ }} [ ] ( ) and quotes in values as its "
        f"own syntax. To give it as a text, quote it for Hydra and again for the shell: {text}"
    )


def _group(parsed: Override, known: Groups) -> str | None:
    name, value = parsed.key_or_group, parsed.value()
    options = known.options(name)
    if "/" not in name and (not options or (name in sections() and isinstance(value, dict))):
        return None
    if not options:
        return f"There is no config group {name}{suggestion(name, known.groups())}."
    listed = ", ".join(options)
    if value is None and not parsed.is_delete():
        return f"{_line(parsed)}: a group takes one of {listed}; leave it out to have the usual one."
    values = value if isinstance(value, list) else [value]
    for item in values:
        if isinstance(item, str) and item not in options and not parsed.is_sweep_override():
            return f"{name}={item}: there is no such option{suggestion(item, options)}. It takes one of {listed}."
        if isinstance(item, int | float):
            meant = [option for option in options if re.search(rf"(?<!\d){re.escape(str(item))}$", option)]
            hint = f" (did you mean {name}={meant[0]}?)" if meant else ""
            return f"{_line(parsed)}: an option's name is no bare number{hint}. It takes one of {listed}."
    return None


def _unknown(parsed: Override, known: Groups) -> str | None:
    name = parsed.key_or_group
    if name in all_keys():
        if parsed.is_delete():
            return f"{_line(parsed)}: the key {name} cannot be removed; give it a value."
        if parsed.is_add() and not isinstance(parsed.value(), dict | list):
            return f"{_line(parsed)}: the key {name} exists; write it without `+`."
        return None
    if name in ("", "hydra") or name.startswith("hydra.") or known.options(name):
        return None
    parent = name.rpartition(".")[0]
    if parent in all_keys() and dict in _origins(parent):
        if parsed.is_add() or parsed.is_force_add():
            return None
        return f"{_line(parsed)}: {parent} has no entry {name.rpartition('.')[2]} yet; put a `+` in front to add it."
    return f"{_line(parsed)}: {unknown_key(name)}"


def _sweep(parsed: Override, known: Groups) -> str | None:
    if not parsed.is_sweep_override():
        return None
    key, _, value = _line(parsed).partition("=")
    as_text = shlex.quote(written(key, value))
    return (
        f"{_line(parsed)} gives {key} several values. Add --multirun to run each of them, or give them as one text: "
        f"{as_text}"
    )


def _type(parsed: Override, known: Groups) -> str | None:
    key = all_keys().get(parsed.key_or_group)
    if key is None:
        return None
    try:
        node: Any = OmegaConf.structured(Config)
        OmegaConf.update(node, key.name, parsed.value())
    except OmegaConfBaseException:
        if dict in _origins(key.name) and isinstance(parsed.value(), dict):
            return f"{_line(parsed)}: put a `+` in front to add entries to {key.name}."
        return f"{_line(parsed)} is not allowed: {key.name} takes {key.allowed()}. {key.doc}"
    return None


def _origins(name: str) -> set[Any]:
    return {getattr(kind, "__origin__", kind) for kind in all_keys()[name].kinds}


def _file(error: Exception) -> str:
    """Explain an error that no override caused: a configuration file is at fault."""
    parts = [str(item) for item in (error, error.__cause__) if item is not None and str(item)]
    text = " ".join(line.strip() for part in parts for line in part.splitlines() if not line.startswith("    "))
    unlisted = re.search(r"Could not override '([^']+)'\. No match in the defaults list", text)
    if unlisted is not None:
        name = unlisted[1]
        plan = " A plan is added with a `+` in front: --multirun +sweep=paper." if name == "sweep" else ""
        return f"{name}=...: {name} is not chosen from options.{plan} {unknown_key(name)}"
    found = re.search(r"full_key: (\S+)", "\n".join(parts))
    if found is None or found[1] in all_keys():
        return text
    parent, _, entry = found[1].rpartition(".")
    if parent in all_keys():
        return f"{parent} has no entry {entry} yet; put a `+` in front to add it: +{parent}.{entry}=..."
    where = re.match(r"In '([^']+)'", text)
    return f"{f'In the file {where[1]}.yaml: ' if where else ''}{unknown_key(found[1])}"
