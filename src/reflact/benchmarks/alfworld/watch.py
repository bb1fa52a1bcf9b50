"""Watching for commands that change nothing."""

from __future__ import annotations

import logging
from dataclasses import dataclass

LOG = logging.getLogger(__name__)


@dataclass(slots=True)
class CommandWatch:
    """Says once if a large share of all commands is not possible: then prompts and engine may not fit each other.

    Attributes:
        bound: The share above which it is said.
        least: Commands before anything is said.
    """

    bound: float = 0.3
    least: int = 200
    commands: int = 0
    nothing: int = 0
    said: bool = False

    def add(self, commands: int, nothing: int) -> None:
        """Count the commands of a finished item."""
        self.commands += commands
        self.nothing += nothing
        if not self.said and self.commands >= self.least and self.nothing > self.bound * self.commands:
            self.said = True
            LOG.warning(
                "%d of %d commands changed nothing (%.0f%%): the student does not copy commands from the list, or "
                "skill and games use different commands",
                self.nothing,
                self.commands,
                100 * self.nothing / self.commands,
            )
