"""Doctor: configuration, items, initial skill, and the plan that follows from them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from reflact.benchmarks.protocol import Benchmark, Split
from reflact.benchmarks.registry import load_benchmark
from reflact.config.check import check
from reflact.config.compose import compose
from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.hashing import text_digest
from reflact.core.names import Part
from reflact.engine.method import GEPA, ONE_SHOT
from reflact.engine.plan import Plan, plan_counts
from reflact.engine.prepare import read_skill
from reflact.report.doctor import Check, attempt, failed, failure, ok, warning
from reflact.report.plan import plan_warnings
from reflact.report.text import clean, count, plural

REPLY_TOKENS = 300
CHARS_PER_TOKEN = 4
SHOWN_BUDGETS = 12


@dataclass(frozen=True, slots=True)
class Data:
    """What the data checks found, for the checks after them."""

    benchmark: Benchmark
    split: Split
    skill: str
    plan: Plan


@dataclass
class Configured:
    """A composed configuration, None if it does not compose, and the lines about it."""

    config: Config | None = None
    checks: list[Check] = field(default_factory=list)


@dataclass
class Loaded:
    """Loaded data, None if something is missing, and the lines about them."""

    data: Data | None = None
    checks: list[Check] = field(default_factory=list)


def compose_checked(overrides: Sequence[str]) -> Configured:
    """Compose the configuration and check its values."""
    try:
        config = compose(overrides)
        warnings = check(config)
    except ConfigError as error:
        return Configured(None, [failure("config", error)])
    models = f"student {clean(config.model.student, 60)} ({clean(config.model.student_backend, 40)}), teacher "
    models += f"{clean(config.model.teacher, 60)} ({clean(config.model.teacher_backend, 40)})"
    if config.model.teacher_backend == "template":
        models = models.partition(", teacher ")[0] + ", teacher template (no model)"
    lines = [ok("config", f"benchmark {clean(config.benchmark.name, 60)}; {models}")]
    return Configured(config, lines + [warning("config", clean(text, 1000)) for text in warnings])


def load(config: Config) -> Loaded:
    """Load items and skill and work out the plan."""
    loaded = Loaded()
    loaded.checks.extend(attempt("data", lambda: _load(config, loaded)))
    return loaded


def _load(config: Config, loaded: Loaded) -> Iterator[Check]:
    benchmark = load_benchmark(config)
    split = benchmark.load()
    sizes = {part: len(split.parts[part]) for part in Part}
    counts = ", ".join(f"{part.value} {number}" for part, number in sizes.items())
    sample = "; the few sample items: no number of such a run may be used" if split.sample else ""
    yield ok("data", f"split {clean(split.name, 40)}: {counts}, fingerprint {split.fingerprint[:12]}{sample}")
    for finding in benchmark.check(split):
        make = failed if finding.level == "error" else warning
        yield make("data", f"{clean(finding.code, 40)}: {clean(finding.message, 1000)}")
    sandbox = benchmark.settings().get("sandbox")
    if sandbox is not None and sandbox != "unsandboxed":  # what is not confined is a finding of the benchmark
        yield ok("sandbox", f"what the student writes runs confined by {clean(sandbox, 40)}")
    skill = read_skill(benchmark, config.env.skill_init)
    tokens = len(skill) // CHARS_PER_TOKEN
    named = clean(config.env.skill_init, 300)
    yield ok(
        "skill",
        f"{named}: {count(len(skill))} characters, about {count(tokens)} tokens, sha256 {text_digest(skill)[:12]}",
    )
    plan = plan_counts(config, sizes)
    loaded.data = Data(benchmark, split, skill, plan)
    yield from _plan(config, loaded.data, sizes[Part.VAL])


def _plan(config: Config, data: Data, selection: int) -> Iterator[Check]:
    plan = data.plan
    yield ok(
        "plan",
        f"{_course(config, plan)}; at most "
        f"{plural(plan.gate_evaluations, 'candidate')} measured, {count(plan.rows)} rows (selection "
        f"{count(plan.baseline_rows + plan.gate_rows)}, rollouts {count(plan.rollout_rows)}, epoch ends "
        f"{count(plan.epoch_end_rows)}, test {count(plan.test_rows)}) and {count(plan.teacher_calls)} "
        f"teacher call{'' if plan.teacher_calls == 1 else 's'}",
    )
    if plan.edit_budgets is not None:
        yield ok("plan", f"edits a step at most: {_budgets(plan.edit_budgets)}")
    bound = config.evaluation.sel_env_num
    used = min(selection, bound) if bound > 0 else selection
    for text in plan_warnings(config, plan, used, estimated_tokens(config, data)):
        yield warning("plan", text)


def _course(config: Config, plan: Plan) -> str:
    """Return how the method goes about it."""
    method = config.optimizer.name
    if method == GEPA:
        size = plural(config.optimizer.gepa_minibatch_size, "item")
        return f"{method}: a search with minibatches of {size} within the rows of the plan"
    sizes = sorted(set(plan.batch_sizes), reverse=True)
    if method == ONE_SHOT:
        return f"{method}: one batch of {plural(sizes[0], 'item')}, one draft of the skill"
    epochs = plural(config.train.num_epochs, "epoch")
    steps = plural(plan.steps_per_epoch, "step")
    return f"{epochs} of {steps}, batches of {' and '.join(map(str, sizes))}"


def _budgets(budgets: Sequence[int]) -> str:
    if len(set(budgets)) == 1:
        return f"{budgets[0]} at every step"
    if len(budgets) <= SHOWN_BUDGETS:
        return ", ".join(map(str, budgets))
    runs: list[tuple[int, int]] = []
    for budget in budgets:
        if runs and runs[-1][0] == budget:
            runs[-1] = (budget, runs[-1][1] + 1)
        else:
            runs.append((budget, 1))
    return ", ".join(f"{budget} ({plural(times, 'step')})" for budget, times in runs)


def estimated_tokens(config: Config, data: Data, items: int = 50) -> float | None:
    """Return a low estimate of the tokens of a row: skill, question and data, and a short reply."""
    sample = data.split.parts[Part.TRAIN][:items]
    if not sample:
        return None
    chars = 0
    for item in sample:
        own = json.dumps(dict(item.data), default=str, ensure_ascii=False)
        chars += len(item.question) + min(len(own), config.env.max_context_chars)
    return (len(data.skill) + chars / len(sample)) / CHARS_PER_TOKEN + REPLY_TOKENS
