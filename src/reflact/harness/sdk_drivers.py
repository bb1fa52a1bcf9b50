"""Starting the small programs that drive an agent through its Python SDK, each in a process of its own.

A driver runs where the agent runs, inside the confinement: one process an item, which sees what the agent sees.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import reflact.harness
from reflact.confine import Mount, this_python
from reflact.harness.agent_cli import Launch

CODEX, CLAUDE = ("openai_codex", "openai-codex"), ("claude_agent_sdk", "claude-agent-sdk")
"""Module and distribution of each SDK."""
# The packages' place is an argument and no variable, so that the student's shell is the same as without the SDK.
_START = "import runpy, sys; sys.path[:0] = sys.argv[2:]; runpy.run_path(sys.argv[1], run_name='__main__')"


def drive(name: str, task: Mapping[str, Any], env: Mapping[str, str], mounts: tuple[Mount, ...]) -> Launch:
    """Return the launch of a driver of this package.

    Args:
        name: Its file.
        task: What it reads, as JSON.
        env: Its environment, which the agent's program inherits.
        mounts: What the agent's program needs to be shown.
    """
    python = this_python()
    driver = Mount(Path(reflact.harness.__file__).parent / name, f"/opt/driver/{name}")
    packages = python.env["PYTHONPATH"].split(":")
    argv = (*python.argv, "-c", _START, driver.inside, *packages)
    # The packages' folder may hold reflact itself, with items and their answers.
    return Launch(argv, env, (*mounts, *python.mounts, driver), json.dumps(task).encode(), python.hidden)


def sdk_version(sdk: tuple[str, str]) -> str | None:
    """Return the version of an SDK, None if it is not installed."""
    module, distribution = sdk
    return None if importlib.util.find_spec(module) is None else version(distribution)
