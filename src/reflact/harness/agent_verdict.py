"""From an attempt to what it means: an answer, another try, or an outcome."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.confine import Ending
from reflact.core.errors import ReflactError, Unavailable
from reflact.core.names import RowStatus
from reflact.core.types import Outcome, Turn
from reflact.harness.agent import Assignment, Handed
from reflact.harness.agent_attempt import Attempt, End
from reflact.harness.agent_report import shorten
from reflact.harness.protocol import Job
from reflact.models.protocol import CallError, Failure
from reflact.relay import STREAM_CUT

_SHOWN = 500
_ROUNDING_S = 0.01


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an attempt means.

    Attributes:
        handed: What is to be judged, if there is an answer.
        outcome: How the item ends, if there is none.
        again: The first of two attempts is not the last word.
    """

    handed: Handed | None = None
    outcome: Outcome | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads attempts of one item.

    Attributes:
        assignment: What the agent got.
        job: How the item is to be done.
        seconds: The item's time limit.
        idle_s: The limit without a sign of life.
        trace: The teacher may see what the agent did, not only its answer.
        relayed: The relay counts what the model answered.
    """

    assignment: Assignment
    job: Job
    seconds: float
    idle_s: float
    trace: bool
    relayed: bool

    def read(self, attempt: Attempt) -> Verdict:
        """Say what an attempt means.

        Raises:
            ReflactError: The run has to stop.
        """
        visit = attempt.visit
        if visit.stop is not None:
            raise visit.stop
        if visit.error is not None:
            return Verdict(outcome=self._call_failed(attempt, visit.error))
        if visit.capped:
            return Verdict(outcome=self._timeout(attempt, visit.capped, "The agent used up what one task may use."))
        if attempt.end is End.TIME:
            return Verdict(outcome=self._out_of_time(attempt, self.seconds))
        if attempt.end is End.IDLE:
            return Verdict(outcome=self._out_of_time(attempt, self.idle_s), again=True)
        if attempt.end is End.LIMIT:
            return Verdict(outcome=self._limit(attempt))
        if attempt.report.completed and self.relayed and not visit.answers:
            # Whatever it says, nobody asked the model, so that skill and task were in no request.
            return Verdict(
                outcome=self.error(attempt, "not_delivered", "the program answered without asking the model")
            )
        if attempt.report.completed:
            return self._completed(attempt)
        ended = self._ended_early(attempt)
        if ended is not None:
            return Verdict(outcome=ended, again=ended.status is RowStatus.EMPTY)
        # Not every program asks again for an answer that broke off, and none does for ever.
        broken = visit.last_error is not None and visit.last_error.cause == STREAM_CUT
        return Verdict(outcome=self._failed(attempt), again=broken)

    def _completed(self, attempt: Attempt) -> Verdict:
        text, name = attempt.report.text, self.assignment.answer_file
        file = attempt.file if isinstance(attempt.file, bytes) and name is not None else None
        if name is not None and file is None:
            reason = f"The agent left no usable file {name}: {attempt.file!s}."
            return Verdict(outcome=self._zero(attempt, RowStatus.EMPTY, "no_file", reason), again=True)
        if name is None and not text.strip():
            reason = "The agent ended without a last message."
            return Verdict(outcome=self._zero(attempt, RowStatus.EMPTY, "empty", reason), again=True)
        return Verdict(Handed(text, file, self._turns(attempt), self.conversation(attempt)))

    def _ended_early(self, attempt: Attempt) -> Outcome | None:
        """Return how an item ends whose last answer the service itself ended; programs tell it as a failure."""
        if attempt.report.kind == "error_max_turns":
            return None
        if attempt.visit.finish == "length":
            reason = "The model's reply was cut at its longest length, so there is no answer."
            return self._zero(attempt, RowStatus.EMPTY, "length", reason)
        if attempt.visit.finish == Failure.CONTENT_FILTER:
            return self._refused(attempt, Failure.CONTENT_FILTER.value)
        return None

    def _failed(self, attempt: Attempt) -> Outcome:
        report, seen = attempt.report, attempt.visit.last_error
        if seen is not None:
            return self._call_failed(attempt, seen)
        if report.kind == "error_max_turns":
            return self._timeout(attempt, "max_turns", "The agent took all the turns that it may take.")
        if report.status in (401, 403):
            raise _no_entry(report.failure)
        known = {429: Failure.RATE_LIMIT, 402: Failure.QUOTA, 404: Failure.NOT_FOUND}
        if report.status is not None:
            other = Failure.SERVER if report.status >= 500 else Failure.BAD_REQUEST
            return self.error(attempt, known.get(report.status, other).value, report.failure)
        if report.failure:
            return self.error(attempt, "agent_failed", report.failure)
        return self.error(attempt, "incomplete", f"the turn was not completed{_process(attempt)}")

    def _call_failed(self, attempt: Attempt, error: CallError) -> Outcome:
        if error.item_specific:
            return self._refused(attempt, error.cause)
        if error.failure is Failure.NO_ANSWER:
            if attempt.visit.budget.remaining_s > _ROUNDING_S:
                return self._silence(attempt, str(error))
            return self._out_of_time(attempt, self.seconds)
        return self.error(attempt, error.cause, str(error))

    def _out_of_time(self, attempt: Attempt, seconds: float) -> Outcome:
        """Time that ran out after answers is the student's, but for one that only waited for the next."""
        if not self._turns(attempt) or (attempt.end is End.IDLE and attempt.owed):
            return self._silence(attempt, f"no answer within {seconds:g} s")
        end = End.TIME if attempt.end is End.STOPPED else attempt.end
        reason = f"The time limit of {seconds:g} s was reached before there was an answer."
        return self._timeout(attempt, end.value, reason)

    def _silence(self, attempt: Attempt, message: str) -> Outcome:
        """Silence is the service's fault the first time."""
        if not self.job.again:
            return self.error(attempt, Failure.NO_ANSWER.value, message)
        return self._timeout(attempt, Failure.NO_ANSWER.value, f"The time limit was reached: {message}.")

    def _limit(self, attempt: Attempt) -> Outcome:
        ending = Ending.EXITED if attempt.result is None else attempt.result.ending
        if not self._turns(attempt):
            return self.error(attempt, f"{ending.value}_limit", "the program passed a limit before the model answered")
        return self._timeout(
            attempt, f"{ending.value}_limit", f"What the agent ran passed its limit of {ending.value}."
        )

    def _refused(self, attempt: Attempt, cause: str) -> Outcome:
        return self._zero(attempt, RowStatus.REFUSED, cause, "The request was refused and there is no answer.")

    def _timeout(self, attempt: Attempt, cause: str, reason: str) -> Outcome:
        return self._zero(attempt, RowStatus.TIMEOUT, cause, reason)

    def _zero(self, attempt: Attempt, status: RowStatus, cause: str, reason: str) -> Outcome:
        return Outcome(
            status=status,
            cause=cause,
            hard=0.0,
            soft=0.0,
            fail_reason=reason,
            n_turns=self._turns(attempt),
            conversation=self.conversation(attempt),
        )

    def error(self, attempt: Attempt | None, cause: str, message: str) -> Outcome:
        """Return an `error` that nobody's answer is to blame for."""
        return Outcome(
            status=RowStatus.ERROR,
            cause=cause,
            n_turns=0 if attempt is None else self._turns(attempt),
            conversation=() if attempt is None else self.conversation(attempt),
            extra={"error": message[:_SHOWN]},
        )

    def conversation(self, attempt: Attempt) -> tuple[Turn, ...]:
        """Return the task and what the agent did, or only its answer."""
        report, name = attempt.report, self.assignment.answer_file
        turns = [Turn("user", self.assignment.prompt)]
        if self.trace:
            turns += report.turns
        elif report.text:
            turns.append(Turn("assistant", report.text))
        if name is not None and isinstance(attempt.file, bytes):
            turns.append(Turn("assistant", f"[{name}]\n{shorten(attempt.file.decode(errors='replace'), 12_000)}"))
        return tuple(turns)

    def _turns(self, attempt: Attempt) -> int:
        if self.relayed:
            return attempt.visit.answers
        return sum(turn.role == "assistant" for turn in attempt.report.turns)


def _no_entry(message: str) -> ReflactError:
    return Unavailable(
        f"the student's program was not let in: {message[:_SHOWN]}. Check the key (its variable is named by "
        "model.student_api_key_env) or the login"
    )


def _process(attempt: Attempt) -> str:
    result = attempt.result
    if result is None:
        return ""
    lines = result.stderr.decode(errors="replace").strip().splitlines()
    said = f": {lines[-1]}" if lines else ""
    return f"; the program ended with exit code {result.code}{said}"
