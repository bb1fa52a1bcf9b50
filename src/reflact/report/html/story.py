"""The skill's history: what each step changed, on whose evidence, and why it was kept or not."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reflact.core.names import Action
from reflact.core.types import Json
from reflact.optimizer.protected import with_guidance
from reflact.report.html.curves import label
from reflact.report.html.reading import Reader, items, mapping, number, whole, words
from reflact.report.html.reasons import reason
from reflact.report.html.replies import epoch_replies, step_replies
from reflact.report.verdicts import TAKEN
from reflact.rundir.layout import RunLayout

_CONTEXT = 2
_MOST_LINES = 2000
EPOCH_ENDS = ("slow_update", "meta_reflect")


class Story:
    """Walks through the records of a run; the text of the current skill goes along."""

    def __init__(self, layout: RunLayout, reader: Reader, initial_score: float | None) -> None:
        self._layout = layout
        self._reader = reader
        self._text = reader.text(layout.skill(0)) or ""
        self._score = initial_score
        self._pool = [self._text]
        self._epoch = 1

    def chapters(self, records: Sequence[Mapping[str, Any]]) -> list[Json]:
        """Return a chapter a record."""
        return [self._chapter(record) for record in records]

    def _chapter(self, record: Mapping[str, Any]) -> Json:
        self._enter(whole(record.get("epoch")) or self._epoch)
        before, candidate = self._before(record), self._candidate(record)
        chapter = {
            "label": label(record),
            "kind": words(record.get("kind")),
            "epoch": whole(record.get("epoch")),
            "step": whole(record.get("step")),
            "action": words(record.get("action")),
            "why": reason(record, self._score),
            **difference(before, candidate),
            "flags": [words(flag) for flag in items(mapping(record.get("candidate")).get("flags"))],
            "failures": self._failures(record),
            "edits": self._edits(record),
            "replies": self._replies(record),
            "pairs": sorted(mapping(record.get("pairs")).items()),
        }
        self._take(record, candidate)
        return chapter

    def _enter(self, epoch: int) -> None:
        """After the first epoch an empty protected block enters the skill without a record."""
        if epoch != self._epoch:
            text = self._reader.text(self._layout.epoch_skill(self._epoch))
            self._text = self._text if text is None else text
            self._epoch = epoch

    def _before(self, record: Mapping[str, Any]) -> str:
        """Return the text that the candidate was made from: a search goes on from any skill of its pool."""
        gate = mapping(record.get("gate"))
        parent = next((whole(place) for place in items(gate.get("parents"))), None)
        return self._pool[parent] if parent is not None and 0 <= parent < len(self._pool) else self._text

    def _candidate(self, record: Mapping[str, Any]) -> str | None:
        kind, layout, read = words(record.get("kind")), self._layout, self._reader
        if kind == "step":
            return read.text(layout.step(whole(record.get("step")) or 0).candidate_skill)
        epoch = whole(record.get("epoch")) or 0
        if kind == "meta_reflect":
            return read.text(layout.meta_reflect(epoch).candidate_skill)
        if words(record.get("action")) in (Action.SKIP_NO_REWRITE, ""):
            return None
        content = read.object(layout.slow_update(epoch).slow_result).get("content")
        return with_guidance(self._text, content) if isinstance(content, str) else None

    def _take(self, record: Mapping[str, Any], candidate: str | None) -> None:
        if words(record.get("action")) in TAKEN and candidate is not None:
            self._text = candidate
        if mapping(record.get("candidate")).get("selection") and candidate is not None:
            self._pool.append(candidate)
        score = number(mapping(record.get("current")).get("score"))
        self._score = self._score if score is None else score

    def _failures(self, record: Mapping[str, Any]) -> list[Json]:
        kinds = mapping(mapping(record.get("reflect")).get("failure_types"))
        return sorted(([words(name), whole(count) or 0] for name, count in kinds.items()), key=lambda kind: -kind[1])

    def _edits(self, record: Mapping[str, Any]) -> list[Json]:
        kind, layout, read = words(record.get("kind")), self._layout, self._reader
        if kind == "meta_reflect":
            folder = layout.meta_reflect(whole(record.get("epoch")) or 0)
            reports = items(read.object(folder.edit_apply_report).get("edits"))
            return [_edit({}, mapping(report), words(mapping(report).get("status"))) for report in reports]
        if kind != "step":
            return []
        step = layout.step(whole(record.get("step")) or 0)
        chosen = [mapping(change) for change in items(read.object(step.ranked_edits).get("changes"))]
        merged = [mapping(change) for change in items(read.object(step.merged_patch).get("changes"))]
        reports = [mapping(report) for report in items(read.object(step.edit_apply_report).get("edits"))]
        return list(_fates(chosen, merged, reports))

    def _replies(self, record: Mapping[str, Any]) -> list[Json]:
        kind = words(record.get("kind"))
        if kind == "step":
            return step_replies(self._layout.step(whole(record.get("step")) or 0), self._reader)
        return epoch_replies(self._layout, whole(record.get("epoch")) or 0, kind, self._reader)


def difference(before: str, after: str | None) -> dict[str, Json]:
    """Return the lines that changed with some around them: [`+`, `-`, ` ` or `@`, text]."""
    if after is None:
        return {"diff": None, "added": 0, "removed": 0}
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=_CONTEXT)
    diff = [[line[:1], line[1:]] for line in list(lines)[2 : _MOST_LINES + 2]]
    return {
        "diff": diff,
        "added": sum(1 for sign, _ in diff if sign == "+"),
        "removed": sum(1 for sign, _ in diff if sign == "-"),
    }


def _fates(
    chosen: Sequence[Mapping[str, Any]], merged: Sequence[Mapping[str, Any]], reports: Sequence[Mapping[str, Any]]
) -> Iterator[Json]:
    """Yield the edits in the order of the ranking with what became of them, then those that were not selected."""
    for place, change in enumerate(chosen):
        report = reports[place] if place < len(reports) else {}
        yield _edit(change, report, words(report.get("status")) or "carried out by the rewriter")
    rest = list(chosen)
    for change in merged:
        if change in rest:
            rest.remove(change)
        else:
            yield _edit(change, {}, "not selected")


def _edit(change: Mapping[str, Any], report: Mapping[str, Any], status: str) -> Json:
    body = mapping(change.get("body"))
    content = body.get("content") or body.get("instruction") or report.get("content_preview")
    support = items(change.get("support")) or items(report.get("support"))
    return {
        "op": words(body.get("op") or body.get("type") or report.get("op")),
        "title": words(body.get("title")),
        "motivation": words(body.get("motivation")),
        "target": words(body.get("target") or report.get("target")),
        "content": words(content),
        "source": words(change.get("source") or report.get("source")),
        "support": [words(item) for item in support],
        "status": status,
    }
