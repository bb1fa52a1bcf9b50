"""The live panel on a terminal. Imported only where it is shown."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any, TextIO

from rich.live import Live

from reflact.report.console import make_console
from reflact.report.progress import RunProgress
from reflact.report.render import run_panel


class LivePanel:
    """A panel that is redrawn in place; what else is printed or logged appears above it."""

    def __init__(self, run: RunProgress, stream: TextIO) -> None:
        self._run = run
        self._console = make_console(stream, force_terminal=True)
        # Output that goes to a file must not be drawn into the terminal's stream.
        self._live = Live(
            console=self._console,
            auto_refresh=False,
            redirect_stdout=_same_terminal(sys.stdout),
            redirect_stderr=_same_terminal(sys.stderr),
        )
        self._handlers: list[tuple[logging.StreamHandler[Any], Any]] = []
        self._shown = False

    def event(self, event: Mapping[str, Any]) -> None:
        """Events only change the progress; `tick` draws."""

    def tick(self, now: float) -> None:
        """Draw."""
        if not self._run.facts:
            return
        if not self._shown:
            self._shown = True
            self._live.start()
            self._lift_logging()
        self._live.update(run_panel(self._run, now, self._console.width), refresh=True)

    def close(self) -> None:
        """Leave the last panel on the screen, the cursor visible, and logging as it was."""
        for handler, stream in self._handlers:
            handler.setStream(stream)
        self._handlers.clear()
        if self._shown:
            try:
                self._live.stop()
            finally:
                self._console.show_cursor(True)

    def _lift_logging(self) -> None:
        """Handlers hold the streams of before; lead them through the ones that write above the panel."""
        for handler in logging.getLogger().handlers:
            if not isinstance(handler, logging.StreamHandler) or isinstance(handler, logging.FileHandler):
                continue
            if _same_terminal(handler.stream):
                self._handlers.append((handler, handler.stream))
                handler.setStream(sys.stderr)


def _same_terminal(stream: Any) -> bool:
    try:
        return bool(stream is not None and stream.isatty())
    except ValueError:
        return False
