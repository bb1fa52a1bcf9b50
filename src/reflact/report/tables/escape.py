"""Foreign text made harmless in each format: ids, models and reasons come from data."""

from __future__ import annotations

import re

from reflact.report.text import clean

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
        "|": r"\textbar{}", '"': r"\textquotedbl{}", "±": r"\ensuremath{\pm}", "–": "--", "…": r"\ldots{}",
        "·": r"\textperiodcentered{}", "×": r"\ensuremath{\times}", "[": "{[}", "]": "{]}", "`": r"\textasciigrave{}",
    }
)  # fmt: skip
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~&!])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def markdown(text: object) -> str:
    """Return text for a Markdown table: one line, without markup."""
    return _MARKDOWN.sub(r"\\\1", clean(text))


def latex(text: object) -> str:
    """Return text for LaTeX, without commands."""
    return clean(text).translate(_LATEX)


def csv_text(text: str) -> str:
    """Return text for a CSV cell: one line, and nothing that a spreadsheet would take for a formula."""
    line = clean(text)
    return f"'{line}" if line.startswith(_FORMULA) else line
