"""Text for people: foreign text made harmless, numbers made short.

Ids, replies, skills and server messages come from data sets and models. Before any of it reaches a terminal,
control characters (and with them ANSI sequences) are taken out here; rich markup is never parsed, because
renderers build `rich.text.Text` objects.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Terminal sequences go as a whole, so that no `[31m` stays behind.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])|\x9b[0-?]*[ -/]*[@-~]")
# One character for one, so that boxes stay aligned.
_ASCII = str.maketrans({"·": "-", "…": "~", "×": "x", "–": "-"})


def clean(text: object, limit: int = 0) -> str:
    """Return foreign text on one line, without control or direction characters.

    Args:
        text: Anything; None becomes `""`.
        limit: Most characters of the result, an ellipsis included; 0 is no bound.
    """
    if text is None:
        return ""
    source = str(text)
    if limit:
        # Cleaning looks at each character: a reply of megabytes is cut first.
        source = source[: 4 * limit + 64]
    source = _ANSI.sub("", source)
    line = " ".join("".join(" " if _invisible(char) else char for char in source).split())
    return shorten(line, limit) if limit else line


def clean_line(text: str) -> str:
    """Return one line of a document with its blanks kept, tabs widened and control characters shown as `?`."""
    return "".join("?" if _invisible(char) else char for char in _ANSI.sub("", text).expandtabs(4))


def shorten(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters with an ellipsis."""
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def to_ascii(text: str) -> str:
    """Return our own typography in ASCII; everything else outside ASCII becomes `?`."""
    return text.translate(_ASCII).encode("ascii", "replace").decode("ascii")


def _invisible(char: str) -> bool:
    return not (" " <= char <= "~") and unicodedata.category(char) in _INVISIBLE


def count(number: float | None) -> str:
    """Return a count in at most five characters: `981`, `12.3k`, `4.56M`."""
    if number is None:
        return "–"
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size * 0.9995:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def duration(seconds: float | None) -> str:
    """Return a duration with two units at most: `45 s`, `3 min 20 s`, `2 h 05 min`, `3 d 4 h`."""
    if seconds is None:
        return "–"
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86400} d {whole % 86400 // 3600} h"


def age(seconds: float | None) -> str:
    """Return how long ago something was, in one unit: `12 s ago`, `7 min ago`, `3 h ago`, `2 d ago`."""
    if seconds is None:
        return ""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and unit == "min"):
            return f"{seconds / size:.0f} {unit} ago"
    return f"{max(seconds, 0):.0f} s ago"


def money(usd: float | None) -> str:
    """Return US dollars; a price that is not known is a dash, never a zero."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 0.01 or usd == 0 else f"${usd:.4f}"


def score(value: float | None) -> str:
    """Return a score in [0, 1] with three decimals."""
    return "–" if value is None else f"{value:.3f}"


def interval(bounds: object) -> str:
    """Return `[low, high]`, or nothing where there is no interval."""
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        return ""
    if not all(isinstance(bound, int | float) for bound in bounds):
        return ""
    return f"[{bounds[0]:.3f}, {bounds[1]:.3f}]"


def counted(counts: Mapping[str, int]) -> str:
    """Return counts as `429 ×3, connection ×1`, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{clean(name, 24)} ×{number}" for name, number in ordered if number)


def plural(number: int, noun: str) -> str:
    """Return `1 row`, `2 rows`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
