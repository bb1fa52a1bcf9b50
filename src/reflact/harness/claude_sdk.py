"""Claude Code through its official Python SDK, in a process of its own for each item."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import Access, Launch, image_files
from reflact.harness.claude_code_exec import ClaudeCode, message
from reflact.harness.sdk_drivers import drive
from reflact.harness.workspace import Workspace

_DRIVER = "claude_sdk_driver.py"


@dataclass(frozen=True, slots=True)
class ClaudeSdk(ClaudeCode):
    """Runs the SDK inside the confinement, which starts Claude Code there. The driver tells the CLI's own events."""

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Return the driver's command; everything else of the task goes to its standard input."""
        place.put(image_files(assignment.images))
        task = {
            "program": self._inside(place.confined),
            "folder": place.work_inside,
            "options": self._options(place, access),
            "flags": self._flags(place, assignment),
            "message": message(assignment),
        }
        return drive(_DRIVER, task, self._env(place, access), self._mounts(place.confined))
