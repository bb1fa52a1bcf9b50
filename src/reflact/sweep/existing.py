"""What is done with the directories of a plan that exist: all of them are looked at before anything starts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflact.config.identity import difference, effective
from reflact.config.schema import Config
from reflact.core.errors import DataError, Refused
from reflact.core.hashing import digest
from reflact.core.names import RunState
from reflact.engine.run_record import fingerprint_keys, read_record
from reflact.rundir.layout import RunLayout
from reflact.rundir.refusal import holds, refusal, shown
from reflact.rundir.view import RunView, view_run
from reflact.sweep.planned import Planned, PointState

REFUSE, SKIP_DONE, RESUME = "refuse", "skip_done", "resume"
_MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the run in a point's directory would have to be.

    Attributes:
        config: The configuration that the job gets.
        fingerprints: Hashes of its skill and its items, by the keys that name them; without those of the items where
            these are not there.
        code: The code's version.
        any_code: A run of another version is taken too.
    """

    config: Config
    fingerprints: Mapping[str, str]
    code: str
    any_code: bool

    @property
    def identity(self) -> str:
        """Hash of what a run's record calls its identity."""
        return digest(effective(self.config, self.fingerprints))


def settle(planned: Sequence[Planned], want: Callable[[Planned], Wanted], existing: str) -> None:
    """Decide for each point's directory; nothing is written.

    Runs that are being written make the root a live one, which a second sweep tops up: they are left alone, complete
    ones too, and free ones are taken.

    Args:
        planned: The points that would be run.
        want: Returns what the run in a point's directory would have to be.
        existing: `sweep.existing`.

    Raises:
        Refused: At least one directory is in the way; the message names them.
    """
    views = [(entry, view_run(entry.out_dir)) for entry in planned]
    live = any(_active(view) for _, view in views)
    problems: list[str] = []
    for entry, view in views:
        problem = _settle(entry, want, view, existing, live)
        if problem is not None:
            problems.append(problem)
    if problems:
        more = f"\n... and {len(problems) - _MOST_SHOWN} more" if len(problems) > _MOST_SHOWN else ""
        raise Refused("\n".join(problems[:_MOST_SHOWN]) + more + "\nNothing was started.")


def _active(view: RunView) -> bool:
    return view.ours and view.state is RunState.RUNNING


def _settle(entry: Planned, want: Callable[[Planned], Wanted], view: RunView, existing: str, live: bool) -> str | None:
    """Decide for one point; return what is wrong with its directory."""
    if not view.names:
        return None
    where = entry.out_dir.parent
    if _active(view):
        entry.skip(f"active in {where}")
        return None
    if view.state is RunState.DONE:
        if existing == REFUSE and not live:
            return refusal(view) + "; or sweep.existing=skip_done"
        differing = _differing(entry, want(entry))
        if differing:
            return f"{shown(view.root)} holds {holds(view)}, of another configuration:\n{differing}"
        entry.skip(f"done in {where}")
        return None
    if not view.ours or existing != RESUME:
        return refusal(view) + ("; or sweep.existing=resume" if view.ours else "")
    differing = _differing(entry, want(entry))
    if differing:
        return f"{shown(view.root)} cannot be resumed, it was begun with another configuration:\n{differing}"
    entry.resume = True
    return None


def _differing(entry: Planned, wanted: Wanted) -> str:
    """Return the lines that say how the run in a directory differs from the wanted one; nothing if it does not."""
    try:
        record = read_record(RunLayout(entry.out_dir))
    except DataError as error:
        return f"  {error}"
    if record is None:
        return ""  # it died before it had written what it is, and will begin anew
    old, new = dict(record["identity"]), effective(wanted.config, wanted.fingerprints)
    if "env.split_dir" not in wanted.fingerprints:
        for key in fingerprint_keys():
            old.pop(key, None)
            new.pop(key, None)
        for key in ("env.split_root", "env.split"):
            new.pop(key, None)
    rows = difference(old, _plain(new))
    if record["code_version"] != wanted.code and not wanted.any_code:
        rows.append(("code version", record["code_version"], wanted.code))
    return "\n".join(f"  {key}: {json.dumps(was)} -> {json.dumps(now)}" for key, was, now in rows)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(json.dumps(values))
    return plain


def left_to_run(planned: Sequence[Planned]) -> list[Planned]:
    """Return the points that are to be run, in order."""
    return [entry for entry in planned if entry.state is PointState.RUN]
