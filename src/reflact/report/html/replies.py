"""What the teacher replied, as far as the run keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.core.types import Json
from reflact.report.html.reading import Reader, items, mapping, pretty, whole, words
from reflact.rundir.layout import RunLayout, StepFolder

_TOLD = ("reasoning", "summary", "change_summary", "summary_of_changes", "message", "cause", "content", "reply")
_OURS = frozenset({"edit_apply_report.json", "step_record.json", "comparison_pairs.json"})
# What a stage keeps for a resumed run; the same is in the files for people.
_TWINS = frozenset(
    {"ranking.json", "slow_update.json", "meta_skill.json", "meta_reflect.json", "learning_rate.json", "one_shot.json"}
)
_FOLDERS = (("patches", "reflect"), ("merges", "aggregate"))


def step_replies(step: StepFolder, reader: Reader) -> list[Json]:
    """Return the replies of a step: the analysts', the merges, then everything else of the folder."""
    found = [
        _reply(stage, reader.object(step.path / folder / name), name)
        for folder, stage in _FOLDERS
        for name in _json_names(step.path / folder, reader)
    ]
    rest = (_reply("", reader.object(step.path / name), name) for name in _json_names(step.path, reader))
    return [*found, *rest]


def epoch_replies(layout: RunLayout, epoch: int, kind: str, reader: Reader) -> list[Json]:
    """Return the replies of an epoch's end; the meta skill belongs to the slow update, which saw the same pairs."""
    folders = [layout.meta_reflect(epoch)] if kind == "meta_reflect" else []
    places = [folder.path for folder in folders] or [layout.slow_update(epoch).path, layout.meta_skill(epoch).path]
    return [
        _reply(place.parent.name, reader.object(place / name), name)
        for place in places
        for name in _json_names(place, reader)
    ]


def _json_names(folder: Path, reader: Reader) -> list[str]:
    left_out = _OURS | _TWINS
    return [name for name in reader.names(folder) if name.endswith(".json") and name[0] != "." and name not in left_out]


def _reply(stage: str, data: Mapping[str, Any], name: str) -> Json:
    patch = mapping(data.get("patch"))
    told = [
        [title, words(text)] for source in (data, patch, mapping(data.get("reply"))) for title in _TOLD
        if (text := source.get(title)) and isinstance(text, str)
    ]  # fmt: skip
    failures = [mapping(kind) for kind in items(data.get("failure_types"))]
    return {
        "stage": stage,
        "name": name.removesuffix(".json"),
        "members": [words(item) for item in items(data.get("members"))],
        "told": told,
        "failures": [
            [words(kind.get("failure_type")), whole(kind.get("count")), words(kind.get("description"))]
            for kind in failures
        ],
        "patterns": [words(pattern) for pattern in items(data.get("success_patterns"))],
        "changes": [_change(mapping(change)) for change in items(patch.get("changes") or data.get("changes"))],
        "raw": pretty({name: value for name, value in data.items() if name != "key"}),
    }


def _change(change: Mapping[str, Any]) -> Json:
    body = mapping(change.get("body"))
    text = body.get("content") or body.get("instruction") or body.get("title") or body.get("target")
    return [words(body.get("op") or body.get("type")), words(text), len(items(change.get("support")))]
