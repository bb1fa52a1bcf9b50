"""The Claude Code CLI, `claude -p`."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from reflact.config.schema import Config
from reflact.confine import Confinement, Mount
from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import Access, Launch, image_files, task_text
from reflact.harness.claude_events import ClaudeEvents
from reflact.harness.programs import Program
from reflact.harness.workspace import Workspace

EFFORTS = ("low", "medium", "high")
_INSIDE = "/opt/claude/claude"
_TOOLS = "Bash,Read,Edit"
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
        config: `model.student`, `model.student_reasoning_effort`, `env.max_turns`, `env.max_completion_tokens`.
    """

    program: Program
    config: Config

    async def settle(self, confinement: Confinement) -> str:
        """It has no sandbox of its own to be tried."""
        if confinement.confined:
            return ""
        return "Claude Code has no sandbox of its own: its commands may do whatever you may"

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Return `claude -p` with a configuration of its own."""
        place.put(image_files(assignment.images))
        system = place.put_home("claude-system.md", assignment.system)
        argv = [
            *(_INSIDE if place.confined else str(self.program.path), "-p"),
            *("--output-format", "stream-json", "--verbose", "--model", self.config.model.student),
            *("--max-turns", str(self.config.env.max_turns), "--bare"),
            *("--tools", _TOOLS, "--allowedTools", _TOOLS),
        ]
        if assignment.system.strip():
            argv += ["--append-system-prompt-file", system]
        effort = self.config.model.student_reasoning_effort
        if effort in EFFORTS:
            argv += ["--effort", effort]
        stdin = task_text(assignment.prompt)
        if assignment.images:
            argv += ["--input-format", "stream-json"]
            stdin = _with_images(assignment)
        env = self._env(place)
        if access.direct:
            env["CLAUDE_CODE_MAX_RETRIES"] = _OWN_RETRIES
        if access.header == "x-api-key":
            env["ANTHROPIC_API_KEY"] = access.key
        else:
            place.put_home("claude-key", access.key)
            argv += ["--settings", json.dumps({"apiKeyHelper": f"/bin/cat {place.home_inside}/claude-key"})]
        env["ANTHROPIC_BASE_URL"] = access.url
        mounts = (Mount(self.program.path, _INSIDE),) if place.confined else ()
        return Launch(tuple(argv), env, mounts, stdin)

    def events(self) -> ClaudeEvents:
        """Return a fresh reader of its events."""
        return ClaudeEvents()

    def _env(self, place: Workspace) -> dict[str, str]:
        return {
            **_QUIET,
            "HOME": place.home_inside,
            "CLAUDE_CONFIG_DIR": f"{place.home_inside}/claude",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(self.config.env.max_completion_tokens),
            "TMPDIR": "/tmp" if place.confined else f"{place.home_inside}/tmp",
            "SHELL": "/bin/bash",
        }


def _with_images(assignment: Assignment) -> bytes:
    """Return the task as one message with its images; it must be read from a pipe, which it is."""
    blocks: list[dict[str, object]] = [
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
    message = {"type": "user", "message": {"role": "user", "content": blocks}}
    return json.dumps(message).encode() + b"\n"
