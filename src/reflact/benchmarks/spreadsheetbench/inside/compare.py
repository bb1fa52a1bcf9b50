"""Compares produced workbooks with their references: a JSON task on standard input, a line of JSON a case out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.benchmarks.spreadsheetbench.inside.positions import Area, cell_name, parse
from reflact.benchmarks.spreadsheetbench.inside.reading import Book, Cells, Unreadable, Unrecalculated
from reflact.benchmarks.spreadsheetbench.inside.values import NotEvaluated, kind, same

PASS, FAIL, UNREADABLE, NOT_EVALUABLE = "pass", "fail", "unreadable", "not_evaluable"
READ, UNRECALCULATED = "read", "unrecalculated"
WITHOUT_RESULT = "have no saved result"
GOLDEN, PRODUCED, COPY = "golden", "produced", "{}_copy"


def main() -> None:
    """Do the task `{position, cases: [{golden, produced}]}`.

    A case may also hold `golden_copy` and `produced_copy`, which are recalculated copies.

    For each case comes a line with `state` `read` as soon as the reference is read, so that whoever waits knows whose
    fault it is if nothing more comes, and then one with the verdict. Its `needs` names the workbook that holds formulas
    without results where they matter, and `state` is `unrecalculated` where a copy is of no use.
    """
    task = json.load(sys.stdin)
    areas = parse(task["position"])
    for case in task["cases"]:
        _say(_verdict(case, areas))


def _verdict(case: Mapping[str, str | None], areas: Sequence[Area]) -> Mapping[str, Any]:
    try:
        return _compared(case, areas)
    except Unrecalculated as error:
        return {"state": UNRECALCULATED, "note": str(error)}


def _compared(case: Mapping[str, str | None], areas: Sequence[Area]) -> Mapping[str, Any]:
    try:
        expected = expected_cells(_book(case, GOLDEN), areas)
    except Unrecalculated:
        raise
    except Unreadable as error:
        return {"state": NOT_EVALUABLE, "note": str(error)}
    _say({"state": READ})
    problem = problem_of(expected)
    if problem:
        blank = any(isinstance(value, NotEvaluated) for _, cells in expected for value in (cells or {}).values())
        return {"state": NOT_EVALUABLE, "note": problem, **({"needs": GOLDEN} if blank else {})}
    if case["produced"] is None:
        return {"state": FAIL, "cells": 0, "differing": 0, "first": "", "note": "there is no produced workbook"}
    try:
        return compare(expected, _book(case, PRODUCED), areas)
    except Unrecalculated:
        raise
    except Unreadable as error:
        return {"state": UNREADABLE, "note": str(error)}


def _book(case: Mapping[str, str | None], side: str) -> Book:
    copy = case.get(COPY.format(side))
    return Book(Path(str(case[side])), None if copy is None else Path(copy))


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
            return f"{len(blank)} formulas of the reference {WITHOUT_RESULT}, the first in {name}!{blank[0]}"
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
    return {"state": FAIL if differing else PASS, **counts, **({"needs": PRODUCED} if unevaluated else {})}


def _say(line: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
