"""Runs that exist: what they compute and in which state they are, read from their directories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from reflact.config.schema import Config
from reflact.core.errors import ConfigError, ReflactError
from reflact.core.names import Part, RunState
from reflact.engine.run_record import read_record
from reflact.rundir.layout import RunLayout
from reflact.rundir.view import RunView, find_runs, view_run
from reflact.sweep.normal import normal_form
from reflact.sweep.sizes import DataFacts


@dataclass(frozen=True, slots=True)
class KnownRun:
    """A run in another root that is complete and valid, or being written now.

    Attributes:
        run_id: Its id.
        path: Its directory.
        root: The root that it was found under.
        active: It is being written.
        code_version: The code that began it.
        form: What it computes.
        split: Name, sizes and fingerprint of its items.
        summary: Its summary, if it is complete.
    """

    run_id: str
    path: Path
    root: Path
    active: bool
    code_version: str
    form: Mapping[str, Any]
    split: Mapping[str, Any]
    summary: Mapping[str, Any] | None

    @property
    def where(self) -> str:
        """Say where it is and whether it is done."""
        return f"{'active' if self.active else 'done'} in {self.root}"

    def same_data(self, facts: DataFacts) -> bool:
        """Whether its items are those: by content, or by name and number where the content is not there."""
        if facts.fingerprint is not None:
            return bool(self.split["fingerprint"] == facts.fingerprint)
        return self.split["name"] == facts.split and dict(facts.sizes) == _sizes(self.split)


def known_runs(root: Path) -> Iterator[KnownRun]:
    """Yield the runs below a root that need not be done again.

    Raises:
        ConfigError: The root does not exist.
    """
    if not root.is_dir():
        raise ConfigError(f"sweep.known_roots: {root} is not a folder")
    for path in find_runs(root):
        view = view_run(path)
        done = view.state is RunState.DONE and bool((view.summary or {}).get("validity", {}).get("valid"))
        if done or (view.state is RunState.RUNNING and view.claim.alive is not False):
            run = _read(root, path, view)
            if run is not None:
                yield run


def _read(root: Path, path: Path, view: RunView) -> KnownRun | None:
    """Return a run, None if its record is not written yet or is of a version with other keys."""
    try:
        record = read_record(RunLayout(path))
        if record is None:
            return None
        config = config_of(record)
        sizes, command = _sizes(record["split"]), command_of(path, config)
        form = normal_form(config, sizes, record["skill_init"]["sha256"], command)
    except (ReflactError, OmegaConfBaseException, KeyError, ValueError):
        return None
    return KnownRun(
        run_id=str(record["run_id"]),
        path=path,
        root=root,
        active=view.state is RunState.RUNNING,
        code_version=str(record["code_version"]),
        form=form,
        split=record["split"],
        summary=view.summary,
    )


def config_of(record: Mapping[str, Any]) -> Config:
    """Return the configuration that `config.json` holds."""
    merged = OmegaConf.merge(OmegaConf.structured(Config), record["config"])
    config = OmegaConf.to_object(merged)
    assert isinstance(config, Config)
    return config


def command_of(path: Path, config: Config) -> str:
    """Return which command wrote a run."""
    return "evaluate" if config.skill or RunLayout(path).evaluation("evaluation").path.exists() else "train"


def _sizes(split: Mapping[str, Any]) -> dict[Part, int]:
    return {part: int(split["counts"][part.value]) for part in Part}
