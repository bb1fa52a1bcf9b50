"""Taking a run's directory."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Refused, Stopped
from reflact.core.names import RunState
from reflact.rundir.claim import Claim
from reflact.rundir.refusal import refusal, shown
from reflact.rundir.view import view_run
from reflact.trackers.registry import require_trackers

NOTHING_BEGUN = "nothing was begun: no directory was claimed and no call was made"


def require_free(root: Path, *, resume: bool) -> None:
    """Make sure that a directory may be taken, without taking it.

    Raises:
        Refused: It is in use, or holds what is no run of ours.
    """
    try:
        view = view_run(root)
    except OSError as error:  # a file, a loop of links, a name that is too long, a folder of somebody else's
        raise Refused(f"{shown(root)} was refused: {error.strerror}") from error
    if view.names and not (resume and view.ours):
        raise Refused(refusal(view))


def begin(config: Config, *, evaluation: bool) -> Claim | None:
    """Look at everything that can be wrong with a run, then claim `env.out_root`.

    In this order a run that cannot begin leaves no directory behind, and a refused one is left as it was.

    Args:
        config: The configuration; `env.out_root` is set.
        evaluation: Whether one skill is evaluated (`reflact-eval`) rather than trained.

    Returns:
        The claim; None as for `take`.

    Raises:
        ReflactError: The directory is not to be had, holds a run of another configuration, or data or credentials
            are missing.
    """
    from reflact.engine.evaluate import skill_name
    from reflact.engine.preflight import preflight

    root = Path(config.env.out_root)
    require_free(root, resume=config.run.resume)
    require_trackers(config.tracking)
    preflight(config, root, skill=skill_name(config) if evaluation else None)
    return take(config)


def take(config: Config, *, adopt: bool = False, ignore: Collection[str] = ()) -> Claim | None:
    """Claim `env.out_root`; the arguments are those of `Claim.take`.

    Returns:
        The claim. None where the run is complete and nothing can be written there (a disk that is full or read-only,
        somebody else's folder): it is only to be read then, which needs no claim.

    Raises:
        ReflactError: The directory is not to be had; nothing in it was changed.
    """
    run, root = config.run, Path(config.env.out_root)
    try:
        return Claim.take(
            root,
            resume=run.resume,
            timeout_s=run.claim_timeout_s,
            heartbeat_s=run.heartbeat_s,
            adopt=adopt,
            ignore=ignore,
        )
    except (ConfigError, Stopped):
        if run.resume and view_run(root).state is RunState.DONE:
            return None
        raise
