"""What a sweep asks of its Hydra launcher, and says of it."""

from __future__ import annotations

from collections.abc import Sequence

from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from reflact.config.compose import Composer
from reflact.core.errors import ConfigError
from reflact.sweep.context import config_dir, key_of

_LAUNCHER = "hydra/launcher"


def require_launcher(node: DictConfig, jobs: Sequence[Sequence[str]], composer: Composer) -> None:
    """Make sure that the launcher is the one that was asked for, and does not end runs that go well.

    Args:
        node: The sweep's configuration, with the node `hydra`.
        jobs: The overrides of each job.
        composer: Composes them.

    Raises:
        ConfigError: A limit is set that would end the whole sweep, or an option in a folder of the user's own chooses
            the launcher: Hydra would use another one without a word.
    """
    timeout = OmegaConf.select(node, "hydra.launcher.timeout")
    if timeout is not None:
        raise ConfigError(
            f"hydra.launcher.timeout={timeout} would end the whole sweep after that many seconds of one run; "
            "sweep.max_run_s=SECONDS stops a run that takes too long, so that it can be resumed, and no other."
        )
    if config_dir(node) is None and not OmegaConf.select(node, "hydra.searchpath"):
        return  # none of our own options has to do with launching
    _require_wishes(node, jobs, composer)
    for line, job in _swept(jobs).items():
        others = [other for other in job if other != line]
        with_it, without = (composer.raw(lines, mode=RunMode.MULTIRUN).hydra.launcher for lines in (job, others))
        if with_it != without:
            raise ConfigError(
                f"{line} sets hydra.launcher, but is itself swept: all runs of a sweep are launched in one way, which "
                f"is settled before them. Set it on the command line, or give {key_of(line)} one value at a time."
            )


def _require_wishes(node: DictConfig, jobs: Sequence[Sequence[str]], composer: Composer) -> None:
    """Refuse a choice of a launcher that our primary configuration, which chooses one itself, leaves without effect."""
    if any(key_of(str(line)) == _LAUNCHER for line in node.hydra.overrides.hydra):
        return  # the command line has the last word
    used = str(node.hydra.runtime.choices[_LAUNCHER])
    for line in dict.fromkeys(line for job in jobs for line in job):
        wish = composer.wish(key_of(line), line.partition("=")[2], _LAUNCHER)
        if wish not in (None, used):
            raise ConfigError(
                f"{line} chooses {_LAUNCHER}={wish}, which has no effect inside a file: all runs of a sweep are "
                f"launched in one way, which the command line says. Add {_LAUNCHER}={wish} or {_LAUNCHER}={used}."
            )


def in_flight(node: DictConfig) -> str:
    """Say how many runs there are at once, and how long each may take where the launcher limits that."""
    launcher = node.hydra.launcher
    for key in ("n_jobs", "array_parallelism"):
        if OmegaConf.select(launcher, key) is not None:
            said = f"; {launcher[key]} at once (hydra.launcher.{key})"
            break
    else:
        said = ""
    minutes = OmegaConf.select(launcher, "timeout_min")
    if minutes is None:
        return said
    return f"{said or '; all at once'}, each stopped after {minutes} minutes (hydra.launcher.timeout_min)"


def _swept(jobs: Sequence[Sequence[str]]) -> dict[str, Sequence[str]]:
    """Return each override that not all jobs share, with the first job that has it."""
    found: dict[str, Sequence[str]] = {}
    for job in jobs:
        for line in job:
            if line not in found and not all(line in other for other in jobs):
                found[line] = job
    return found
