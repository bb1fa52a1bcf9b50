"""The Python interface: compose a configuration, train, evaluate. Several at once in one process is fine."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeVar

from reflact.config.check import check
from reflact.config.compose import compose
from reflact.config.run_id import benchmark_default, default_out_root
from reflact.config.schema import Config
from reflact.core.events import Emit
from reflact.engine.evaluate import evaluate as _evaluate
from reflact.engine.run import train as _train
from reflact.engine.summary import Summary
from reflact.sweep.start import begin
from reflact.trackers.listening import tracking

__all__ = ["compose", "evaluate", "train"]

T = TypeVar("T")


def train(config: Config, *, listeners: Sequence[Emit] = ()) -> Summary:
    """Train a skill and return the run's summary.

    May be called from any thread, and from where an event loop is running (a notebook); it returns when the run is
    complete. The run directory is `env.out_root`; if that is empty, `outputs/<run id>/<UTC time>-<6 hex>`.

    Args:
        config: From `compose`; it is not changed.
        listeners: Called with every event as it happens; see `reflact.core.events`.

    Raises:
        ReflactError: The run was refused, cannot begin, or stopped; `exit_code` is what the command would exit with.
    """
    own = _settled(config)

    def work() -> Summary:
        with begin(own, evaluation=False) or nullcontext() as claim, tracking(own) as tracked:
            return _train(own, claim=claim, listeners=(*listeners, *tracked))

    return _outside_loops(work)


def evaluate(config: Config, *, listeners: Sequence[Emit] = ()) -> Summary:
    """Evaluate the skill `config.skill` on the part `config.split` of the split; otherwise like `train`.

    Raises:
        ReflactError: As for `train`.
    """
    own = _settled(config)

    def work() -> Summary:
        with begin(own, evaluation=True) or nullcontext() as claim, tracking(own) as tracked:
            return _evaluate(own, claim=claim, listeners=(*listeners, *tracked))

    return _outside_loops(work)


def _settled(config: Config) -> Config:
    own = copy.deepcopy(config)
    check(own)
    if not own.env.out_root:
        own.env.out_root = default_out_root(own, benchmark_default(own))
    return own


def _outside_loops(work: Callable[[], T]) -> T:
    """Call `work` where it can run an event loop of its own: here, or in a thread if one is running here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller
            errors.append(error)

    thread = threading.Thread(target=run, name="reflact-run")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
