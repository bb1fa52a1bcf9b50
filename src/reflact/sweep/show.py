"""A plan as text: a row a run, what is left out and why, what it would take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reflact.sweep.planned import Planned, PointState, published_splits

_WIDEST = 60


def plan_text(name: str, planned: Sequence[Planned], notes: Sequence[str] = (), *, rehearse: bool) -> str:
    """Return the whole plan, with notes below it."""
    return "\n".join([*_lines(name, planned, rehearse), *(f"note: {note}" for note in notes)]) + "\n"


def _lines(name: str, planned: Sequence[Planned], rehearse: bool) -> Iterator[str]:
    runs = [entry for entry in planned if entry.state is PointState.RUN]
    yield f"plan {name}: {head(planned)}{', simulated' if rehearse else ''}"
    if runs:
        yield ""
        yield from _table([_HEAD, *(_row(entry) for entry in runs)])
        yield ""
        yield _total(runs)
    left_out = [entry for entry in planned if entry.state is not PointState.RUN]
    if left_out:
        yield ""
        yield "left out:"
        yield from _table([(entry.point.run_id, _reason(entry)) for entry in left_out], indent="  ")
    yield from _notes(planned)


def head(planned: Sequence[Planned]) -> str:
    """Return the counts of a plan in words."""
    count = {state: sum(entry.state is state for entry in planned) for state in PointState}
    parts = [_counted(len(planned), "point"), _counted(count[PointState.RUN], "run")]
    if count[PointState.ALIAS]:
        parts.append(f"{count[PointState.ALIAS]} alias{'' if count[PointState.ALIAS] == 1 else 'es'}")
    if count[PointState.SKIP]:
        parts.append(f"{count[PointState.SKIP]} left out")
    return ", ".join(parts)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


_HEAD = ("run", "steps/epoch", "batches", "calls <=", "tokens <=", "USD <=", "overrides", "directory")


def _row(entry: Planned) -> tuple[str, ...]:
    estimate = entry.estimate
    assert estimate is not None
    return (
        entry.point.run_id + (" (resumed)" if entry.resume else ""),
        str(estimate.steps_per_epoch),
        _batches(estimate.batch_sizes),
        f"{estimate.calls:,}",
        "?" if estimate.tokens is None else _millions(estimate.tokens),
        "?" if estimate.cost_usd is None else f"{estimate.cost_usd:,.2f}",
        _shortened(" ".join(entry.point.overrides)),
        str(entry.out_dir),
    )


def _batches(sizes: Sequence[int]) -> str:
    """Return batch sizes with equal neighbours counted: `9x40+12`."""
    parts: list[list[int]] = []
    for size in sizes:
        if parts and parts[-1][1] == size:
            parts[-1][0] += 1
        else:
            parts.append([1, size])
    return "+".join(str(size) if times == 1 else f"{times}x{size}" for times, size in parts) or "-"


def _millions(tokens: int) -> str:
    return f"{tokens / 1e6:,.1f}M" if tokens >= 1e5 else f"{tokens:,}"


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _total(runs: Sequence[Planned]) -> str:
    estimates = [entry.estimate for entry in runs if entry.estimate is not None]
    tokens = [estimate.tokens for estimate in estimates]
    costs = [estimate.cost_usd for estimate in estimates]
    known = [value for value in tokens if value is not None]
    paid = [value for value in costs if value is not None]
    text = f"in all at most {sum(estimate.calls for estimate in estimates):,} calls, {_millions(sum(known))} tokens"
    if len(known) < len(tokens):
        text += f" (not known for {_counted(len(tokens) - len(known), 'run')})"
    if not paid:
        return text + "; cost not known: pricing.models has no price for these models"
    text += f", {sum(paid):,.2f} US dollars"
    return text if len(paid) == len(costs) else text + f" (not known for {_counted(len(costs) - len(paid), 'run')})"


def _reason(entry: Planned) -> str:
    if entry.state is PointState.ALIAS:
        return f"= {entry.same_as}" + (f" ({entry.why})" if entry.why != "computes the same" else "")
    return entry.why


def _notes(planned: Sequence[Planned]) -> Iterator[str]:
    for entry in planned:
        if entry.state is PointState.RUN and entry.why:
            yield f"note: {entry.point.run_id}: {entry.why}"
    for benchmark, splits in published_splits(planned).items():
        first = next(iter(splits.values()))
        counts = ", ".join(
            f"{'/'.join(str(size) for size in facts.sizes.values())} ({name})" for name, facts in splits.items()
        )
        why = "cannot be read here" if first.unreadable else "are not there"
        yield f"note: {benchmark}: the published counts {counts}, since the data {why}: {first.missing}"
    skills = {
        (entry.point.benchmark, entry.config.env.skill_init, entry.skill)
        for entry in planned
        if entry.point.source_skill and entry.config is not None and entry.config.env.skill_init != "default"
    }
    for benchmark, path, digest in sorted(skills):
        yield f"note: source skill of {benchmark}: {path} (sha256 {digest[:12]})"


def _table(rows: Sequence[tuple[str, ...]], indent: str = "") -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield (indent + "  ".join(cells)).rstrip()
