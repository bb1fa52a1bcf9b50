"""The Claude Code CLI, `claude -p`."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from reflact.config.schema import Config
from reflact.confine import Confinement, Mount
from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import KEY_FILE, KEY_S, Access, Launch, image_files, task_text
from reflact.harness.claude_events import ClaudeEvents
from reflact.harness.programs import Program
from reflact.harness.workspace import Workspace

EFFORTS = ("low", "medium", "high")
_INSIDE = "/opt/claude/claude"
_TOOLS, _SEARCH = ("Bash", "Read", "Edit"), ("WebSearch",)
# The program's own clock must not end a request that the relay holds back.
_WAIT_MS = 3_600_000
_OWN_RETRIES = "6"
_QUIET = {
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "API_FORCE_IDLE_TIMEOUT": "0",
    "API_TIMEOUT_MS": str(_WAIT_MS),
}


@dataclass(frozen=True, slots=True)
class ClaudeCode:
    """Runs it, one process an item.

    Attributes:
        program: The CLI.
        config: `model.student`, `model.student_reasoning_effort`, `model.claude_code_exec_web_search`,
            `env.max_turns`, `env.max_completion_tokens`.
    """

    program: Program
    config: Config

    async def settle(self, confinement: Confinement) -> str:
        """It has no sandbox of its own to be tried."""
        if not confinement.confined:
            return "Claude Code has no sandbox of its own: its commands may do whatever you may"
        model = self.config.model
        if not model.exec_relay and not model.claude_code_exec_network_access:
            return (
                "model.exec_relay=false: Claude Code's commands have the machine's network too, although "
                "model.claude_code_exec_network_access=false"
            )
        return ""

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Return `claude -p` with a configuration of its own."""
        place.put(image_files(assignment.images))
        options = self._options(place, access)
        tools = ",".join(options["tools"])
        argv = [
            *(self._inside(place.confined), "-p", "--output-format", "stream-json", "--verbose"),
            *("--model", options["model"], "--max-turns", str(options["max_turns"])),
            *("--tools", tools, "--allowedTools", tools, "--setting-sources="),
        ]
        argv += [part for name in ("effort", "settings") if name in options for part in (f"--{name}", options[name])]
        for name, value in self._flags(place, assignment).items():
            argv += [f"--{name}"] if value is None else [f"--{name}", value]
        stdin = task_text(assignment.prompt)
        if assignment.images:
            argv += ["--input-format", "stream-json"]
            # It must be read from a pipe, which it is.
            stdin = json.dumps(message(assignment)).encode() + b"\n"
        return Launch(tuple(argv), self._env(place, access), self._mounts(place.confined), stdin)

    def events(self) -> ClaudeEvents:
        """Return a fresh reader of its events."""
        return ClaudeEvents()

    def _options(self, place: Workspace, access: Access) -> dict[str, Any]:
        """Return what is asked of the program, by the names that its SDK has for it; writes the key's file."""
        model = self.config.model
        options: dict[str, Any] = {
            "model": model.student,
            "max_turns": self.config.env.max_turns,
            "tools": [*_TOOLS, *(_SEARCH if model.claude_code_exec_web_search else ())],
        }
        if model.student_reasoning_effort in EFFORTS:
            options["effort"] = model.student_reasoning_effort
        if access.header != "x-api-key":
            helper = f"/bin/cat {place.put_home(KEY_FILE, access.key)}"
            options["settings"] = json.dumps({"apiKeyHelper": helper})
        return options

    def _flags(self, place: Workspace, assignment: Assignment) -> dict[str, str | None]:
        """Return what the SDK has no names for."""
        flags: dict[str, str | None] = {"bare": None}
        if self.config.model.claude_code_exec_web_search:  # its bare mode knows no such tool
            flags = dict.fromkeys(("strict-mcp-config", "disable-slash-commands"))
        if assignment.system.strip():
            # A file, since a skill may be longer than an argument may be.
            flags["append-system-prompt-file"] = place.put_home("claude-system.md", assignment.system)
        return flags

    def _env(self, place: Workspace, access: Access) -> dict[str, str]:
        env = {
            **_QUIET,
            "HOME": place.home_inside,
            "CLAUDE_CONFIG_DIR": f"{place.home_inside}/claude",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(self.config.env.max_completion_tokens),
            "TMPDIR": "/tmp" if place.confined else f"{place.home_inside}/tmp",
            "SHELL": "/bin/bash",
            "ANTHROPIC_BASE_URL": access.url,
        }
        if access.direct:
            env["CLAUDE_CODE_MAX_RETRIES"] = _OWN_RETRIES
        if access.header == "x-api-key":
            env["ANTHROPIC_API_KEY"] = access.key
        else:
            env["CLAUDE_CODE_API_KEY_HELPER_TTL_MS"] = str(1000 * KEY_S)
        return env

    def _inside(self, confined: bool) -> str:
        return _INSIDE if confined else str(self.program.path)

    def _mounts(self, confined: bool) -> tuple[Mount, ...]:
        return (Mount(self.program.path, _INSIDE),) if confined else ()


def message(assignment: Assignment) -> dict[str, Any]:
    """Return the task as one message with its images."""
    blocks: list[dict[str, Any]] = [
        {
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.media_type,
                "data": base64.b64encode(image.data).decode(),
            },
        }
        for image in assignment.images
    ]
    blocks.append({"type": "text", "text": task_text(assignment.prompt).decode()})
    return {"type": "user", "message": {"role": "user", "content": blocks}}
