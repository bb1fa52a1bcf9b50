"""The numbers of a cell: of one run, of repeats of it, or imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reflact.core.usage import Usage
from reflact.engine.stats import Interval, mean
from reflact.models.pricing import FREE, is_unpaid, read_prices
from reflact.report.summaries import Score, counter
from reflact.report.tables.found import Run
from reflact.report.tables.item_means import over_runs, shared
from reflact.report.tables.paired import Change, bootstrap, change, spread


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean score.

    Attributes:
        value: The mean; over repeats, the mean of their means.
        interval: Its 95% interval over items; None where rows are not at hand.
        n: Scored items.
        sd: Standard deviation over repeats, None for one run.
    """

    value: float
    interval: Interval | None = None
    n: int | None = None
    sd: float | None = None


@dataclass(frozen=True, slots=True)
class Measures:
    """What a table shows of a cell; None is what was not measured. Repeats are means.

    Attributes:
        scores: By (`baseline` or `best`, `selection` or `test`).
        gain: Best over initial skill on test.
        versus: Best skill over the reference's best skill on test; None for the reference itself.
        accepted: Accepted steps, out of `steps`.
        tokens, cost_usd: Own and reused.
        tokens_reused, cost_reused: What the reused part cost its maker.
        wall_s: Seconds of work, waiting for another run left out.
        highest_test: The highest test score of any skill of any repeat: chosen on test.
        seeds: Seeds of the repeats.
    """

    scores: Mapping[tuple[str, str], Estimate]
    gain: Change | None = None
    versus: Change | None = None
    accepted: float | None = None
    steps: float | None = None
    tokens: float | None = None
    tokens_reused: float = 0.0
    cost_usd: float | None = None
    cost_reused: float | None = 0.0
    wall_s: float | None = None
    highest_test: float | None = None
    seeds: tuple[int, ...] = ()


def measure(runs: Sequence[Run], references: Sequence[Run]) -> Measures:
    """Return the numbers of a cell.

    Args:
        runs: The valid runs of one point; several are repeats.
        references: The valid runs to compare with; empty if there is nothing to compare with.
    """
    sides = [(side, part) for side in ("baseline", "best") for part in ("selection", "test")]
    estimates = {(side, part): _estimate(runs, side, part) for side, part in sides}
    spent = [spending(run) for run in runs]
    return Measures(
        scores={key: found for key, found in estimates.items() if found is not None},
        gain=None if any(run.evaluation for run in runs) else _gain(runs),
        versus=compare(references, runs) if references else None,
        accepted=_mean([run.summary.number("steps", "accepted") for run in runs]),
        steps=_mean([run.summary.number("steps", "total") for run in runs]),
        tokens=_mean([one.tokens for one in spent]),
        tokens_reused=_mean([one.tokens_reused for one in spent]) or 0.0,
        cost_usd=_mean([one.cost_usd for one in spent]),
        cost_reused=_mean([one.cost_reused for one in spent]),
        wall_s=_mean([run.summary.number("wall_time_s") for run in runs]),
        highest_test=max((score for run in runs for score in _tests(run)), default=None),
        seeds=tuple(sorted({run.seed for run in runs if run.seed is not None})),
    )


def compare(before: Sequence[Run], after: Sequence[Run]) -> Change | None:
    """Return the paired difference of the best skills' test scores; each item's mean over repeats counts."""
    sides = [over_runs([run.items("best", "test") for run in runs]) for runs in (before, after)]
    return change(*shared(*sides))


def _estimate(runs: Sequence[Run], side: str, part: str) -> Estimate | None:
    scores = [run.score(side, part) for run in runs]
    known = [score for score in scores if score is not None and score.hard is not None]
    if not known or len(known) < len(scores):
        return None
    if len(known) == 1:
        return _single(known[0])
    values = [score.hard for score in known if score.hard is not None]
    items = list(over_runs([run.items(side, part) for run in runs]).values())
    middle = mean(values)
    assert middle is not None
    return Estimate(middle, bootstrap(items), len(items) if items else known[0].scored, spread(values))


def _single(score: Score) -> Estimate | None:
    if score.hard is None:
        return None
    return Estimate(score.hard, Interval(*score.ci95) if score.ci95 else None, score.scored)


def _gain(runs: Sequence[Run]) -> Change | None:
    """Return the paired gain on test; one run's is what its own summary says, so that all places agree."""
    before, after = (over_runs([run.items(side, "test") for run in runs]) for side in ("baseline", "best"))
    found = change(*shared(before, after))
    if len(runs) > 1:
        return found
    summary = runs[0].summary
    value = summary.number("delta_test")
    interval = summary.get("confidence", "delta_test")
    told = Interval(*map(float, interval)) if isinstance(interval, list) and len(interval) == 2 else None
    if value is None:
        return found
    if found is None:
        return Change(value, told, summary.whole("confidence", "n"), summary.number("confidence", "mcnemar_p"))
    return replace(found, value=value, interval=told if told is not None else found.interval)


def _tests(run: Run) -> list[float]:
    scores = [run.score(side, "test") for side in ("baseline", "best", "final")]
    return [score.hard for score in scores if score is not None and score.hard is not None]


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens and US dollars of a run: its own and what it reused; a cost is None where a price is not known."""

    tokens_own: float | None
    tokens_reused: float
    cost_own: float | None
    cost_reused: float | None

    @property
    def tokens(self) -> float | None:
        """Own and reused."""
        return None if self.tokens_own is None else self.tokens_own + self.tokens_reused

    @property
    def cost_usd(self) -> float | None:
        """Own and reused."""
        return None if self.cost_own is None or self.cost_reused is None else self.cost_own + self.cost_reused


def spending(run: Run) -> Spending:
    """Return what a run spent; of one that is not complete, what it has spent so far, as its events tell."""
    if not run.complete:
        tokens, usd = run.spent_so_far
        return Spending(tokens, 0.0, usd, 0.0)
    reused = _leaves("", run.summary.get("usage_reused"))
    copied = float(sum(usage.tokens for _, usage in reused))
    return Spending(
        run.summary.number("tokens_total"), copied, run.summary.number("cost_usd"), _price_of_reused(run, reused)
    )


def _price_of_reused(run: Run, reused: Sequence[tuple[str, Usage]]) -> float | None:
    """Return what copied rows cost their maker, at the prices of the run that copied them."""
    if not reused:
        return 0.0
    entries = run.record.get("config", "pricing", "models")
    prices = read_prices(entries if isinstance(entries, Mapping) else {})
    total = 0.0
    for role, usage in reused:
        unpaid = is_unpaid(str(run.record.get("config", "model", f"{role or 'student'}_backend")))
        price = FREE if unpaid else prices.get(run.summary.text(role or "student"))
        if price is None:
            return None
        total += price.usd(usage)
    return total


def _leaves(role: str, value: Any) -> list[tuple[str, Usage]]:
    """Return the usage objects below a value, each with the role that it belongs to."""
    if not isinstance(value, Mapping):
        return []
    if "prompt_tokens" in value:
        return [(role, Usage.from_json(counter(value)))]
    return [
        found for name, below in value.items() for found in _leaves(role or (name if name in _ROLES else ""), below)
    ]


_ROLES = frozenset({"student", "teacher"})


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return mean(known) if known and len(known) == len(values) else None
