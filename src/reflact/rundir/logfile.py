"""The handler of a run's log file."""

from __future__ import annotations

import logging


class LogFile(logging.FileHandler):
    """Appends to a file; that it cannot be opened (a full disk) never makes the code fail that only wanted to log.

    The standard handler guards its writes like this, but not the opening that `delay` puts off.
    """

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)
