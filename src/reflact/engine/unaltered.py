"""What a run wrote for people to read is not to be edited: a resumed run notices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from reflact.core.errors import DataError
from reflact.core.hashing import text_digest
from reflact.engine.state import TrainingState
from reflact.rundir.layout import RunLayout
from reflact.rundir.quiet import read_quiet


def require_unaltered(
    layout: RunLayout, state: TrainingState, records: Iterable[Mapping[str, Any]], initial: str
) -> None:
    """Compare the skills on disk with their hashes in `history.jsonl`; a file that is gone is no edited one.

    Args:
        layout: The run's paths.
        state: Where the run stands.
        records: The records of steps and updates.
        initial: Text of the initial skill.

    Raises:
        DataError: Files were changed; they are named.
    """
    expected = {layout.skill(0): text_digest(initial), **dict(_expected(layout, records))}
    if state.ended is not None:
        expected[layout.best_skill] = state.best.sha256
    changed = [str(path) for path, wanted in expected.items() if _differs(path, wanted)]
    if changed:
        raise DataError(
            f"{', '.join(changed)}: changed after the run wrote it. A run goes on from its own skills, so an edit here "
            "would be without effect or mix two skills in one record. Put back what the run wrote, or move the file "
            "away. To train from an edited skill, start another run with env.skill_init=FILE."
        )


def _expected(layout: RunLayout, records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Path, str]]:
    for record in records:
        step, kind = record.get("step"), record.get("kind")
        if kind == "step" and isinstance(step, int):
            yield layout.skill(step), record["current"]["sha256"]
            candidate = record.get("candidate")
            if candidate is not None:
                yield layout.step(step).candidate_skill, candidate["sha256"]


def _differs(path: Path, wanted: str) -> bool:
    try:
        data = read_quiet(path)
    except FileNotFoundError:
        return False
    # Half a pair of surrogates, which models do write, is an escape in the file and another byte in the hash.
    return b"\\ud" not in data and hashlib.sha256(data).hexdigest() != wanted
