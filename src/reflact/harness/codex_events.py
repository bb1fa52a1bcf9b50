"""Events of `codex exec --json`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.usage import Usage
from reflact.harness.agent_report import Report, count, flat

# Said for every repetition, also of those that succeed.
_RETRY = re.compile(r"^\s*reconnecting", re.IGNORECASE)
_STATUS = re.compile(r"(?:unexpected|last) status:?\s+(\d{3})")


def status_in(message: str) -> int | None:
    """Return the HTTP status that a message names, if it does."""
    found = _STATUS.search(message)
    return int(found[1]) if found else None


@dataclass(slots=True)
class CodexEvents:
    """Reads them: the last message counts, and only if the turn was completed."""

    report: Report = field(default_factory=Report)

    def event(self, event: Mapping[str, Any]) -> None:
        """Read one event; unknown ones are passed over."""
        kind = event.get("type")
        item = event.get("item")
        if kind == "item.completed" and isinstance(item, Mapping):
            self._item(item)
        elif kind == "turn.completed":
            self._completed(event.get("usage"))
        elif kind == "turn.failed":
            error = event.get("error")
            self._failed(flat(error.get("message")) if isinstance(error, Mapping) else "the turn failed")
        elif kind == "error":
            message = flat(event.get("message"))
            if _RETRY.match(message):
                self.report.retries += 1
            else:
                self._failed(message)

    def finish(self) -> None:
        """Nothing is left to be done."""

    def _completed(self, usage: Any) -> None:
        report = self.report
        report.completed, report.failure, report.status = True, "", None
        names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")
        report.usage = Usage.reported(*(count(usage, name) for name in names))

    def _failed(self, message: str) -> None:
        self.report.completed = False
        self.report.failure = message or "an error without a message"
        self.report.status = status_in(message)

    def _item(self, item: Mapping[str, Any]) -> None:
        report, kind = self.report, item.get("type")
        if kind == "agent_message":
            report.text = flat(item.get("text"))
            report.say("assistant", report.text)
        elif kind == "command_execution":
            end = item.get("exit_code")
            output = flat(item.get("aggregated_output"))
            report.say("tool", f"$ {item.get('command', '')}\n{output}\n[exit code {end}]")
        elif kind == "reasoning":
            report.say("assistant", f"[thinking] {flat(item.get('text'))}")
        else:
            rest = {name: value for name, value in item.items() if name not in ("id", "type", "status")}
            report.say("tool", f"[{kind}] {json.dumps(rest, ensure_ascii=False)}")
