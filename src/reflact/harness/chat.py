"""The chat harness: a student that answers messages."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable

from reflact.config.schema import Config
from reflact.core.errors import ReflactError
from reflact.core.names import RowStatus
from reflact.core.types import Item, Outcome
from reflact.harness.protocol import Chat, Job, Performance
from reflact.harness.session import Session
from reflact.models.caller import Caller
from reflact.models.protocol import CallError, Failure
from reflact.models.work_budget import WorkBudget

_LOG = logging.getLogger(__name__)
_ROUNDING_S = 0.01


class ChatHarness:
    """Lets a benchmark converse with the student and says how it ended.

    Args:
        benchmark: The task.
        caller: Asks the student's model.
        config: `env.exec_timeout`, `env.call_timeout` and `env.max_completion_tokens` bound an item.
        clock: Monotonic seconds.
    """

    def __init__(self, benchmark: Chat, caller: Caller, config: Config, clock: Callable[[], float]) -> None:
        self._benchmark = benchmark
        self._caller = caller
        self._clock = clock
        self._seconds = config.env.exec_timeout
        self._call_s = config.env.call_timeout
        self._cap = config.env.max_completion_tokens
        self._name = config.model.student_backend

    @property
    def name(self) -> str:
        """The backend's name."""
        return self._name

    async def perform(self, item: Item, job: Job) -> Performance:
        """Do one item; see `Harness.perform`."""
        budget = WorkBudget(self._seconds, self._clock)
        session = Session(self._caller, self._benchmark, item, job, budget, self._cap, self._call_s)
        outcome = await self._outcome(item, job, session, budget)
        return Performance(
            outcome=outcome,
            usage=session.usage,
            latency_s=round(budget.worked_s, 4),
            wait_s=round(budget.waited_s, 4),
        )

    async def aclose(self) -> None:
        """Release the student's model."""
        await self._caller.aclose()

    async def _outcome(self, item: Item, job: Job, session: Session, budget: WorkBudget) -> Outcome:
        scope = None
        try:
            async with budget.enforced() as scope:
                return await self._converse(item, session)
        except ReflactError:
            raise
        except CallError as error:
            return _unanswered(error, job, session, budget)
        except Exception as error:  # noqa: BLE001 - whatever a benchmark's code raises concerns its item alone
            if isinstance(error, TimeoutError) and scope is not None and scope.expired():
                return _out_of_time(job, session, budget)
            return _bug(item, session, error)

    async def _converse(self, item: Item, session: Session) -> Outcome:
        outcome = await self._benchmark.converse(item, session)
        if outcome.status is RowStatus.EMPTY and session.answers == 1:
            # An empty reply has one more chance, unless the benchmark has asked again itself.
            outcome = await self._benchmark.converse(item, session)
        return outcome


def _unanswered(error: CallError, job: Job, session: Session, budget: WorkBudget) -> Outcome:
    if error.item_specific:
        return Outcome(
            status=RowStatus.REFUSED,
            cause=error.cause,
            hard=0.0,
            soft=0.0,
            fail_reason="The request was refused and there is no answer.",
            n_turns=session.answers,
            conversation=session.conversation(),
        )
    if error.failure is Failure.NO_ANSWER:
        return _out_of_time(job, session, budget)
    return _error(error.cause, session, str(error))


def _out_of_time(job: Job, session: Session, budget: WorkBudget) -> Outcome:
    """Silence is the service's fault the first time; a budget that ran out after answers is the student's.

    Silence is a call without an answer while there was none before, or while the item still has time
    (`env.call_timeout`).
    """
    silent = not session.answers or budget.remaining_s > _ROUNDING_S
    seconds = session.call_s if silent else budget.seconds
    if silent and not job.again:
        return _error(Failure.NO_ANSWER.value, session, f"no answer within {seconds:g} s")
    return Outcome(
        status=RowStatus.TIMEOUT,
        cause=Failure.NO_ANSWER.value if silent else "exec_timeout",
        hard=0.0,
        soft=0.0,
        fail_reason=f"The time limit of {seconds:g} s was reached before there was an answer.",
        n_turns=session.answers,
        conversation=session.conversation(),
    )


def _bug(item: Item, session: Session, error: Exception) -> Outcome:
    _LOG.error("item %s: the benchmark's code failed", item.id, exc_info=error)
    return _error("bug", session, traceback.format_exception_only(error)[-1].strip())


def _error(cause: str, session: Session, message: str) -> Outcome:
    return Outcome(
        status=RowStatus.ERROR,
        cause=cause,
        n_turns=session.answers,
        conversation=session.conversation(),
        extra={"error": message[:500]},
    )
