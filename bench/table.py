"""Plain tables."""

from __future__ import annotations

from collections.abc import Sequence


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str] = ()) -> None:
    """Print a table: the first column is text, the others are figures."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        first, rest = (
            row[0].ljust(widths[0]),
            (text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)),
        )
        print("  " + "  ".join([first, *rest]).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))
    for note in notes:
        print(f"  {note}")
    print(end="", flush=True)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"
    return str(value)


def share(part: float, whole: float) -> str:
    """Return a ratio as it is shown."""
    return f"{part / whole:.3f}" if whole else "-"
