"""What an attempt means: whose fault it is that there is no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from reflact.core.names import Phase, RowStatus, Stage
from reflact.core.types import Outcome
from reflact.harness.agent import Assignment
from reflact.harness.agent_attempt import Attempt, End, Starter, _Pulse
from reflact.harness.agent_report import Report
from reflact.harness.agent_verdict import Reader
from reflact.models.protocol import CallError, Failure
from reflact.models.work_budget import WorkBudget
from reflact.relay import Caps, Proof, Visit
from tests.harness.agents.support import job_of

LIMIT_S, IDLE_S = 100.0, 30.0


def visit(*, at_s: float = 50.0, answers: int = 1, error: CallError | None = None) -> Visit:
    """Return the visit of an item that has worked so long and had so many answers."""
    times = iter([0.0])
    made = Visit(
        nonce="n",
        stage=Stage.ROLLOUT,
        phase=Phase.TRAIN,
        budget=WorkBudget(LIMIT_S, lambda: next(times, at_s)),
        caps=Caps(10, 1000),
        proof=Proof(),
    )
    made.answers = answers
    if error is not None:
        made.failed(error)
    return made


def outcome(end: End, at: Visit, *, owed: bool = False, again: bool = False) -> Outcome:
    reader = Reader(Assignment("", "?"), job_of(again=again), LIMIT_S, IDLE_S, trace=True, relayed=True)
    read = reader.read(Attempt(end, Report(), None, "", at, owed)).outcome
    assert read is not None
    return read


def silent() -> CallError:
    return CallError(Failure.NO_ANSWER, "no answer within 30 s")


@pytest.mark.parametrize(
    ("end", "at", "owed"),
    [
        (End.IDLE, lambda: visit(), True),
        (End.STOPPED, lambda: visit(error=silent()), False),
        (End.TIME, lambda: visit(at_s=LIMIT_S, answers=0), True),
        (End.STOPPED, lambda: visit(at_s=LIMIT_S, answers=0, error=silent()), False),
    ],
    ids=["the program waits", "the call gave up", "never answered", "never answered, told by the call"],
)
def test_silence_of_the_service_is_an_error_and_only_the_second_time_the_items(
    end: End, at: Callable[[], Visit], owed: bool
) -> None:
    first = outcome(end, at(), owed=owed)
    assert (first.status, first.cause, first.hard) == (RowStatus.ERROR, "no_answer", None)
    second = outcome(end, at(), owed=owed, again=True)
    assert (second.status, second.cause, second.hard) == (RowStatus.TIMEOUT, "no_answer", 0.0)


@pytest.mark.parametrize(
    ("end", "at", "cause"),
    [
        (End.TIME, lambda: visit(at_s=LIMIT_S), "exec_timeout"),
        (End.STOPPED, lambda: visit(at_s=LIMIT_S, error=silent()), "exec_timeout"),
        (End.IDLE, lambda: visit(), "idle_timeout"),
    ],
    ids=["the limit", "the limit, told by the call", "the program is idle by itself"],
)
def test_time_that_runs_out_after_answers_is_the_items(end: End, at: Callable[[], Visit], cause: str) -> None:
    read = outcome(end, at())
    assert (read.status, read.cause, read.hard) == (RowStatus.TIMEOUT, cause, 0.0)


@pytest.mark.parametrize("waits", [True, False])
def test_an_idle_program_that_waits_for_the_service_is_told_from_one_that_does_not(waits: bool) -> None:
    class Sleeper:
        async def run(self, job: Any) -> None:
            await asyncio.Event().wait()

    async def go() -> tuple[End, bool]:
        loop = asyncio.get_running_loop()
        budget = WorkBudget(LIMIT_S, loop.time)
        made = visit()
        made.open = int(waits)
        everything: Any = None
        starter = Starter(everything, Sleeper(), None, None, everything, 0.01, loop.time)  # type: ignore[arg-type]
        end, _, owed = await starter._watched(everything, _Pulse(loop.time, budget), made, budget)
        return end, owed

    assert asyncio.run(go()) == (End.IDLE, waits)
