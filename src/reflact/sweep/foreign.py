"""Ledger and tables where another sweeper than ours leads: Hydra's basic one, Optuna's.

Such a sweeper knows nothing of plans. It calls the command's own function in its launcher's processes, names
directories by the job's number, and of its end we hear only if no job failed; so what has to be done at the end is done
when the process ends, whatever ended it.
"""

from __future__ import annotations

import atexit
import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict, read_write

from reflact.config.compose import typed
from reflact.config.overrides import override
from reflact.config.run_id import benchmark_default, run_id
from reflact.core.errors import ConfigError, ExitCode, ReflactError, Refused, Stopped
from reflact.core.names import RunState, StopCause
from reflact.rundir.view import find_runs, view_run
from reflact.sweep.context import composer, key_of
from reflact.sweep.ledger import Ledger, compile_ledger

if TYPE_CHECKING:
    from reflact.sweep.tables import TableBook

OURS = "hydra_plugins.reflact_sweeper.sweeper.ReflactSweeper"
_NOT_OPTIMISING = (OURS, "hydra._internal.core_plugins.basic_sweeper.BasicSweeper")
_UNDER_WAY = (RunState.PLANNED, RunState.WAITING, RunState.RUNNING)
_KEPT = frozenset({"sweep.max_tokens", "sweep.max_usd", "sweep.root"})
"""Keys under `sweep.` that hold for runs of any sweep; the others are for our sweeper."""


def is_foreign(config: DictConfig) -> bool:
    """Whether a sweep, or a job's sweep, is led by another sweeper than ours."""
    return config.hydra.mode is RunMode.MULTIRUN and str(config.hydra.sweeper.get("_target_")) != OURS


class ForeignSweep:
    """The process that leads such a sweep; `hydra.sweep.dir` is set.

    Args:
        config: The sweep's configuration.

    Raises:
        ConfigError: It asks for what only our sweeper does.
        Refused: The root holds runs already.
    """

    def __init__(self, config: DictConfig) -> None:
        _require_understood(config)
        self._root = Path.cwd() / str(config.hydra.sweep.dir)
        if find_runs(self._root) and not config.run.resume:
            raise Refused(
                f"{self._root} holds runs already, and {config.hydra.sweeper.get('_target_')} would give their "
                "directories to other runs; nothing was started. Ways on: another root (hydra.sweep.dir=...), or "
                "run.resume=true, with which a job goes on with the run of its number."
            )
        with read_write(config.hydra), open_dict(config.hydra):
            # Every job composes its own configuration from these; the first keeps Hydra from writing into a directory
            # that nobody has claimed.
            config.hydra.overrides.hydra.append("hydra.output_subdir=null")
            config.hydra.overrides.hydra.append(override("sweep.root", str(self._root)))
        self._ignore = list(config.validity.ignore)
        atexit.register(self.close)

    def close(self) -> None:
        """Settle the books: the states of runs that ended without a word, the ledger, the tables.

        Raises:
            ReflactError, OSError: The tables could not be made.
        """
        from reflact.sweep.tables import TableBook

        atexit.unregister(self.close)
        if not self._root.is_dir():
            return  # nothing was begun
        _settle(self._root)
        compile_ledger(self._root)
        TableBook(self._root, ignore=self._ignore).compile()


def require_score(config: DictConfig, score: float) -> None:
    """Make sure that a sweeper that optimises gets a number: NaN ends Optuna's, a failure is a trial to it.

    Args:
        config: The configuration of a job of a sweep.
        score: What the run would return.

    Raises:
        ReflactError: There is none.
    """
    if math.isnan(score) and str(config.hydra.sweeper.get("_target_")) not in _NOT_OPTIMISING:
        raise ReflactError("the run has ended without a score, so that there is nothing to optimise")


def note_start(config: DictConfig) -> None:
    """Record that a job begins."""
    _write(config, RunState.RUNNING)


def note_end(config: DictConfig, job_return: Any) -> None:
    """Record how a job ended, and compile the tables if that is due.

    Raises:
        SystemExit: It was interrupted; Hydra would begin the next one.
    """
    state, cause, message = _ending(job_return)
    _write(config, state, cause, message)
    _book(config).compile_if_due()
    if (state, cause) == (RunState.STOPPED, StopCause.INTERRUPTED):
        raise SystemExit(int(ExitCode.STOPPED))


def _require_understood(config: DictConfig) -> None:
    for line in map(str, config.hydra.overrides.task):
        key = key_of(line)
        if key.split(".")[0] == "sweep" and key not in _KEPT:
            raise ConfigError(
                f"{line} means nothing to {config.hydra.sweeper.get('_target_')}: leave it out, or take "
                "hydra/sweeper=reflact"
            )
        if key.startswith("ablation/") and "null" in line.partition("=")[2].split(","):
            raise ConfigError(
                f"{line}: only hydra/sweeper=reflact takes null, the benchmark's own value, beside options of an axis"
            )
    if OmegaConf.select(config, "hydra.sweeper.direction") == "minimize":
        sys.stderr.write(
            "reflact: warning: hydra.sweeper.direction=minimize looks for the run with the lowest score; a run returns "
            "its best skill's score, so hydra.sweeper.direction=maximize is what you want\n"
        )


def _ending(job_return: Any) -> tuple[RunState, str, str]:
    try:
        _ = job_return.return_value
    except Stopped as error:
        return RunState.STOPPED, error.cause.value, str(error)
    except Refused as error:
        return RunState.REFUSED, "refused", str(error)
    except ReflactError as error:
        return RunState.FAILED, error.exit_code.name.lower(), str(error)
    except Exception as error:  # noqa: BLE001 - a job may raise anything
        return RunState.FAILED, "bug", f"{type(error).__name__}: {error}"
    return RunState.DONE, "", ""


def _settle(root: Path) -> None:
    """Record the end of runs that were killed or left by an exit, of which no hook is told."""
    from reflact.report.ledger_lines import last_lines

    ledger = Ledger(root, time.time)
    for place, told in last_lines([root]).items():
        view = view_run(place)
        if told.state not in _UNDER_WAY or view.state is RunState.RUNNING:
            continue
        killed = view.state in (RunState.STALE, RunState.PLANNED, None)
        state = RunState.FAILED if killed or view.state is None else view.state
        cause = "killed" if killed else view.stop_cause or ""
        ledger.write(told.run_id, state, benchmark=told.benchmark, out_dir=str(place), cause=cause)


def _root(config: DictConfig) -> Path:
    return Path.cwd() / str(config.hydra.sweep.dir)


def _book(config: DictConfig) -> TableBook:
    from reflact.sweep.tables import TableBook

    return TableBook(_root(config), ignore=list(config.validity.ignore))


def _write(config: DictConfig, state: RunState, cause: str = "", message: str = "") -> None:
    place = str(config.hydra.runtime.output_dir)
    settled = typed(config)
    settled.env.out_root = place
    name = run_id(settled, benchmark_default(settled, composer(config)))
    ledger = Ledger(_root(config), time.time)
    ledger.write(name, state, benchmark=settled.benchmark.name, out_dir=place, cause=cause, message=message)
