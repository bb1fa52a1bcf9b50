"""Drives Claude Code through its Python SDK; runs as a program of its own, inside the confinement.

It reads one task as JSON from standard input and writes what the SDK tells as lines of JSON, in the words of the CLI's
own events. It knows nothing of reflact, whose package is not there where it runs.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from claude_agent_sdk import (
    AssistantMessage,
    ClaudeAgentOptions,
    ResultMessage,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    query,
)

_LONGEST_LINE = 64 * 1024 * 1024
_BLOCKS: dict[type[Any], str] = {
    TextBlock: "text",
    ThinkingBlock: "thinking",
    ToolUseBlock: "tool_use",
    ToolResultBlock: "tool_result",
}


def event_of(told: Any) -> dict[str, Any] | None:
    """Return what the SDK tells as the event that it was made from; None if it is not needed."""
    if isinstance(told, AssistantMessage):
        said = {"model": told.model, "content": blocks_of(told.content), "usage": told.usage}
        return {"type": "assistant", "message": said}
    if isinstance(told, UserMessage):
        return {"type": "user", "message": {"content": blocks_of(told.content)}}
    if isinstance(told, ResultMessage):
        return {"type": "result", **asdict(told)}
    if isinstance(told, SystemMessage):
        return {**told.data, "type": "system", "subtype": told.subtype}
    return None


def blocks_of(content: Any) -> Any:
    """Return the blocks of a message as objects with their types; those of other kinds are left out."""
    if not isinstance(content, list):
        return content
    return [{"type": _BLOCKS[type(block)], **asdict(block)} for block in content if type(block) in _BLOCKS]


async def run(task: dict[str, Any]) -> None:
    """Run one conversation."""

    async def given() -> AsyncIterator[dict[str, Any]]:
        yield task["message"]

    options = ClaudeAgentOptions(
        **task["options"],
        allowed_tools=task["options"]["tools"],
        cli_path=task["program"],
        cwd=task["folder"],
        setting_sources=[],
        # Without this the SDK replaces the program's own system prompt by an empty one.
        system_prompt={"type": "preset", "preset": "claude_code"},
        extra_args=task["flags"],
        max_buffer_size=_LONGEST_LINE,
    )
    async for told in query(prompt=given(), options=options):
        event = event_of(told)
        if event is not None:
            sys.stdout.write(json.dumps(event, ensure_ascii=False, default=str) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(run(json.load(sys.stdin)))
