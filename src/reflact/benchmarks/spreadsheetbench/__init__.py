"""SpreadsheetBench: the student writes a Python script that edits a workbook, and the script is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reflact.benchmarks.spreadsheetbench.benchmark import SpreadsheetBench

__all__ = ["SpreadsheetBench"]


def __getattr__(name: str) -> Any:
    # The programs in `inside` start hundreds of times and need nothing of the benchmark itself.
    if name == "SpreadsheetBench":
        from reflact.benchmarks.spreadsheetbench.benchmark import SpreadsheetBench

        return SpreadsheetBench
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
