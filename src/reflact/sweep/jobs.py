"""The jobs of a grid: composed, checked, named and given directories before the first one starts."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper
from hydra.core.config_loader import ConfigLoader
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from omegaconf import DictConfig, OmegaConf

from reflact.config.compose import Composer
from reflact.config.overrides import override
from reflact.config.run_id import axis_id, safe
from reflact.core.errors import ConfigError, ExitCode, ReflactError, Stopped
from reflact.sweep.context import composer, key_of
from reflact.sweep.start import require_free


def prepare(node: DictConfig, arguments: Sequence[str], loader: ConfigLoader) -> list[list[str]]:
    """Return the overrides of each job of a grid, with those that name its directory.

    Hydra writes `.hydra/` into a job's directory before it can be claimed, so that is turned off here and done by
    the job itself.

    Args:
        node: The sweep's own configuration.
        arguments: The overrides with their lists of values.
        loader: Hydra's, for `glob`.

    Raises:
        SystemExit: A job's configuration is wrong (2), or its directory is in use (73). Nothing was written.
    """
    try:
        jobs = _grid(arguments, loader)
        names = _names(composer(node), jobs)
        for name in names:
            require_free(Path(str(node.hydra.sweep.dir)) / name, resume=bool(node.run.resume))
    except ReflactError as error:
        sys.stderr.write(f"reflact: {error}\n")
        raise SystemExit(int(error.exit_code)) from None
    return [
        [*job, override("hydra.sweep.subdir", name), "hydra.output_subdir=null"]
        for job, name in zip(jobs, names, strict=True)
    ]


def record(node: DictConfig) -> None:
    """Write the sweep's own configuration to its root, as Hydra's sweepers do."""
    root = Path(str(node.hydra.sweep.dir))
    root.mkdir(parents=True, exist_ok=True)
    (root / "multirun.yaml").write_text(OmegaConf.to_yaml(node), encoding="utf-8")


def finish(results: Sequence[JobReturn]) -> None:
    """List the jobs that did not end well.

    Raises:
        SystemExit: With 1 if a job failed, else with 75 if one stopped in a state from which it can be resumed.
    """
    bad = [result for result in results if result.status is not JobStatus.COMPLETED]
    if not bad:
        return
    sys.stderr.write(f"reflact: {len(bad)} of {len(results)} jobs did not end well:\n")
    for result in bad:
        error = result._return_value  # the property would raise it
        kind = "stopped" if isinstance(error, Stopped) else "failed"
        sys.stderr.write(f"  {shlex.join(result.overrides or [])}: {kind}: {error}\n")
    stopped = all(isinstance(result._return_value, Stopped) for result in bad)
    raise SystemExit(int(ExitCode.STOPPED if stopped else ExitCode.BUG))


def _grid(arguments: Sequence[str], loader: ConfigLoader) -> list[list[str]]:
    parsed = OverridesParser.create(config_loader=loader).parse_overrides(list(arguments))
    (jobs,) = BasicSweeper.split_arguments(parsed, None)
    return jobs


def _names(composed: Composer, jobs: Sequence[Sequence[str]]) -> list[str]:
    """Name the jobs by their ids; those without one of their own by their overrides.

    What all jobs share beside the axes (`harness=rehearsal`) belongs to the study, not to a job's id.
    """
    shared = [line for line in jobs[0] if _belongs_to_study(line) and all(line in job for job in jobs)]
    ids: list[str | None] = []
    spelled: list[str] = []
    for job in jobs:
        config = composed.compose(job)
        bases: tuple[list[str], list[str]] = ([], shared)
        defaults = (composed.compose([f"benchmark={config.benchmark.name}", *base]) for base in bases)
        ids.append(next((found for default in defaults if (found := axis_id(config, default))), None))
        own = [line for line in job if line not in shared and key_of(line) != "benchmark"]
        spelled.append(safe("-".join([config.benchmark.name, *own])))
    times = Counter(ids)
    names = [found if found and times[found] == 1 else other for found, other in zip(ids, spelled, strict=True)]
    for name, count in Counter(names).items():
        if count > 1:
            raise ConfigError(f"{count} jobs of this sweep would be the same run, {name}; leave all but one out.")
    return names


def _belongs_to_study(line: str) -> bool:
    return key_of(line) != "benchmark" and not key_of(line).startswith("ablation/")
