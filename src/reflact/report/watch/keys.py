"""What a person presses, out of the bytes that a terminal sends."""

from __future__ import annotations

import re
from collections.abc import Iterator

UP, DOWN, PAGE_UP, PAGE_DOWN = "up", "down", "page up", "page down"
HOME, END, LEFT, RIGHT = "home", "end", "left", "right"
ENTER, ESCAPE, BACK = "enter", "escape", "back"

_SEQUENCES = {
    "\x1b[A": UP, "\x1bOA": UP, "\x1b[B": DOWN, "\x1bOB": DOWN,
    "\x1b[C": RIGHT, "\x1bOC": RIGHT, "\x1b[D": LEFT, "\x1bOD": LEFT,
    "\x1b[5~": PAGE_UP, "\x1b[6~": PAGE_DOWN,
    "\x1b[H": HOME, "\x1bOH": HOME, "\x1b[1~": HOME, "\x1b[7~": HOME,
    "\x1b[F": END, "\x1bOF": END, "\x1b[4~": END, "\x1b[8~": END,
}  # fmt: skip
_SINGLE = {"\r": ENTER, "\n": ENTER, "\x7f": BACK, "\x08": BACK}
_WHOLE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)", re.DOTALL)
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?")


class Keys:
    """Turns bytes into keys; a sequence may come in pieces, as it does over a slow line."""

    def __init__(self) -> None:
        self._pending = ""

    @property
    def undecided(self) -> bool:
        """Whether what came last may be the Escape key or the beginning of a sequence."""
        return bool(self._pending)

    def feed(self, data: bytes) -> list[str]:
        """Return the keys that are complete; a character that is no key of ours stands for itself."""
        text, self._pending = self._pending + data.decode("utf-8", "ignore"), ""
        return list(self._split(text))

    def flush(self) -> list[str]:
        """Nothing more came for a moment: what is pending was the Escape key."""
        pending, self._pending = self._pending, ""
        return [ESCAPE] if pending else []

    def _split(self, text: str) -> Iterator[str]:
        while text:
            whole = _WHOLE.match(text)
            if whole is not None:
                if whole[0] in _SEQUENCES:
                    yield _SEQUENCES[whole[0]]
                text = text[whole.end() :]
                continue
            begun = _BEGUN.fullmatch(text)
            if begun is not None:
                self._pending = text
                return
            if text[0] == "\x1b":
                yield ESCAPE
            else:
                yield _SINGLE.get(text[0], text[0])
            text = text[1:]
