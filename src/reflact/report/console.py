"""Consoles that take what a terminal can show: rich on any encoding, any width, a terminal or not."""

from __future__ import annotations

import codecs
import errno
import io
from typing import IO, TYPE_CHECKING, Any

from reflact.report.text import to_ascii

if TYPE_CHECKING:
    from rich.console import Console


class AsciiStream(io.TextIOBase):
    """A text stream for terminals without UTF-8: our typography becomes ASCII, the rest escapes."""

    encoding = "ascii"

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text in ASCII."""
        self._stream.write(to_ascii(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream below."""
        self._stream.flush()

    def isatty(self) -> bool:
        """Whether the stream below is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Return the descriptor of the stream below."""
        return self._stream.fileno()


def speaks_utf8(stream: Any) -> bool:
    """Whether a stream takes every character; one without an encoding holds text, not bytes."""
    encoding = getattr(stream, "encoding", None)
    try:
        return encoding is None or codecs.lookup(encoding).name.startswith("utf")
    except LookupError:
        return False


def make_console(stream: IO[str], **options: Any) -> Console:
    """Return a rich console on a stream; markup, emoji codes and automatic highlighting are off if not asked for."""
    from rich.console import Console

    class _Console(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, "nobody reads the output")  # rich would exit with 1: no fault of ours

    target: Any = stream if speaks_utf8(stream) else AsciiStream(stream)
    return _Console(file=target, **{"markup": False, "emoji": False, "highlight": False, **options})
