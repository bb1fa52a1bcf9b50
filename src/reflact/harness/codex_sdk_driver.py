"""Drives Codex through its Python SDK; runs as a program of its own, inside the confinement.

It reads one task as JSON from standard input and writes what the SDK tells as lines of JSON. It knows nothing of
reflact, whose package is not there where it runs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from openai_codex import ApprovalMode, Codex, LocalImageInput, Sandbox, TextInput
from openai_codex.client import CodexConfig
from pydantic import BaseModel


def say(event: dict[str, Any]) -> None:
    """Write one event."""
    sys.stdout.write(json.dumps(event, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run one turn."""
    task = json.load(sys.stdin)
    config = CodexConfig(codex_bin=task["program"], config_overrides=tuple(task["settings"]), cwd=task["folder"])
    with Codex(config) as codex:
        thread = codex.thread_start(
            cwd=task["folder"],
            model=task["model"],
            sandbox=Sandbox(task["sandbox"]),
            approval_mode=ApprovalMode.deny_all,
            ephemeral=True,
        )
        turn = thread.turn([TextInput(task["prompt"]), *map(LocalImageInput, task["images"])])
        for note in turn.stream():
            if isinstance(note.payload, BaseModel):  # what the SDK does not know is not told in one form
                say({"method": note.method, "params": note.payload.model_dump(mode="json", by_alias=True)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
