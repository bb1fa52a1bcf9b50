"""What Hydra calls for one job: adopt the claim, do the work, end in one of the ways a run can end."""

from __future__ import annotations

import logging
import pickle
import shlex
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, cast

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig

from reflact import __version__
from reflact.cli.errors import say
from reflact.config.check import check
from reflact.config.compose import typed
from reflact.config.schema import Config
from reflact.core.errors import ExitCode, ReflactError, Refused, Stopped
from reflact.core.interrupts import ending, interrupted, interruption
from reflact.core.names import StopCause
from reflact.rundir.claim import Claim
from reflact.rundir.told import told
from reflact.sweep.callback import EVALUATION
from reflact.sweep.composition import write_record
from reflact.sweep.context import resume_command
from reflact.sweep.foreign import require_score
from reflact.sweep.start import begin, take

Work = Callable[[Config, Claim | None], float]

log = logging.getLogger(__name__)


def perform(program: str, node: DictConfig, work: Work) -> float:
    """Run one job and return its score.

    In a sweep whatever goes wrong is said at once and raised, so that Hydra records the job as failed and goes on. A
    single run ends the program: with a message and its code if the error is one of ours, with a traceback and 1 if it
    is a bug.

    Args:
        program: `reflact-train` or `reflact-eval`.
        node: The composed configuration.
        work: Does the work, owning the run directory.
    """
    # Hydra declares this as the schema of its node; it is the whole configuration.
    whole = cast(DictConfig, HydraConfig.instance().cfg)
    config = typed(node)
    many = whole.hydra.mode is RunMode.MULTIRUN
    if many:
        config.env.out_root = str(whole.hydra.runtime.output_dir)
        # Several displays would write over each other.
        config.display.mode = "off" if config.display.mode == "auto" else config.display.mode
    try:
        score = _claimed(program, config, whole, work, many)
        if many:
            require_score(whole, score)
        return score
    except (Exception, KeyboardInterrupt) as raised:  # noqa: BLE001 - every way in which a job can end is told here
        error = _known(raised)
        if error is None:
            _bug(program, config, raised, many)
        if not isinstance(error, Refused):  # the log is in a directory that somebody else owns now
            log.error("%s", error)
        if many:
            say(program, f"{config.env.out_root}: {error}")
            raise error from None
        ending(error.exit_code)
        say(program, _message(program, whole, config, error))
        raise SystemExit(int(error.exit_code)) from None


def _known(raised: BaseException) -> ReflactError | None:
    """Return what was raised as an error with an exit code; None if it is a bug."""
    if isinstance(raised, Stopped):
        return raised
    if isinstance(raised, KeyboardInterrupt) or interruption():  # what comes up after a signal is a part of its end
        return interrupted(interruption())
    return told(raised, "the run directory", resume=True)


def _bug(program: str, config: Config, error: BaseException, many: bool) -> NoReturn:
    log.error("unexpected error", exc_info=error)
    if many:
        say(program, f"{config.env.out_root}: failed: {type(error).__name__}: {error}")
        raise _portable(error)
    traceback.print_exception(error)
    raise SystemExit(int(ExitCode.BUG)) from None


def _portable(error: BaseException) -> BaseException:
    """Return an error that a launcher can hand to another process; some, as of HTTP clients, would break it."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever its author forgot
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _claimed(program: str, config: Config, whole: DictConfig, work: Work, many: bool) -> float:
    name = str(whole.hydra.job.name)
    if many:
        claim = begin(config, evaluation=name == EVALUATION)
    else:
        # The callback has claimed it. Where someone has switched the callback off, what Hydra wrote is in the way.
        claim = take(config, adopt=True, ignore=(".hydra", f"{name}.log"))
    if claim is None:  # complete, and nothing can be written there: it is only shown
        return work(config, None)
    with claim:
        folder = claim.root / ".hydra"
        if many and not folder.exists():
            write_record(whole, folder)
        log.info("%s %s in %s", program, __version__, claim.root)
        log.info("overrides: %s", shlex.join(map(str, whole.hydra.overrides.task)))
        for warning in check(config):
            log.warning("%s", warning)
        score = work(config, claim)
        log.info("done, score %s", score)
        return score


def _message(program: str, whole: DictConfig, config: Config, error: ReflactError) -> str:
    if not isinstance(error, Stopped):
        return str(error)
    # The same budget is spent as soon as the run goes on, and how much more it may cost is for a person to say.
    how = "To go on, with a higher budget in it" if error.cause is StopCause.BUDGET else "To go on"
    return f"{error}\n{how}: {resume_command(program, whole, Path(config.env.out_root))}"
