"""The harness of students that are agent programs."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from reflact.config.schema import Config
from reflact.confine import Choice, ConfinementError
from reflact.core.errors import ReflactError
from reflact.core.events import CallFinished, Emit, Warned
from reflact.core.hashing import text_digest
from reflact.core.names import RowStatus
from reflact.core.types import Item, Outcome, Turn
from reflact.core.usage import Usage
from reflact.harness.agent import AgentTask, Assignment
from reflact.harness.agent_attempt import Attempt, Starter
from reflact.harness.agent_verdict import Reader, Verdict
from reflact.harness.protocol import Job, Performance
from reflact.harness.workspace import Workspace, free_name, workspace
from reflact.models.caller import Caller
from reflact.models.meter import MeterKey
from reflact.models.work_budget import WorkBudget
from reflact.relay import Caps, Proof, Relay, Visit
from reflact.rundir.layout import RunLayout

_LOG = logging.getLogger(__name__)
_TRIES = 2
_AGAIN = Turn("user", "[There was no usable answer. The task was given once more, in an empty workspace.]")


@dataclass(slots=True)
class _Work:
    """One item under way."""

    item: Item
    job: Job
    budget: WorkBudget
    usage: Usage = field(default_factory=Usage)
    attempts: list[Attempt] = field(default_factory=list)


class AgentHarness:
    """Lets an agent program do items, each in a fresh workspace with a fresh home.

    Args:
        task: The benchmark.
        caller: Reaches the student's model.
        config: Time limits, caps, what the teacher may see.
        starter: Starts the program.
        choice: The means of confinement.
        emit: Where events go.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        task: AgentTask,
        caller: Caller,
        config: Config,
        starter: Starter,
        choice: Choice,
        emit: Emit,
        clock: Callable[[], float],
    ) -> None:
        self._task = task
        self._caller = caller
        self._config = config
        self._starter = starter
        self._choice = choice
        self._emit = emit
        self._clock = clock
        self._trace = _trace(config)
        self._lock = asyncio.Lock()
        self._settled = False

    @property
    def name(self) -> str:
        """The backend's name."""
        return self._config.model.student_backend

    async def perform(self, item: Item, job: Job) -> Performance:
        """Do one item; see `Harness.perform`."""
        await self._settle()
        work = _Work(item, job, WorkBudget(self._config.env.exec_timeout, self._clock))
        outcome = await self._outcome(work)
        return Performance(
            outcome=outcome,
            usage=work.usage,
            latency_s=round(work.budget.worked_s, 4),
            wait_s=round(work.budget.waited_s, 4),
        )

    async def aclose(self) -> None:
        """Close the relay and release the model."""
        if self._starter.relay is not None:
            await self._starter.relay.aclose()
        await self._caller.aclose()

    async def _settle(self) -> None:
        async with self._lock:
            if self._settled:
                return
            warning = await self._starter.cli.settle(self._choice.confinement)
            if self._choice.reason:
                self._emit(Warned("unsandboxed", f"agents are not confined: {self._choice.reason}"))
            if warning:
                self._emit(Warned("agent_sandbox", warning))
            self._settled = True

    async def _outcome(self, work: _Work) -> Outcome:
        try:
            assignment = await self._task.assignment(work.item, work.job.skill, work.job.seed)
            if isinstance(assignment, Outcome):
                return assignment
            return self._finished(await self._tried(work, self._reader(work, assignment)), work)
        except ReflactError:
            raise
        except ConfinementError as error:
            return self._finished(_error("confinement", str(error)), work)
        except Exception as error:  # noqa: BLE001 - whatever a benchmark's code raises concerns its item alone
            _LOG.error("item %s: the benchmark's code failed", work.item.id, exc_info=error)
            return self._finished(_error("bug", traceback.format_exception_only(error)[-1].strip()), work)

    def _reader(self, work: _Work, assignment: Assignment) -> Reader:
        env = self._config.env
        relayed = self._starter.relay is not None
        return Reader(assignment, work.job, env.exec_timeout, env.idle_timeout, self._trace, relayed)

    async def _tried(self, work: _Work, reader: Reader) -> Outcome:
        """Let the agent try, and once more where it gave no sign of life or no answer in the demanded form."""
        before: tuple[Turn, ...] = ()
        while True:
            verdict = reader.read(await self._attempt(work, reader))
            last = len(work.attempts) == _TRIES or work.budget.remaining_s <= 0
            if not last and self._unsatisfying(work, verdict):
                before = (*_talk(verdict), _AGAIN)
                continue
            return await self._judged(work, verdict, before)

    def _unsatisfying(self, work: _Work, verdict: Verdict) -> bool:
        if verdict.handed is None:
            return verdict.again
        return not self._task.in_form(work.item, verdict.handed, work.job.seed)

    async def _judged(self, work: _Work, verdict: Verdict, before: tuple[Turn, ...]) -> Outcome:
        if verdict.handed is None:
            assert verdict.outcome is not None
            return replace(verdict.outcome, conversation=(*before, *verdict.outcome.conversation))
        handed = replace(verdict.handed, conversation=(*before, *verdict.handed.conversation))
        return await self._task.judge(work.item, handed, work.job.seed)

    async def _attempt(self, work: _Work, reader: Reader) -> Attempt:
        self._caller.meter.check()
        visit = self._visit(work, reader.assignment)
        with workspace(self._choice.confinement.confined) as place:
            try:
                attempt = await self._starter.run(place, reader.assignment, visit, work.budget)
            finally:
                work.usage += visit.usage
                self._keep(place, work)
        work.attempts.append(attempt)
        if self._starter.relay is None:
            self._book(work, attempt)
        return attempt

    def _visit(self, work: _Work, assignment: Assignment) -> Visit:
        model, job = self._config.model, work.job
        return Visit(
            nonce=Relay.new_nonce(),
            stage=job.stage,
            phase=job.phase,
            budget=work.budget,
            caps=Caps(model.exec_max_requests, model.exec_max_tokens),
            proof=Proof(job.skill, len(assignment.images)),
            alone=job.retry,
        )

    def _book(self, work: _Work, attempt: Attempt) -> None:
        """Book what the program itself counted, where no relay did."""
        usage = Usage(failed_calls=1) if attempt.report.usage is None else attempt.report.usage
        work.usage += usage
        model, job = self._caller.model.info.model, work.job
        cost = self._caller.meter.record(MeterKey(self._caller.role, model, job.stage, job.phase), usage)
        self._emit(
            CallFinished(
                role=self._caller.role.value,
                stage=job.stage.value,
                phase=job.phase.value,
                model=model,
                usage=usage,
                latency_s=round(work.budget.worked_s, 4),
                wait_s=0.0,
                cost_usd=cost,
            )
        )

    def _keep(self, place: Workspace, work: _Work) -> None:
        if self._config.run.keep_workspaces:
            folder = RunLayout(Path(self._config.env.out_root)).workspaces
            stem = f"{work.job.stage}-{text_digest(work.item.id)[:12]}"
            place.keep(free_name(folder, stem))

    def _finished(self, outcome: Outcome, work: _Work) -> Outcome:
        """Add what is to be known of the agent to a row."""
        if not work.attempts:
            return outcome
        last = work.attempts[-1]
        agent = {
            "attempts": len(work.attempts),
            "requests": sum(attempt.visit.requests for attempt in work.attempts),
            "retries": sum(attempt.report.retries for attempt in work.attempts),
            "uncounted": sum(attempt.visit.unknown for attempt in work.attempts),
            "flags": last.report.flags,
        }
        # How agents were confined decides whether a run may fill a table.
        return replace(outcome, extra={**outcome.extra, "sandbox": self._choice.record, "agent": agent})


def _talk(verdict: Verdict) -> tuple[Turn, ...]:
    if verdict.handed is not None:
        return verdict.handed.conversation
    return () if verdict.outcome is None else verdict.outcome.conversation


def _trace(config: Config) -> bool:
    if config.model.student_backend == "codex_exec":
        return config.model.codex_trace_to_teacher
    return config.model.claude_code_trace_to_teacher


def _error(cause: str, message: str) -> Outcome:
    return Outcome(status=RowStatus.ERROR, cause=cause, extra={"error": message[:500]})
