"""What is printed when a run is over: scores with their intervals, cost, validity, the edits, what to try next."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

from reflact.report.summaries import SummaryView
from reflact.rundir.layout import RunLayout


def print_closing(run: RunLayout | Path | str, *, stream: TextIO | None = None) -> bool:
    """Print the result of a run on a stream (stdout if None).

    Returns:
        Whether there was a result to print; a run without `summary.json` gets a sentence on how to go on.
    """
    from reflact.report.closing_view import closing
    from reflact.report.console import make_console

    layout = run if isinstance(run, RunLayout) else RunLayout(Path(run))
    console = make_console(stream or sys.stdout)
    summary = SummaryView.read(layout)
    if summary is None:
        console.print(
            f"{layout.root} holds no result yet. Where it stands: reflact status {layout.root}. To go on: the same "
            f"command with env.out_root={layout.root} run.resume=true.",
            soft_wrap=True,
        )
        return False
    for part in closing(summary, layout, console.width):
        # Sentences and diffs wrap by the terminal, so that copied paths and lines stay whole.
        console.print(part, soft_wrap=not hasattr(part, "columns"))
    return True
