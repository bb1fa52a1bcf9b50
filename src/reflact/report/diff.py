"""What training did to the skill, as a unified diff of bounded length."""

from __future__ import annotations

import difflib
from pathlib import Path

from reflact.report.text import clean_line, shorten

MAX_LINES = 60
MAX_COLUMNS = 240


def skill_diff(initial: Path, best: Path, max_lines: int = MAX_LINES) -> tuple[list[str], int]:
    """Return the diff's lines and how many were left out; no lines if a file is missing or nothing changed."""
    before, after = _lines(initial), _lines(best)
    if before is None or after is None:
        return [], 0
    diff = difflib.unified_diff(before, after, initial.name, best.name, lineterm="", n=1)
    lines = [shorten(clean_line(line), MAX_COLUMNS) for line in diff]
    return lines[:max_lines], max(0, len(lines) - max_lines)


def style_of(line: str) -> str:
    """Return the style of a line of a diff."""
    if line.startswith(("+++", "---")):
        return "bold"
    return {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")


def _lines(path: Path) -> list[str] | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
