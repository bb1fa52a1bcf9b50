"""Finding the script in a reply."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})[ \t]*(?P<kind>[\w+-]*)[^\n`]*$")
_PYTHON = ("python", "py", "python3")


@dataclass(frozen=True, slots=True)
class Script:
    """A script found in a reply.

    Attributes:
        text: The script as it was written.
        whole: Its block was closed, so that it cannot have been cut.
    """

    text: str
    whole: bool


def extract(reply: str) -> Script | None:
    """Return the script of a reply, None if there is none.

    It is the last Python block, else the last block of no kind, else a reply without blocks that speaks of both paths.
    A block ends at a fence of its own kind on a line of its own, so that a script may hold fences inside its texts.
    """
    blocks = [block for block in _blocks(reply) if block[1].text.strip()]
    for kinds in (_PYTHON, ("",)):
        own = [script for kind, script in blocks if kind in kinds]
        if own:
            return next((script for script in reversed(own) if script.whole), own[-1])
    if not blocks and "INPUT_PATH" in reply and "OUTPUT_PATH" in reply:
        return Script(reply, whole=False)
    return None


def has_whole_script(reply: str) -> bool:
    """Whether a reply holds a script that cannot have been cut."""
    script = extract(reply)
    return script is not None and script.whole


def _blocks(reply: str) -> list[tuple[str, Script]]:
    blocks: list[tuple[str, Script]] = []
    opened: tuple[str, str] | None = None
    lines: list[str] = []
    for line in reply.split("\n"):
        fence = _FENCE.match(line.rstrip("\r"))
        if opened is None:
            if fence is not None:
                opened, lines = (fence["mark"], fence["kind"].lower()), []
        elif fence is not None and not fence["kind"] and _closes(fence["mark"], opened[0]):
            blocks.append((opened[1], Script(_joined(lines), whole=True)))
            opened = None
        else:
            lines.append(line)
    if opened is not None:
        blocks.append((opened[1], Script(_joined(lines), whole=False)))
    return blocks


def _closes(mark: str, opening: str) -> bool:
    return mark[0] == opening[0] and len(mark) >= len(opening)


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
