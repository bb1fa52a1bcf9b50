"""What Codex's Python SDK tells of a turn, as the driver writes it down."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.usage import Usage
from reflact.harness.agent_report import Report, count, flat
from reflact.harness.codex_events import status_in


@dataclass(slots=True)
class CodexSdkEvents:
    """Reads it: the last message counts, and only if the turn was completed."""

    report: Report = field(default_factory=Report)

    def event(self, event: Mapping[str, Any]) -> None:
        """Read one event; unknown ones are passed over."""
        method, params = event.get("method"), event.get("params")
        if not isinstance(params, Mapping):
            return
        item, turn = params.get("item"), params.get("turn")
        if method == "item/completed" and isinstance(item, Mapping):
            self._item(item)
        elif method == "thread/tokenUsage/updated":
            usage = params.get("tokenUsage")
            self._counted(usage.get("total") if isinstance(usage, Mapping) else None)
        elif method == "error":
            self._error(params)
        elif method == "turn/completed" and isinstance(turn, Mapping):
            self._ended(turn)

    def finish(self) -> None:
        """Nothing is left to be done."""

    def _ended(self, turn: Mapping[str, Any]) -> None:
        report = self.report
        report.completed = turn.get("status") == "completed"
        if report.completed:
            report.failure, report.status = "", None
        else:
            error = turn.get("error")
            message = flat(error.get("message")) if isinstance(error, Mapping) else ""
            report.failure = message or report.failure or f"the turn ended as {turn.get('status')}"
            report.status = status_in(report.failure)

    def _error(self, params: Mapping[str, Any]) -> None:
        error = params.get("error")
        if params.get("willRetry"):
            self.report.retries += 1
        else:
            self.report.failure = flat(error.get("message")) if isinstance(error, Mapping) else "an error"
            self.report.status = status_in(self.report.failure)

    def _counted(self, total: Any) -> None:
        names = ("inputTokens", "cachedInputTokens", "outputTokens", "reasoningOutputTokens")
        self.report.usage = Usage.reported(*(count(total, name) for name in names))

    def _item(self, item: Mapping[str, Any]) -> None:
        report, kind = self.report, item.get("type")
        if kind == "agentMessage":
            report.text = flat(item.get("text"))
            report.say("assistant", report.text)
        elif kind == "commandExecution":
            output = flat(item.get("aggregatedOutput"))
            report.say("tool", f"$ {item.get('command', '')}\n{output}\n[exit code {item.get('exitCode')}]")
        elif kind == "reasoning":
            report.say("assistant", f"[thinking] {flat(item.get('summary'))}")
        elif kind != "userMessage":
            rest = {name: value for name, value in item.items() if name not in ("id", "type", "status")}
            report.say("tool", f"[{kind}] {json.dumps(rest, ensure_ascii=False)}")
