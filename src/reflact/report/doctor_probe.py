"""Doctor: a few train items done for real, which shows what no other check can: empty replies, tags, tokens, cost."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from reflact.benchmarks.protocol import Closing
from reflact.config.schema import Config
from reflact.core.events import CallRetried, Event
from reflact.core.names import Part, Phase, Role, RowStatus, Stage
from reflact.core.types import Item
from reflact.core.usage import Usage
from reflact.engine.batches import make_schedule
from reflact.harness.protocol import Harness, Job, Performance
from reflact.harness.registry import connect_student, make_harness
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limit_making import make_limiter
from reflact.models.meter import Meter, unpaid_roles
from reflact.models.pricing import Price, read_prices, role_price
from reflact.models.registry import limit_key
from reflact.report.doctor import Check, Level, failed, ok, warning
from reflact.report.doctor_data import Data
from reflact.report.plan import plan_warnings
from reflact.report.text import clean, count, counted, duration, money, plural

MANY_REJECTED = 0.3
"""Share of commands without effect above which a probe says so."""


@dataclass
class Probe:
    """What a probe gave."""

    done: list[Performance] = field(default_factory=list)
    retries: Counter[str] = field(default_factory=Counter)
    wall_s: float = 0.0

    @property
    def statuses(self) -> Counter[str]:
        """Items by status."""
        return Counter(one.outcome.status.value for one in self.done)

    @property
    def usage(self) -> Usage:
        """Tokens of all items."""
        return sum((one.usage for one in self.done), Usage())

    def listen(self, event: Event) -> None:
        """Count retries."""
        if isinstance(event, CallRetried):
            self.retries[str(event.status) if event.status is not None else event.cause] += 1


def check_probe(config: Config, data: Data, number: int) -> Iterator[Check]:
    """Let the student do the first items of the first batch with the initial skill."""
    schedule = make_schedule(config.train, len(data.split.parts[Part.TRAIN]))
    batch = schedule.micro_batches(1)
    train = data.split.parts[Part.TRAIN]
    items = [train[index] for micro in batch for index in micro.indices][:number]
    probe = asyncio.run(_run(config, data, items, batch[0].seed))
    yield _outcomes(probe)
    yield from _troubles(config, probe)
    yield _cost(config, data, probe)
    if probe.usage.tokens:
        selection = data.plan.baseline_rows // config.evaluation.gate_repeats
        for text in plan_warnings(config, data.plan, selection, probe.usage.tokens / len(probe.done)):
            if "budget" in text:
                yield warning("probe", text)


async def _run(config: Config, data: Data, items: Sequence[Item], seed: int) -> Probe:
    probe = Probe()
    model = connect_student(config)
    key, remote = limit_key(config, Role.STUDENT), bool(model.info.endpoint)
    limiter = make_limiter(key, config.limits, probe.listen, remote=remote)
    caller = Caller(
        model,
        Role.STUDENT,
        limiter=limiter,
        meter=Meter(
            read_prices(config.pricing.models), unpaid=unpaid_roles(config)
        ),  # a run's budget is not for the probe
        policy=RetryPolicy.of(config.limits),
        emit=probe.listen,
        clock=time.monotonic,
        rng=Random(),
    )
    harness = make_harness(config, data.benchmark, caller)
    job = Job(skill=data.skill, seed=seed, repeat=0, stage=Stage.EVALUATE, phase=Phase.TRAIN)
    gate = asyncio.Semaphore(config.env.workers)
    began = time.monotonic()
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_one(harness, item, job, gate)) for item in items]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors
    finally:
        await harness.aclose()
        if isinstance(data.benchmark, Closing):
            await data.benchmark.aclose()
        await limiter.aclose()
    probe.done = [task.result() for task in tasks]
    probe.wall_s = time.monotonic() - began
    return probe


async def _one(harness: Harness, item: Item, job: Job, gate: asyncio.Semaphore) -> Performance:
    async with gate:
        return await harness.perform(item, job)


def _outcomes(probe: Probe) -> Check:
    hard = [one.outcome.hard for one in probe.done if one.outcome.hard is not None]
    statuses = ", ".join(f"{status.value} {probe.statuses[status]}" for status in RowStatus if probe.statuses[status])
    text = f"{plural(len(probe.done), 'item')} in {duration(probe.wall_s)}: {statuses}"
    if hard:
        text += f"; hard {sum(hard):g} of {len(hard)} with the initial skill"
    if probe.retries:
        text += f"; retries: {counted(probe.retries)}"
    clear = probe.statuses["ok"] == len(probe.done)
    return Check("probe", Level.OK if clear else Level.WARNING, text)


def _troubles(config: Config, probe: Probe) -> Iterator[Check]:
    total = len(probe.done)
    empty = probe.statuses["empty"]
    cut = sum(1 for one in probe.done if one.outcome.truncated or one.outcome.cause == "length")
    untagged = sum(1 for one in probe.done if one.outcome.extra.get("tagged") is False)
    silent = sum(one.outcome.no_action for one in probe.done)
    errors = [one.outcome for one in probe.done if one.outcome.status is RowStatus.ERROR]
    cap = config.env.max_completion_tokens
    if empty or cut:
        text = f"{empty} of {total} replies empty, {cut} cut at env.max_completion_tokens={cap}"
        share = empty / total > config.validity.max_empty_rate
        advice = (
            "raise it, or lower the reasoning effort; a run with such a share fills no table" if share else "raise it"
        )
        yield (failed if share else warning)("probe", f"{text}: {advice}")
    if untagged:
        yield warning("probe", f"{untagged} of {total} answers stood in no answer tag: the skill should ask for it")
    rejected = sum(one.outcome.extra.get("nothing_happens", 0) for one in probe.done)
    turns = sum(one.outcome.n_turns for one in probe.done)
    if rejected > MANY_REJECTED * turns:
        yield warning(
            "probe",
            f"{rejected} of {plural(turns, 'command')} changed nothing: the skill, the prompt or the data may be of "
            "another release of the simulator",
        )
    if silent:
        yield warning("probe", f"{plural(silent, 'turn')} without a usable action")
    if probe.statuses["timeout"]:
        yield warning(
            "probe",
            f"{probe.statuses['timeout']} of {total} timed out: raise env.exec_timeout={config.env.exec_timeout:g}",
        )
    if errors:
        causes = counted(Counter(str(outcome.cause) for outcome in errors))
        detail = clean(errors[0].extra.get("error", ""), 300)
        yield failed(
            "probe", f"{plural(len(errors), 'item')} without a score: {causes}{f' ({detail})' if detail else ''}"
        )


def _cost(config: Config, data: Data, probe: Probe) -> Check:
    """Return what the whole run would take at most: rows as measured, teacher calls from the size of what they read."""
    usage, rows = probe.usage, data.plan.rows
    per_row = usage.tokens / len(probe.done)
    teacher = _teacher_usage(config, data, usage.completion_tokens / len(probe.done))
    total = per_row * rows + teacher.tokens
    prices = read_prices(config.pricing.models)
    student_price, teacher_price = (role_price(config, role, prices) for role in (Role.STUDENT, Role.TEACHER))
    usd: float | None = None
    if student_price is not None and (teacher_price is not None or not teacher.tokens):
        usd = student_price.usd(usage) * rows / len(probe.done) + _price(teacher_price, teacher)
    reasoning = (
        f", {usage.reasoning_tokens / len(probe.done):.0f} of them hidden reasoning" if usage.reasoning_tokens else ""
    )
    cost = money(usd) if usd is not None else "no price known (pricing.models)"
    return ok(
        "probe", f"{per_row:.0f} tokens a row{reasoning}; the whole run: at most about {count(total)} tokens, {cost}"
    )


def _price(price: Price | None, usage: Usage) -> float:
    return 0.0 if price is None else price.usd(usage)


def _teacher_usage(config: Config, data: Data, reply_tokens: float) -> Usage:
    if config.model.teacher_backend == "template":
        return Usage()
    trajectories = config.gradient.minibatch_size * (reply_tokens + 400)
    read = int(data.plan.teacher_calls * (1500 + len(data.skill) / 4 + trajectories))
    return Usage(calls=data.plan.teacher_calls, prompt_tokens=read, completion_tokens=1500 * data.plan.teacher_calls)
