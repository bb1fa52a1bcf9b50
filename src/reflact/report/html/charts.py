"""The numbers of the first page's charts: differences of every point, and the gains of runs that are in no table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from reflact.core.types import Json
from reflact.report.html.entries import Entry
from reflact.report.html.overview import gain
from reflact.report.html.reading import NONSENSE, number
from reflact.report.tables.grid import Grid, Raw
from reflact.report.tables.measures import spending
from reflact.report.text import clean

_CHANGES = {"versus": "delta_default", "gain": "delta"}


def charts(grids: Sequence[Grid], entries: Sequence[Entry], places: Mapping[str, str]) -> Json:
    """Return groups with their rows.

    Args:
        grids: The compiled tables.
        entries: All runs.
        places: The run that an id leads to.
    """
    return [*_charts(grids, places), *_others(entries)]


def _others(entries: Sequence[Entry]) -> Iterator[Json]:
    """Yield the gains of runs that belong to no table, as a group of their own."""
    rows = []
    for entry in entries:
        if entry.run.point is None and entry.valid and not entry.damaged:
            with suppress(*NONSENSE):
                found = gain(entry.run.summary)
                rows += [] if found["value"] is None else [_other(entry, found)]
    if rows:
        yield {"name": "others", "title": "Runs that are in no table", "rows": rows}


def _other(entry: Entry, found: Mapping[str, Any]) -> Json:
    spent, bounds = spending(entry.run), found["interval"] or [None, None]
    chosen = entry.run.score("best", "selection")
    return {
        "benchmark": entry.run.benchmark,
        "value": clean(entry.run.run_id),
        "fill": "measured",
        "state": entry.run.state.value,
        "run": clean(entry.run.run_id),
        "place": entry.place,
        "versus": [None] * 5,
        "gain": [found["value"], *bounds, found["n"], None],
        "selection": None if chosen is None else number(chosen.hard),
        "tokens": spent.tokens,
        "cost": spent.cost_usd,
    }


def _charts(grids: Sequence[Grid], places: Mapping[str, str]) -> list[Json]:
    """Return the rows of every group's table as numbers."""
    return [
        {"name": grid.name, "title": grid.title, "rows": [_chart_row(raw, places) for raw in grid.raw]}
        for grid in grids
        if grid.raw and "delta" in grid.raw[0]
    ]


def _chart_row(raw: Mapping[str, Raw], places: Mapping[str, str]) -> Json:
    run_id = str(raw.get("run_id") or "")
    changes: dict[str, Any] = {
        name: [number(raw.get(f"{key}{end}")) for end in ("", "_low", "_high", "_n", "_p_holm")]
        for name, key in _CHANGES.items()
    }
    return {
        "benchmark": str(raw["benchmark"]),
        "value": str(raw["value"]),
        "fill": str(raw["fill"] or ""),
        "state": str(raw["state"] or ""),
        "run": run_id,
        "place": places.get(run_id, ""),
        **changes,
        "selection": number(raw.get("best_selection")),
        "tokens": number(raw.get("tokens")),
        "cost": number(raw.get("cost_usd")),
    }
