"""Codex through its official Python SDK, in a process of its own for each item."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import reflact.harness
from reflact.confine import Mount, this_python
from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import Access, Launch, task_text
from reflact.harness.agent_report import Events
from reflact.harness.codex_exec import Codex
from reflact.harness.codex_sdk_events import CodexSdkEvents
from reflact.harness.workspace import Workspace

_DRIVER = Path(reflact.harness.__file__).parent / "codex_sdk_driver.py"
_INSIDE = "/opt/driver/codex_sdk_driver.py"
# The packages' place is an argument and no variable, so that the student's shell is the same as without the SDK.
_START = "import runpy, sys; sys.path[:0] = sys.argv[2:]; runpy.run_path(sys.argv[1], run_name='__main__')"


@dataclass(slots=True)
class CodexSdk(Codex):
    """Runs the SDK inside the confinement, which starts Codex there. Its own sandbox is the same."""

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Return the driver's command; everything else of the task goes to its standard input."""
        python = this_python()
        task = {
            "program": self._inside(place.confined),
            "settings": self._settings(access),
            "folder": place.work_inside,
            "model": self.model.student,
            "sandbox": self._sandbox,
            "images": self._prepare(place, assignment),
            "prompt": task_text(assignment.prompt).decode(),
        }
        driver = Mount(_DRIVER, _INSIDE)
        packages = python.env["PYTHONPATH"].split(":")
        argv = (*python.argv, "-c", _START, driver.inside, *packages)
        mounts = (*self._mounts(place.confined), *python.mounts, driver)
        return Launch(argv, self._env(place, access), mounts, json.dumps(task).encode())

    def events(self) -> Events:
        """Return a fresh reader of what the SDK tells."""
        return CodexSdkEvents()


def sdk_version() -> str | None:
    """Return the version of the installed SDK, None if there is none."""
    return None if importlib.util.find_spec("openai_codex") is None else version("openai-codex")
