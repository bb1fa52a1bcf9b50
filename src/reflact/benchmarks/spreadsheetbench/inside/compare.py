"""Compares produced workbooks with their references: a JSON task on standard input, a line of JSON a case out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.inside.positions import Area, cell_name, parse
from reflact.benchmarks.spreadsheetbench.inside.reading import Book, Cells, Unreadable
from reflact.benchmarks.spreadsheetbench.inside.values import NotEvaluated, kind, same

PASS, FAIL, UNREADABLE, NOT_EVALUABLE = "pass", "fail", "unreadable", "not_evaluable"
READ = "read"


def main() -> None:
    """Do the task `{position, cases: [{golden, produced}]}`.

    For each case comes a line with `state` `read` as soon as the reference is read, so that whoever waits knows whose
    fault it is if nothing more comes, and then one with the verdict.
    """
    task = json.load(sys.stdin)
    areas = parse(task["position"])
    for case in task["cases"]:
        _say(_verdict(case, areas))


def _verdict(case: Mapping[str, str | None], areas: Sequence[Area]) -> Mapping[str, Any]:
    try:
        expected = expected_cells(Book(Path(str(case["golden"]))), areas)
    except Unreadable as error:
        return {"state": NOT_EVALUABLE, "note": str(error)}
    _say({"state": READ})
    problem = problem_of(expected)
    if problem:
        return {"state": NOT_EVALUABLE, "note": problem}
    if case["produced"] is None:
        return {"state": FAIL, "cells": 0, "differing": 0, "first": "", "note": "there is no produced workbook"}
    try:
        return compare(expected, Book(Path(case["produced"])), areas)
    except Unreadable as error:
        return {"state": UNREADABLE, "note": str(error)}


def expected_cells(golden: Book, areas: Sequence[Area]) -> list[tuple[str, Cells | None]]:
    """Return name and cells of each area in the reference; None where it has no such sheet."""
    found: list[tuple[str, Cells | None]] = []
    for area in areas:
        name = golden.first if area.sheet is None else golden.sheet(area.sheet)
        found.append((str(area.sheet), None) if name is None else (name, golden.cells(name, area)))
    return found


def problem_of(expected: Sequence[tuple[str, Cells | None]]) -> str:
    """Return why nothing can be compared with a reference; `""` if all is well."""
    for name, cells in expected:
        if cells is None:
            return f"the reference has no sheet {name!r}"
        blank = [cell_name(*place) for place, value in sorted(cells.items()) if isinstance(value, NotEvaluated)]
        if blank:
            return f"{len(blank)} formulas of the reference have no saved result, the first in {name}!{blank[0]}"
    return ""


def compare(expected: Sequence[tuple[str, Cells | None]], produced: Book, areas: Sequence[Area]) -> Mapping[str, Any]:
    """Compare a produced workbook cell by cell; what neither file holds is equal."""
    compared = differing = unevaluated = 0
    first = ""
    for (name, cells), area in zip(expected, areas, strict=True):
        own = produced.sheet(name)
        if own is None:
            return {"state": FAIL, "cells": 0, "differing": 0, "first": "", "note": f"there is no sheet {name!r}"}
        found = produced.cells(own, area)
        wanted = cells or {}
        for place in sorted({*wanted, *found}):
            compared += 1
            value = found.get(place)
            unevaluated += isinstance(value, NotEvaluated)
            if not same(wanted.get(place), value):
                differing += 1
                first = first or f"{name}!{cell_name(*place)}, which holds {kind(value)}"
    counts = {"cells": compared, "differing": differing, "unevaluated": unevaluated, "first": first}
    return {"state": FAIL if differing else PASS, **counts}


def _say(line: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
