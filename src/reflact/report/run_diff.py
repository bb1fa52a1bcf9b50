"""Two runs side by side: how they are configured, what their skills say, and which items changed sides."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reflact.config.identity import Difference, difference
from reflact.config.keys import all_keys
from reflact.core.errors import ConfigError, DataError
from reflact.core.hashing import text_digest
from reflact.core.names import RunState
from reflact.report.summaries import SummaryView, read_object
from reflact.report.tables.item_means import item_means
from reflact.report.tables.paired import Change, change
from reflact.rundir.jsonl import read_jsonl
from reflact.rundir.layout import EvaluationFolder, RunLayout
from reflact.rundir.view import find_runs, view_run

PARTS = ("selection", "test")
_NAMED = 5
"""Runs that are named where a folder holds several."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs.

    Attributes:
        root: Its directory.
        state: Its state.
        record: `config.json`.
        origin: Which step made its best skill so far, or the skill that was evaluated.
        skill: That skill's text; None where the run keeps none.
        skill_hash: The hash of its bytes; empty where nothing is known.
        folders: Where the skill's rows are, by part of the split.
    """

    root: Path
    state: RunState
    record: SummaryView
    origin: str
    skill: str | None
    skill_hash: str
    folders: Mapping[str, EvaluationFolder] = field(default_factory=dict)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.record.text("run_id") or self.root.name


@dataclass(frozen=True, slots=True)
class Flips:
    """Items that both runs scored with their best skills, on one part of the split.

    Attributes:
        change: The second's mean minus the first's, with interval and p; None without shared items.
        gained: Ids that were wrong and are right, with both scores.
        lost: Ids that were right and are wrong, with both scores.
        means: Both means over the shared items.
        only: Items that just one of them scored.
        other_content: Items of the same id that are not the same item; they are no pairs.
        missing: Why there is nothing to compare; empty where there is.
    """

    change: Change | None = None
    gained: tuple[tuple[str, float, float], ...] = ()
    lost: tuple[tuple[str, float, float], ...] = ()
    means: tuple[float, float] | None = None
    only: tuple[int, int] = (0, 0)
    other_content: int = 0
    missing: str = ""


@dataclass(frozen=True, slots=True)
class RunDiff:
    """Everything in which two runs differ.

    Attributes:
        sides: The runs.
        keys: Configuration that counts.
        free_keys: Configuration that says only how a run is carried out.
        made_with: What else their numbers depend on: data, code, prompts, models.
        skill: A unified diff of the skills; empty where they are equal or not kept.
        items: Items that changed sides, by part.
    """

    sides: tuple[Side, Side]
    keys: list[Difference]
    free_keys: list[Difference]
    made_with: list[Difference]
    skill: list[str]
    items: dict[str, Flips]


def diff_runs(first: Path, second: Path) -> RunDiff:
    """Compare two run directories, finished or not; nothing in them changes.

    Raises:
        ConfigError: One of them is no run.
        DataError: A record or a row of one of them cannot be read.
    """
    a, b = read_side(first), read_side(second)
    return RunDiff(
        (a, b),
        difference(*_with_defaults(_object(a, "identity"), _object(b, "identity"))),
        [entry for entry in difference(_free(a), _free(b)) if entry[0] not in ("env.out_root", "run.resume")],
        difference(_made_with(a.record), _made_with(b.record)),
        _skill_lines(a, b),
        {part: _flips(a, b, part) for part in PARTS},
    )


def read_side(root: Path) -> Side:
    """Read one run.

    Raises:
        ConfigError: It is no run.
        DataError: Its `config.json` cannot be read.
    """
    if not root.is_dir():
        raise ConfigError(f"{root} is no directory; reflact diff takes two run directories: reflact status shows them")
    view = view_run(root)
    if not view.ours or view.state is None:
        raise ConfigError(f"{root} is no run directory; {_runs_below(root)}")
    layout = RunLayout(root)
    record = read_object(layout.config)
    if record is None:
        begun = "cannot be read" if layout.config.exists() else f"is not there yet: the run is {view.state.value}"
        raise DataError(f"{layout.config} {begun}, so {root} cannot be compared")
    summary = SummaryView(view.summary if view.summary is not None else {})
    evaluation = layout.evaluation("evaluation")
    if summary.text("kind") == "evaluation" or evaluation.path.is_dir():
        part = SummaryView(record).text("config", "split")
        digest = SummaryView(record).text("skill_init", "sha256")
        folders = {"selection" if part == "val" else part: evaluation}
        return Side(root, view.state, SummaryView(record), "evaluated", None, digest, folders)
    return _trained(layout, view.state, SummaryView(record), summary)


def _runs_below(root: Path) -> str:
    runs = find_runs(root)
    if not runs:
        return "and there is none below it"
    more = f" and {len(runs) - _NAMED} more" if len(runs) > _NAMED else ""
    return f"take one of the runs below it: {', '.join(map(str, runs[:_NAMED]))}{more}"


def _trained(layout: RunLayout, state: RunState, record: SummaryView, summary: SummaryView) -> Side:
    """Return a training run with the best skill so far, which is the initial one before anything was accepted."""
    best = SummaryView(read_object(layout.state) or {}).get("best")
    kept = SummaryView(best if isinstance(best, Mapping) else {})
    text = kept.get("text")
    if not isinstance(text, str):
        text = layout.skill(0).read_text(encoding="utf-8") if layout.skill(0).is_file() else None
    origin = kept.text("origin") or "initial"
    folders = {
        "selection": layout.evaluation(kept.text("folder")) if kept.text("folder") else layout.baseline("selection"),
        "test": layout.test("best"),
    }
    same_score = bool(summary.data) and summary.get("best", "test") == summary.get("baseline", "test")
    if not folders["test"].results.exists() and (origin == "initial" or same_score):
        folders["test"] = layout.baseline("test")  # the best skill is the initial one, which is not measured twice
    digest = record.text("skill_init", "sha256") if text is None else text_digest(text)
    return Side(layout.root, state, record, origin, text, digest, folders)


def _object(side: Side, name: str) -> Mapping[str, Any]:
    value = side.record.get(name)
    if not isinstance(value, Mapping):
        raise DataError(f"{RunLayout(side.root).config} has no {name!r}, so {side.root} cannot be compared")
    return value


def _with_defaults(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Give a run of an older version the defaults of keys that it did not have: it behaved so."""
    defaults = {name: key.default for name, key in all_keys().items()}
    missing_a = {name: defaults.get(name) for name in b if name not in a}
    missing_b = {name: defaults.get(name) for name in a if name not in b}
    return {**missing_a, **a}, {**missing_b, **b}


def _free(side: Side) -> dict[str, Any]:
    """Return the free keys with their values, as far as the run knows them."""
    config = SummaryView(_object(side, "config"))
    return {name: config.get(*name.split(".")) for name, key in all_keys().items() if key.free}


def _made_with(record: SummaryView) -> dict[str, Any]:
    values: dict[str, Any] = {
        "split": record.get("split", "fingerprint"),
        "benchmark version": record.get("benchmark_version"),
        "code version": record.get("code_version"),
        "python": record.get("python"),
    }
    for group in ("prompts", "packages"):
        found = record.get(group)
        if isinstance(found, Mapping):
            values |= {f"{group.removesuffix('s')} {name}": value for name, value in found.items()}
    for role in ("student", "teacher"):
        settings = record.get("models", role, "settings")
        if isinstance(settings, Mapping):
            values |= {f"{role} {name}": value for name, value in settings.items()}
        values[f"{role} endpoint"] = record.get("models", role, "endpoint")
    return values


def _skill_lines(a: Side, b: Side) -> list[str]:
    if a.skill is None or b.skill is None:
        return []
    names = (f"{a.run_id} ({a.origin})", f"{b.run_id} ({b.origin})")
    return list(difflib.unified_diff(a.skill.splitlines(), b.skill.splitlines(), *names, lineterm="", n=1))


def _flips(a: Side, b: Side, part: str) -> Flips:
    scores: list[dict[str, float]] = []
    for side in (a, b):
        folder = side.folders.get(part)
        found = item_means(folder) if folder is not None and folder.results.exists() else {}
        if not found:
            return Flips(missing=f"{side.root} ({side.state.value}) has no scored {part} rows of its best skill")
        scores.append(found)
    before, after = scores
    asked = [_questions(side.folders[part]) for side in (a, b)]
    shared = [item for item in before if item in after]
    pairs = [item for item in shared if asked[0].get(item) == asked[1].get(item)]
    if not pairs:
        return Flips(missing="no item was scored by both")
    both = [(item, before[item], after[item]) for item in pairs]
    found_change = change([x for _, x, _ in both], [y for _, _, y in both])
    return Flips(
        found_change,
        tuple(entry for entry in both if entry[1] < entry[2]),
        tuple(entry for entry in both if entry[1] > entry[2]),
        (sum(x for _, x, _ in both) / len(both), sum(y for _, _, y in both) / len(both)),
        (len(before) - len(shared), len(after) - len(shared)),
        len(shared) - len(pairs),
    )


def _questions(folder: EvaluationFolder) -> dict[str, Any]:
    return {str(row.get("id")): (row.get("question"), row.get("gold")) for _, row in read_jsonl(folder.results)}
