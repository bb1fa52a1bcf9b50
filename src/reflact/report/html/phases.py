"""The evaluation folders that a run has, in the order in which they are looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflact.core.names import Phase
from reflact.report.html.reading import Reader, mapping, words
from reflact.rundir.layout import EvaluationFolder, RunLayout

_NUMBERED = re.compile(r"(?:step|epoch)_(\d+)")
EVALUATION = "evaluation"
"""The folder of a run of `reflact-eval`."""


@dataclass(frozen=True, slots=True)
class PhaseRef:
    """An evaluation folder.

    Attributes:
        folder: Where its rows are.
        title: What people call it.
        kind: What it is for.
        before: Name of the folder whose rows it is compared with, `""` for none; rollouts are compared with the last
            rollout of each item.
    """

    folder: EvaluationFolder
    title: str
    kind: str
    before: str = ""

    @property
    def name(self) -> str:
        """Its path in the run directory."""
        return self.folder.name


def find_phases(layout: RunLayout, reader: Reader, records: Sequence[Mapping[str, Any]]) -> list[PhaseRef]:
    """Return the folders with rows, training in its order, then the tests."""
    every = [*_phases(layout, reader, current_folders(layout, records))]
    return [phase for phase in every if phase.folder.results.is_file()]


def numbers(folder_names: Sequence[str]) -> list[int]:
    """Return the numbers in the names of step and epoch folders."""
    return [int(match[1]) for name in folder_names if (match := _NUMBERED.fullmatch(name))]


def current_folders(layout: RunLayout, records: Sequence[Mapping[str, Any]]) -> dict[tuple[str, int], str]:
    """Return for each (kind, step or epoch) the folder with the current skill's selection rows before it."""
    folders: dict[tuple[str, int], str] = {}
    now = layout.baseline("selection").name
    for record in records:
        kind = words(record.get("kind"))
        number = record.get("step" if kind == "step" else "epoch")
        if isinstance(number, int):
            folders[kind, number] = now
        now = folder_of_origin(layout, words(mapping(record.get("current")).get("origin")), now)
    folders["", 0] = now
    return folders


def folder_of_origin(layout: RunLayout, origin: str, otherwise: str) -> str:
    """Return the folder with the selection rows of a skill that came from a step or an epoch's end."""
    match = _NUMBERED.match(origin)
    if match is None:
        return layout.baseline("selection").name if origin == "initial" else otherwise
    number = int(match[1])
    if origin.startswith("step_"):
        return layout.step(number).selection.name
    kind = layout.meta_reflect(number) if origin.endswith("_meta") else layout.slow_update(number)
    return kind.selection.name


def _phases(layout: RunLayout, reader: Reader, current: Mapping[tuple[str, int], str]) -> Iterator[PhaseRef]:
    yield PhaseRef(layout.evaluation(EVALUATION), "Evaluation", EVALUATION)
    yield PhaseRef(layout.baseline("selection"), "Initial skill, selection", Phase.SELECTION)
    for step in numbers(reader.names(layout.step(1).path.parent)):
        place, where = layout.step(step), f"Step {step}"
        yield PhaseRef(place.rollout, f"{where}, rollout", Phase.TRAIN)
        yield PhaseRef(place.deep_rollout, f"{where}, deep rollout", Phase.TRAIN, place.rollout.name)
        yield PhaseRef(place.child_rollout, f"{where}, candidate's rollout", Phase.TRAIN, place.rollout.name)
        before = current.get(("step", step), current["", 0])
        yield PhaseRef(place.selection, f"{where}, candidate at the gate", Phase.SELECTION, before)
    for epoch in numbers(reader.names(layout.slow_update(1).path.parent)):
        slow = layout.slow_update(epoch)
        yield PhaseRef(slow.rollout_prev, f"Epoch {epoch}, skill of the epoch before", Phase.SLOW)
        yield PhaseRef(slow.rollout_curr, f"Epoch {epoch}, current skill", Phase.SLOW, slow.rollout_prev.name)
        before = current.get(("slow_update", epoch), current["", 0])
        yield PhaseRef(slow.selection, f"Epoch {epoch}, slow update at the gate", Phase.SELECTION, before)
    for epoch in numbers(reader.names(layout.meta_skill(1).path.parent)):
        meta = layout.meta_skill(epoch)
        yield PhaseRef(meta.rollout_prev, f"Epoch {epoch}, skill of the epoch before", Phase.SLOW)
        yield PhaseRef(meta.rollout_curr, f"Epoch {epoch}, current skill", Phase.SLOW, meta.rollout_prev.name)
    for epoch in numbers(reader.names(layout.meta_reflect(1).path.parent)):
        before = current.get(("meta_reflect", epoch), current["", 0])
        review = layout.meta_reflect(epoch).selection
        yield PhaseRef(review, f"Epoch {epoch}, meta reflect at the gate", Phase.SELECTION, before)
    yield PhaseRef(layout.baseline("test"), "Initial skill, test", Phase.TEST)
    yield PhaseRef(layout.test("best"), "Best skill, test", Phase.TEST, layout.baseline("test").name)
    yield PhaseRef(layout.test("final"), "Final skill, test", Phase.TEST, layout.baseline("test").name)
