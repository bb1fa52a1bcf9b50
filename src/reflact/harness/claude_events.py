"""Events of `claude -p --output-format stream-json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from reflact.core.usage import Usage
from reflact.harness.agent_report import Report, count, flat

_SYNTHETIC = "<synthetic>"  # an error of the service, shown as if the model had said it
_LOGIN = ("not logged in", "invalid api key", "please run /login")
_MOST_CALLS = 10_000
_TEXT_FROM_STREAM = "text_from_stream"


@dataclass(slots=True)
class ClaudeEvents:
    """Reads them. Only `is_error` tells success from failure: an API error has the subtype `success` too."""

    report: Report = field(default_factory=Report)
    _said: str = ""

    def event(self, event: Mapping[str, Any]) -> None:
        """Read one event; unknown ones are passed over."""
        kind = event.get("type")
        message = event.get("message")
        if kind == "assistant" and isinstance(message, Mapping):
            self._assistant(message)
        elif kind == "user" and isinstance(message, Mapping):
            self._results(message.get("content"))
        elif kind == "system" and event.get("subtype") == "api_retry":
            self.report.retries += 1
        elif kind == "result" or ("is_error" in event and "subtype" in event):
            self._result(event)

    def finish(self) -> None:
        """Take the text from the stream where the result has none."""
        report = self.report
        if report.completed and not report.text.strip() and self._said.strip():
            report.text = self._said
            report.flags.append(_TEXT_FROM_STREAM)

    def _assistant(self, message: Mapping[str, Any]) -> None:
        if message.get("model") == _SYNTHETIC:
            return
        content = message.get("content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": flat(content)}]:
            if not isinstance(block, Mapping):
                continue
            if block.get("type") == "text":
                self._said = flat(block)
                self.report.say("assistant", self._said)
            elif block.get("type") == "thinking":
                self.report.say("assistant", f"[thinking] {block.get('thinking', '')}")
            elif block.get("type") == "tool_use":
                self._said = ""  # what was said before a tool is no answer
                self.report.say("tool", _call(block))

    def _results(self, content: Any) -> None:
        for block in content if isinstance(content, list) else ():
            if isinstance(block, Mapping) and block.get("type") == "tool_result":
                failed = "[failed] " if block.get("is_error") else ""
                self.report.say("tool", failed + flat(block.get("content")))

    def _result(self, event: Mapping[str, Any]) -> None:
        report = self.report
        text = flat(event.get("result"))
        subtype = str(event.get("subtype", ""))
        status = event.get("api_error_status")
        report.status = status if isinstance(status, int) else None
        report.usage = _usage(event)
        report.flags += ["permission_denied"] if event.get("permission_denials") else []
        if any(words in text.lower() for words in _LOGIN) and not count(event.get("usage"), "output_tokens"):
            report.failure, report.status = text, 401
        elif event.get("is_error") or subtype not in ("success", ""):
            report.failure, report.kind = text or subtype or "an error without a message", subtype
        else:
            report.completed, report.failure, report.text = True, "", text


def _usage(event: Mapping[str, Any]) -> Usage:
    usage = event.get("usage")
    # Unlike elsewhere, cached tokens are not part of `input_tokens`.
    cached = count(usage, "cache_read_input_tokens")
    read = count(usage, "input_tokens", "cache_creation_input_tokens") + cached
    found = Usage.reported(read, cached, count(usage, "output_tokens"), 0)
    # A conversation is several calls.
    return replace(found, calls=max(1, min(count(event, "num_turns"), _MOST_CALLS)))


def _call(block: Mapping[str, Any]) -> str:
    given = block.get("input")
    if block.get("name") == "Bash" and isinstance(given, Mapping) and isinstance(given.get("command"), str):
        return f"$ {given['command']}"
    return f"[{block.get('name')}] {json.dumps(given, ensure_ascii=False)}"
