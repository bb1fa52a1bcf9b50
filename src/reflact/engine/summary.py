"""summary.json: what a complete run says of itself; its existence means that the run is complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from reflact.core.names import Part, StopReason
from reflact.engine.final import Tests
from reflact.engine.history import read_history
from reflact.engine.scores import RowRef, SelectionScores, item_means
from reflact.engine.shared_rows import source_of, usage_of
from reflact.engine.state import Skill, TrainingState
from reflact.engine.stats import LEVEL, bootstrap_mean, mcnemar, mean
from reflact.engine.tally import Tally
from reflact.engine.validity import judge_validity
from reflact.engine.workbench import Workbench

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Summary:
    """A complete run.

    Attributes:
        data: The content of `summary.json`.
    """

    data: Mapping[str, Any]

    @property
    def selection_score(self) -> float | None:
        """The best skill's mean `hard` on the selection split: what a study optimises."""
        score: float | None = self.data["best"]["selection"]["hard"]
        return score

    @property
    def valid(self) -> bool:
        """Whether the run may fill a table."""
        return bool(self.data["validity"]["valid"])

    def to_json(self) -> dict[str, Any]:
        """Return the content of `summary.json`."""
        return dict(self.data)


@dataclass(frozen=True, slots=True)
class Session:
    """When a run began and ended, how long its processes worked on it in seconds, and their code versions."""

    started_at: str
    finished_at: str
    wall_time_s: float
    code_versions: tuple[str, ...]


def make_summary(
    bench: Workbench,
    record: Mapping[str, Any],
    state: TrainingState,
    selection: SelectionScores,
    tests: Tests,
    tally: Tally,
    session: Session,
) -> Summary:
    """Put a run's summary together.

    Args:
        bench: The run's parts.
        record: `config.json`.
        state: The state at the end.
        selection: Selection scores.
        tests: Test evaluations.
        tally: Rows of all evaluation folders by phase.
        session: Times.
    """
    usage = bench.meter
    reason = state.ended or StopReason.COMPLETED
    return Summary(
        {
            "schema_version": SCHEMA_VERSION,
            **{key: record[key] for key in ("run_id", "benchmark", "harness", "student", "teacher", "simulated")},
            "status": "completed",
            "config_hash": record["config_hash"],
            "code_version": record["code_version"],
            "code_versions": list(session.code_versions),
            "started_at": session.started_at,
            "finished_at": session.finished_at,
            "wall_time_s": round(session.wall_time_s, 1),
            "split": _split(bench),
            "baseline": {"selection": selection.baseline.to_json(), "test": _test(tests.baseline)},
            "best": {**_skill(state.best), "selection": selection.best.to_json(), "test": _test(tests.best)},
            "final": {**_skill(state.current), "selection": selection.final.to_json(), "test": _test(tests.final)},
            **_comparison(tests),
            "steps": _steps(state),
            "rows": tally.rows,
            "rate_limits": {"count_429": usage.count_429, "wait_s": round(usage.wait_s, 1)},
            "usage": usage.to_json(),
            "usage_reused": usage_of([bench.layout.baseline(part) for part in ("selection", "test")]),
            "tokens_total": usage.total.tokens,
            "cost_usd": usage.cost_usd,
            "reused": {f"baseline_{part}": _source(bench, part) for part in ("selection", "test")},
            "stop_reason": reason.value,
            "sample": bench.split.sample,
            "validity": judge_validity(bench.config, tally, session.code_versions, read_history(bench.layout)),
        }
    )


def _split(bench: Workbench) -> dict[str, Any]:
    return {
        "name": bench.split.name,
        "fingerprint": bench.split.fingerprint,
        "train": len(bench.items(Part.TRAIN)),
        "selection": len(bench.items(Part.VAL)),
        "test": len(bench.items(Part.TEST)),
    }


def _source(bench: Workbench, part: str) -> str | None:
    """Return the id of the run whose rows a baseline evaluation consists of."""
    source = source_of(bench.layout.baseline(part))
    return None if source is None else str(source["run_id"])


def _test(evaluation: Any) -> dict[str, Any] | None:
    return evaluation.done.to_json() if evaluation is not None else None


def _skill(skill: Skill) -> dict[str, Any]:
    return {
        "step": skill.step,
        "origin": skill.origin,
        "skill_sha256": skill.sha256,
        "skill_chars": len(skill.text),
        # No tokenizer of the student is at hand: four bytes of UTF-8 a token, said to be an estimate in the docs.
        "skill_tokens": ceil(len(skill.text.encode("utf-8", "surrogatepass")) / 4),
    }


def _steps(state: TrainingState) -> dict[str, Any]:
    accepted = sum(state.counts.get(name, 0) for name in ("accept_new_best", "accept", "force_accept"))
    skipped = {name: count for name, count in sorted(state.counts.items()) if name.startswith("skip_")}
    rejected = state.counts.get("reject", 0)
    return {"total": state.step, "accepted": accepted, "rejected": rejected, "skipped": skipped}


def _comparison(tests: Tests) -> dict[str, Any]:
    """Compare best and initial skill on the test items scored for both."""
    if tests.baseline is None or tests.best is None:
        return {"delta_test": None, "confidence": None}
    before, after = paired(tests.baseline.rows, tests.best.rows)
    differences = [b - a for a, b in zip(before, after, strict=True)]
    interval = bootstrap_mean(differences)
    baseline, best = tests.baseline.done, tests.best.done
    return {
        "delta_test": mean(differences),
        "confidence": {
            "level": LEVEL,
            "n": len(differences),
            "baseline_test": baseline.ci95.to_json() if baseline.ci95 else None,
            "best_test": best.ci95.to_json() if best.ci95 else None,
            "delta_test": interval.to_json() if interval else None,
            "mcnemar_p": mcnemar(before, after),
        },
    }


def paired(before: Sequence[RowRef], after: Sequence[RowRef]) -> tuple[list[float], list[float]]:
    """Return the mean `hard` of the items scored on both sides, in order."""
    first, second = item_means(before), item_means(after)
    shared = [item for item in first if item in second]
    return [first[item][0] for item in shared], [second[item][0] for item in shared]
