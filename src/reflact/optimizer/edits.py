"""Applying edits: exact, reported one by one, and never inside the protected block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflact.optimizer import protected
from reflact.optimizer.edit_report import EditReport, EditStatus, report_row
from reflact.optimizer.places import append_text, insert_line, occurrences
from reflact.optimizer.types import Change, Op


@dataclass(frozen=True, slots=True)
class Applied:
    """The text after a step's edits, and what became of each."""

    text: str
    report: tuple[EditReport, ...]

    @property
    def count(self) -> int:
        """How many edits were applied."""
        return sum(row.status is EditStatus.APPLIED for row in self.report)


@dataclass(frozen=True, slots=True)
class Edit:
    """A well-formed edit; `target` is `""` for an append and `content` for a deletion."""

    op: Op
    target: str
    content: str


def read_edit(body: object) -> Edit | None:
    """Read an edit as a teacher wrote it, or return None if it is not one.

    Content must not be blank except in a deletion, and every operation but an append needs a target.
    """
    if not isinstance(body, dict) or body.get("op") not in tuple(Op):
        return None
    op = Op(body["op"])
    target, content = body.get("target"), body.get("content")
    if op is Op.APPEND:
        target = ""
    elif not isinstance(target, str) or not target:
        return None
    if op is Op.DELETE:
        content = ""
    elif not isinstance(content, str) or not content.strip():
        return None
    return Edit(op, target, content)


def apply_edits(skill: str, changes: Sequence[Change], *, max_chars: int = 0) -> Applied:
    """Apply edits in order to the evolving text.

    Every change gets exactly one status (`EditStatus`); one that is skipped leaves the text as it was. Whatever
    the edits are, the protected blocks and markers come out byte for byte as they went in.

    Args:
        skill: The text to begin with.
        changes: Edits in order of application; bodies may be invalid.
        max_chars: Longest text in characters; 0 is no bound. An edit that would make the text longer than this
            is skipped; one that shortens a text that is too long already is not.
    """
    text = skill
    done: list[Edit] = []
    report: list[EditReport] = []
    for change in changes:
        edit = read_edit(dict(change.body))
        if edit is None:
            status = EditStatus.INVALID
        elif edit in done or _already_there(text, edit):
            status = EditStatus.DUPLICATE
        else:
            status, text = _try(text, edit, max_chars)
            if status is EditStatus.APPLIED:
                done.append(edit)
        report.append(report_row(change, status))
    return Applied(text, tuple(report))


def _try(text: str, edit: Edit, max_chars: int) -> tuple[EditStatus, str]:
    """Return an edit's status and the text after it, which is the same text unless the edit was applied."""
    status, result = _edited(text, edit)
    if status is EditStatus.APPLIED:
        status = _check(text, result, max_chars)
    return status, result if status is EditStatus.APPLIED else text


def _edited(text: str, edit: Edit) -> tuple[EditStatus, str]:
    """Find the edit's place and carry it out, whatever comes out."""
    guarded = protected.spans(text)
    if edit.op is Op.APPEND:
        block = next((span for span in guarded if span.is_block), None)
        return EditStatus.APPLIED, append_text(text, edit.content, len(text) if block is None else block.start)
    places = occurrences(text, edit.target)
    length = len(edit.target)
    free = [place for place in places if not any(span.overlaps(place, place + length) for span in guarded)]
    if not places:
        return EditStatus.TARGET_NOT_FOUND, text
    if edit.op is not Op.INSERT_AFTER and len(places) > 1:
        return EditStatus.AMBIGUOUS_TARGET, text
    if not free:
        return EditStatus.PROTECTED, text
    if edit.op is Op.INSERT_AFTER:
        offset, inserted = insert_line(text, edit.content, free[0] + length)
        return EditStatus.APPLIED, text[:offset] + inserted + text[offset:]
    return EditStatus.APPLIED, text[: free[0]] + edit.content + text[free[0] + length :]


def _check(before: str, after: str, max_chars: int) -> EditStatus:
    """Judge a result: the protected texts are the same ones, and the length is allowed."""
    # Comparing the texts themselves catches what no interval test of the target does: lines that would land
    # inside a block, an edit that brings a marker in, and one that completes half of one.
    if _guarded_texts(before) != _guarded_texts(after):
        return EditStatus.PROTECTED
    if max_chars > 0 and len(after) > max_chars and len(after) > len(before):
        return EditStatus.TOO_LONG
    return EditStatus.APPLIED


def _guarded_texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in protected.spans(text)]


def _already_there(text: str, edit: Edit) -> bool:
    """Whether an append would repeat whole lines that the text holds in a row already."""
    if edit.op is not Op.APPEND:
        return False
    lines = [line.rstrip() for line in text.splitlines()]
    wanted = [line.rstrip() for line in edit.content.strip("\n").splitlines()]
    return any(lines[start : start + len(wanted)] == wanted for start in range(len(lines) - len(wanted) + 1))
