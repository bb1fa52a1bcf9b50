"""What the data check looks for in SpreadsheetBench."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.spreadsheetbench.inside.compare import WITHOUT_RESULT
from reflact.benchmarks.spreadsheetbench.workshop import Workshop, WorkshopError
from reflact.confine import Choice, ConfinementError
from reflact.core.names import Part

T = TypeVar("T")
_SHOWN = 5


def confinement_finding(choice: Choice) -> list[Finding]:
    """Warn where scripts are not confined."""
    if choice.confinement.confined:
        return []
    message = (
        f"model-written scripts run WITHOUT confinement ({choice.reason}): they can read and change whatever this user "
        "can, the references included, and use the network. Rows are marked `unsandboxed`"
    )
    return [Finding("warning", "unsandboxed", message)]


def reference_findings(split: Split, workshop: Workshop) -> list[Finding]:
    """Warn of items that no script can do, because nothing can be compared with their references."""
    items = [item for part in Part for item in split.parts[part]]
    try:
        problems = _finished(workshop.reference_problems(items))
    except (ConfinementError, WorkshopError) as error:
        return [Finding("warning", "references_unchecked", f"the references could not be checked: {error}")]
    if not problems:
        return []
    first = next(iter(problems.values()))
    message = (
        f"the references of {len(problems)} items cannot be evaluated ({_listed(list(problems))}): {first}. "
        f"{_consequence(workshop.office is not None, problems.values())}"
    )
    # A run in which nothing can be compared measures nothing: most likely the files are not what they should be.
    hopeless = len(problems) == len(items) and (
        workshop.office is None or not any(map(_lacks_results, problems.values()))
    )
    return [Finding("error" if hopeless else "warning", "not_evaluable", message)]


def _consequence(office: bool, problems: Iterable[str]) -> str:
    scored = "left out of an item's score, and an item with no other case scores 0"
    if not any(map(_lacks_results, problems)):
        return f"Such cases are {scored}"
    whose = "LibreOffice is asked for missing results; cases for which it has none are" if office else "Such cases are"
    return f"{whose} {scored}. Opening and saving a workbook with a spreadsheet program fills missing results in"


def _lacks_results(problem: str) -> bool:
    return WITHOUT_RESULT in problem


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:_SHOWN])) + (" ..." if len(names) > _SHOWN else "")


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where the caller's thread has an event loop under way."""
    with ThreadPoolExecutor(1, "reflact-check") as pool:
        return pool.submit(asyncio.run, work).result()
