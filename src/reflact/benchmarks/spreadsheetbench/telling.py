"""What went wrong with a program, in words that are the same at every run."""

from __future__ import annotations

import re
from pathlib import Path

from reflact.confine import ConfinedResult, Ending

_MOST_CHARS = 2000
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_ENDED = {
    Ending.OUTPUT: "The script printed too much and was stopped.",
    Ending.MEMORY: "The script used too much memory and was stopped.",
    Ending.PROCESSES: "The script started too many processes and was stopped.",
    Ending.DISK: "The script wrote too many or too large files and was stopped.",
}
_SIGNALS = 128


def problem_of(result: ConfinedResult, folder: Path, seconds: float) -> str:
    """Return what went wrong with a script, `""` if it ended well.

    Args:
        result: How it ended.
        folder: Its folder, whose name means nothing to the student and differs from run to run.
        seconds: What it was allowed to take.
    """
    if result.ending is Ending.TIME:
        return f"The script did not end within {seconds:g} s and was stopped."
    if result.ending is not Ending.EXITED:
        return _ENDED[result.ending]
    if result.code == 0:
        return ""
    said = _ADDRESS.sub("0x...", _shortened(result.stderr.decode("utf-8", "replace"), folder)).strip()
    if not said and result.code is not None and result.code > _SIGNALS:
        return f"The script was ended by signal {result.code - _SIGNALS}."
    return (
        f"The script failed with exit code {result.code}:\n{said}"
        if said
        else (f"The script failed with exit code {result.code} and no message.")
    )


def _shortened(text: str, folder: Path) -> str:
    text = text.replace(f"{folder}/", "").replace(str(folder), ".")
    return text if len(text) <= _MOST_CHARS else f"[...]\n{text[-_MOST_CHARS:]}"
