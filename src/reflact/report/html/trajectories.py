"""The rows of a run with what was said, and for each the row that it is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reflact.core.names import Phase
from reflact.core.types import Json
from reflact.report.html.phases import PhaseRef
from reflact.report.html.reading import Reader, items, mapping, number, pretty, whole, words
from reflact.report.html.texts import RunTexts, SharedTexts, cut, cut_turns

FIELDS = (
    "phase", "id", "repeat", "status", "hard", "soft", "cause", "reason", "type", "question", "answer", "gold",
    "n_turns", "truncated", "no_action", "latency", "wait", "tokens", "attempt", "extra", "turns", "other",
)  # fmt: skip
"""What a row is, in the order of its values. Texts are numbers (see `RunTexts`), `other` is the index of a row."""
_LONGEST_FIELD = 4000

Row = Mapping[str, Any]


def show_texts(run: int, phases: Sequence[PhaseRef], reader: Reader, shared: SharedTexts, chars: int) -> None:
    """Tell which long texts a run has; see `SharedTexts`."""
    for phase in phases:
        for line in reader.lines(phase.folder.conversations) if chars else ():
            for _, content in _turns(line, chars):
                shared.show(run, content)


def trajectories(phases: Sequence[PhaseRef], reader: Reader, texts: RunTexts, chars: int) -> Json:
    """Return all rows of a run.

    Args:
        phases: The run's evaluation folders.
        reader: Reads its files.
        texts: Where texts go.
        chars: Most characters of a conversation; 0 leaves conversations out.
    """
    rows = [[*_row(index, row, turns, texts), -1] for index, row, turns in _every(phases, reader, chars)]
    _compare(rows, phases)
    names = [{"name": phase.name, "title": phase.title, "kind": str(phase.kind)} for phase in phases]
    return {"fields": list(FIELDS), "phases": names, "rows": rows, "texts": texts.own}


def _every(
    phases: Sequence[PhaseRef], reader: Reader, chars: int
) -> Iterator[tuple[int, Row, Sequence[tuple[str, str]]]]:
    for index, phase in enumerate(phases):
        talks = {_talk_key(line): _turns(line, chars) for line in reader.lines(phase.folder.conversations) if chars}
        for row in last_rows(reader.lines(phase.folder.results)):
            yield index, row, talks.get(_talk_key(row), ())


def last_rows(lines: Iterator[dict[str, Any]]) -> list[Row]:
    """Return the rows that count: the last of each item, repeat and seed, under the last key of that seed."""
    keys: dict[str, str] = {}
    found: dict[tuple[str, str, str], Row] = {}
    for line in lines:
        seed = words(line.get("seed"))
        keys[seed] = words(line.get("key"))
        found[words(line.get("id")), words(line.get("repeat")), seed] = line
    return [row for (_, _, seed), row in found.items() if words(row.get("key")) == keys[seed]]


def _talk_key(line: Row) -> tuple[str, ...]:
    return tuple(words(line.get(name)) for name in ("key", "id", "repeat", "attempt"))


def _turns(line: Row, chars: int) -> list[tuple[str, str]]:
    turns = [mapping(turn) for turn in items(line.get("turns"))]
    return cut_turns([(words(turn.get("role")), words(turn.get("content"))) for turn in turns], chars)


def _row(index: int, row: Row, turns: Sequence[tuple[str, str]], texts: RunTexts) -> list[Json]:
    usage = mapping(row.get("usage"))
    extra = row.get("extra")

    def text(name: str) -> int | None:
        value = row.get(name)
        return None if value is None else texts.number(cut(words(value), _LONGEST_FIELD))

    return [
        index,
        words(row.get("id")),
        whole(row.get("repeat")) or 0,
        words(row.get("status")),
        number(row.get("hard")),
        number(row.get("soft")),
        words(row.get("cause")),
        text("fail_reason"),
        words(row.get("task_type")),
        text("question"),
        text("predicted_answer"),
        [texts.number(cut(words(gold), _LONGEST_FIELD)) for gold in items(row.get("gold"))],
        whole(row.get("n_turns")),
        int(row.get("truncated") is True),
        whole(row.get("no_action")) or 0,
        number(row.get("latency_s")),
        number(row.get("wait_s")),
        (whole(usage.get("prompt_tokens")) or 0) + (whole(usage.get("completion_tokens")) or 0),
        whole(row.get("attempt")),
        texts.number(pretty(extra)) if extra else None,
        [[role, texts.number(content)] for role, content in turns],
    ]


def _compare(rows: list[list[Json]], phases: Sequence[PhaseRef]) -> None:
    """Give each row, as its last value, the index of the row that it is compared with."""
    places: dict[tuple[str, str, int], int] = {}
    for place, (phase, item, repeat, *_) in enumerate(rows):
        places[phases[phase].name, item, repeat] = place
    rollouts: dict[str, int] = {}
    for place, row in enumerate(rows):
        phase, item, repeat = phases[row[0]], row[1], row[2]
        if phase.kind == Phase.TRAIN and not phase.before:
            row[-1] = rollouts.get(item, -1)
            rollouts[item] = place
        else:
            row[-1] = places.get((phase.before, item, repeat), -1)
