"""An open run directory: claim, events, meter, and what earlier processes left."""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.config.schema import Config
from reflact.core.errors import ReflactError, Refused, Stopped
from reflact.core.events import Emit, Event, RunStopped
from reflact.core.names import Role, RunState
from reflact.models.endpoints import resolve_endpoint
from reflact.models.meter import Meter
from reflact.rundir.claim import Claim
from reflact.rundir.events import EventLog, read_events
from reflact.rundir.full import disk_stop
from reflact.rundir.jsonl import Syncer
from reflact.rundir.layout import RunLayout
from reflact.rundir.redact import SHORTEST_IN_ANSWERS, RedactingFilter, Redactor

_KEY_VARIABLES = ("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY", "AZURE_CLIENT_SECRET", "IDENTITY_HEADER")


@dataclass(slots=True)
class Desk:
    """What a process holds while it works on a run.

    Attributes:
        layout: Paths.
        claim: This process's ownership.
        syncer: Keeps appended files on disk.
        meter: Usage, with that of earlier processes.
        emit: Writes an event and tells the listeners.
        earlier: Events of earlier processes.
        answers: Removes the run's secrets from what models wrote, before anything else is done with it.
    """

    layout: RunLayout
    claim: Claim
    syncer: Syncer
    meter: Meter
    emit: Emit
    earlier: Sequence[Mapping[str, Any]]
    answers: Redactor


def secrets_of(config: Config) -> list[str]:
    """Return the keys and passwords that this run may see, so that they can be removed everywhere."""
    found = [value for name in _KEY_VARIABLES if (value := os.environ.get(name))]
    for role in Role:
        if getattr(config.model, f"{role}_backend") == "openai_chat":
            found += resolve_endpoint(config, role, os.environ).secrets
    return found


@contextmanager
def claimed(config: Config, root: Path, claim: Claim | None) -> Iterator[Claim]:
    """Own a run directory while the block runs.

    Raises:
        Refused: It is not ours to take.
    """
    run = config.run
    owned = claim or Claim.take(root, resume=run.resume, timeout_s=run.claim_timeout_s, heartbeat_s=run.heartbeat_s)
    try:
        yield owned
    finally:
        owned.release()


@contextmanager
def opened(config: Config, claim: Claim, listeners: Sequence[Emit]) -> Iterator[Desk]:
    """Open a claimed directory; an exception that leaves the block is recorded as the run's end."""
    layout = RunLayout(claim.root)
    secrets = secrets_of(config)
    redactor = Redactor(secrets)
    earlier = read_events(layout.events)[0] if layout.events.exists() else []
    meter = Meter.of(config)
    meter.restore(earlier)
    with ExitStack() as stack:
        syncer = stack.enter_context(closing(Syncer()))
        log = stack.enter_context(closing(EventLog(layout.events, syncer, redactor, time.time)))
        stack.enter_context(_hidden(redactor))
        emit = _emitter(claim, log, listeners)
        try:
            yield Desk(layout, claim, syncer, meter, emit, earlier, Redactor(secrets, shortest=SHORTEST_IN_ANSWERS))
        except Refused:
            raise
        except OSError as error:
            stop = disk_stop(error)
            if stop is None:
                emit(_ending(error))
                raise
            with suppress(OSError):  # the disk that failed is also where this would be written
                emit(_ending(stop))
            raise stop from error
        except BaseException as error:
            emit(_ending(error))
            raise


def _emitter(claim: Claim, log: EventLog, listeners: Sequence[Emit]) -> Emit:
    def emit(event: Event) -> None:
        claim.check()  # nothing is written to a run that another process has taken over
        log(event)
        for listener in listeners:
            listener(event)

    return emit


@contextmanager
def _hidden(redactor: Redactor) -> Iterator[None]:
    """Keep secrets out of log files while the block runs."""
    hide = RedactingFilter(redactor)
    handlers = list(logging.getLogger().handlers)
    for handler in handlers:
        handler.addFilter(hide)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(hide)


def _ending(error: BaseException) -> RunStopped:
    if isinstance(error, Stopped):
        return RunStopped(RunState.STOPPED.value, error.cause.value, str(error))
    if isinstance(error, ReflactError):
        return RunStopped(RunState.FAILED.value, type(error).__name__.lower(), str(error))
    return RunStopped(RunState.FAILED.value, "bug", f"{type(error).__name__}: {error}")


def host() -> str:
    """Return this machine's name."""
    return socket.gethostname()
