"""Codex through its official Python SDK, in a process of its own for each item."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import Access, Launch, task_text
from reflact.harness.agent_report import Events
from reflact.harness.codex_exec import Codex
from reflact.harness.codex_sdk_events import CodexSdkEvents
from reflact.harness.sdk_drivers import drive
from reflact.harness.workspace import Workspace

_DRIVER = "codex_sdk_driver.py"


@dataclass(slots=True)
class CodexSdk(Codex):
    """Runs the SDK inside the confinement, which starts Codex there. Its own sandbox is the same."""

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Return the driver's command; everything else of the task goes to its standard input."""
        task = {
            "program": self._inside(place.confined),
            "settings": self._settings(access, place.home_inside),
            "folder": place.work_inside,
            "model": self.model.student,
            "sandbox": self._sandbox,
            "images": self._prepare(place, assignment, access),
            "prompt": task_text(assignment.prompt).decode(),
        }
        return drive(_DRIVER, task, self._env(place, access), self._mounts(place.confined))

    def events(self) -> Events:
        """Return a fresh reader of what the SDK tells."""
        return CodexSdkEvents()
