"""Numbers as the text of a cell."""

from __future__ import annotations

from reflact.engine.stats import Interval
from reflact.report.tables.measures import Estimate
from reflact.report.tables.paired import Change
from reflact.report.text import count, duration, money

EMPTY = "–"
NOISE = "noise"


def estimate(value: Estimate | None, runs: int = 1) -> str:
    """Return `0.412 [0.330, 0.500] n=140`, with the spread of repeats behind the mean."""
    if value is None:
        return EMPTY
    spread = f" ± {value.sd:.3f} ({runs} runs)" if value.sd is not None else ""
    return f"{value.value:.3f}{spread}{_interval(value.interval)}{_n(value.n)}"


def change(value: Change | None) -> str:
    """Return `+0.045 [+0.010, +0.080] n=140`, and `noise` where the interval holds zero."""
    if value is None:
        return EMPTY
    noise = f" {NOISE}" if value.noise else ""
    return f"{value.value:+.3f}{_interval(value.interval, sign='+')}{_n(value.n)}{noise}"


def p_value(value: Change | None) -> str:
    """Return the corrected p-value."""
    if value is None or value.p_holm is None:
        return EMPTY
    return f"{value.p_holm:.3f}" if value.p_holm >= 0.001 else "<0.001"


def steps(accepted: float | None, total: float | None) -> str:
    """Return `3/16`."""
    if accepted is None:
        return EMPTY
    return f"{accepted:g}" if total is None else f"{accepted:g}/{total:g}"


def tokens(number: float | None, reused: float) -> str:
    """Return a count of tokens, with the reused part where there is one."""
    if number is None:
        return EMPTY
    return f"{count(number)} ({count(reused)} reused)" if reused else count(number)


def cost(usd: float | None) -> str:
    """Return US dollars."""
    return EMPTY if usd is None else money(usd)


def wall(seconds: float | None) -> str:
    """Return a duration."""
    return EMPTY if seconds is None else duration(seconds)


def _interval(interval: Interval | None, sign: str = "") -> str:
    if interval is None:
        return ""
    return f" [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"


def _n(n: int | None) -> str:
    return "" if n is None else f" n={n}"
