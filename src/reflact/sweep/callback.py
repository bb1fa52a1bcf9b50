"""The callback that `conf/config.yaml` wires into every run and sweep."""

from __future__ import annotations

import functools
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn, ParamSpec

from hydra.core.utils import JobReturn
from hydra.experimental.callback import Callback
from omegaconf import DictConfig, open_dict, read_write

from reflact.config.compose import typed
from reflact.config.overrides import override
from reflact.config.run_id import benchmark_default, default_out_root, stamp
from reflact.core.errors import ConfigError, ExitCode, ReflactError, Stopped
from reflact.core.interrupts import Interrupt, interruption
from reflact.core.names import StopCause
from reflact.rundir.claim import Claim
from reflact.rundir.layout import RunLayout
from reflact.rundir.told import told
from reflact.sweep.composition import write_record
from reflact.sweep.context import composer, key_of
from reflact.sweep.foreign import ForeignSweep, is_foreign, note_end, note_start
from reflact.sweep.start import NOTHING_BEGUN, begin

EVALUATION = "evaluate"
"""Name of the job of `reflact-eval`: Hydra takes it from the module of the task."""

P = ParamSpec("P")


def _strict(hook: Callable[P, None]) -> Callable[P, None]:
    """Make a hook that fails end the program.

    Hydra turns an exception in a callback into a warning and goes on, which would start a run that was refused.
    `SystemExit` is no `Exception`, and does stop it.
    """

    @functools.wraps(hook)
    def strict(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            hook(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - a bug in a hook must not become a warning
            known = told(error, "the run directory", resume=True)
            if known is not None:
                _end(known)
            if interruption():
                raise Interrupt from None  # what comes up after a signal is a part of its end
            traceback.print_exc()
            raise SystemExit(int(ExitCode.BUG)) from None

    return strict


def _end(error: ReflactError) -> NoReturn:
    sys.stderr.write(f"reflact: {error}\n")
    raise SystemExit(int(error.exit_code)) from None


def _interrupted(root: str) -> str:
    if root and RunLayout(Path(root)).claims.is_dir():
        return f"interrupted before a call was made; {root} can be resumed with run.resume=true"
    return f"interrupted; {NOTHING_BEGUN}"


class RunLedger(Callback):
    """Gives a run its directory before Hydra writes anything, or refuses it; keeps the books of foreign sweeps.

    Our own sweeper keeps ledger and tables itself, in every way in which a sweep can end: Hydra calls no hook after a
    failure. What another sweeper starts gets them from here (`reflact.sweep.foreign`).
    """

    def __init__(self) -> None:
        # Kept so that the heartbeat goes on until the job takes the claim over.
        self._claim: Claim | None = None
        self._foreign: ForeignSweep | None = None
        self._record: str | None = None
        """Where the record of the composition goes, which Hydra would write without a word for a full disk."""

    @_strict
    def on_run_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Settle where a single run goes and claim the directory, before the first byte is written to it."""
        try:
            self._begin(config)
        except KeyboardInterrupt:
            raise Stopped(StopCause.INTERRUPTED, _interrupted(str(config.env.out_root))) from None

    def _begin(self, config: DictConfig) -> None:
        settled = typed(config)
        if not settled.env.out_root:
            default = benchmark_default(settled, composer(config))
            with read_write(config):
                config.env.out_root = default_out_root(settled, default)
            settled = typed(config)
        self._claim = begin(settled, evaluation=config.hydra.job.name == EVALUATION)
        root, name = Path(settled.env.out_root), config.hydra.output_subdir
        with read_write(config.hydra):
            config.hydra.output_subdir = None
        if name is None or self._claim is None or RunLayout(root).summary.exists():
            return  # nothing is resumed where the run is complete
        # A resumed run keeps the record of how it was begun.
        self._record = f"{name}/resumed/{stamp()}" if (root / name / "config.yaml").exists() else str(name)

    @_strict
    def on_job_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Write the record of the composition of a single run, in the directory that is ours by now.

        A job of a foreign sweep is told to its ledger.
        """
        if is_foreign(config):
            note_start(config)
        if self._record is not None:
            with read_write(config.hydra):
                config.hydra.output_subdir = self._record
            write_record(config, Path(config.hydra.runtime.output_dir) / self._record)

    @_strict
    def on_multirun_start(self, config: DictConfig, **kwargs: Any) -> None:
        """Settle where a sweep goes."""
        if any(key_of(str(line)) == "env.out_root" for line in config.hydra.overrides.task):
            raise ConfigError(
                "env.out_root cannot be set in a sweep: each run gets a folder of its own under hydra.sweep.dir."
            )
        if not config.hydra.sweep.dir and not config.sweep.dry_run:
            # Every job composes its own configuration from Hydra's overrides, so the choice must be one of them.
            chosen = str(Path("outputs") / "sweeps" / stamp())
            with read_write(config.hydra), open_dict(config.hydra):
                config.hydra.sweep.dir = chosen
                config.hydra.overrides.hydra.append(override("hydra.sweep.dir", chosen))
        if is_foreign(config):
            self._foreign = ForeignSweep(config)

    @_strict
    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Record how a job of a foreign sweep ended."""
        if is_foreign(config):
            note_end(config, job_return)

    @_strict
    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Settle the books of a foreign sweep in which no job failed."""
        if self._foreign is not None:
            self._foreign.close()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what belongs to one process: launchers send callbacks to others."""
        return {"_claim": None, "_record": None, "_foreign": None}
