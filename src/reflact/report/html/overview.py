"""Everything of one run but its rows: configuration, scores, curves, timeline, spending, the skill's history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflact.core.names import RunState
from reflact.core.types import Json
from reflact.report.html.curves import curve
from reflact.report.html.entries import Entry
from reflact.report.html.happened import Happened
from reflact.report.html.reading import Reader, mapping, number, pretty, words
from reflact.report.html.story import Story
from reflact.report.summaries import Score, SummaryView
from reflact.rundir.layout import RunLayout

_SIDES = ("baseline", "best", "final")
_PARTS = ("selection", "test")


def overview(
    entry: Entry, reader: Reader, records: list[dict[str, Any]], happened: Happened, problems: list[str]
) -> Json:
    """Return the run as the page shows it.

    Args:
        entry: The run.
        reader: Reads its files.
        records: Its `history.jsonl`.
        happened: Its events, folded.
        problems: What is wrong with its files; read after everything else was.
    """
    run, layout = entry.run, RunLayout(entry.run.path)
    metric = run.record.text("config", "evaluation", "gate_metric") or "hard"
    points = curve(layout, reader, records, metric)
    first = number(points[0]["score"]) if points else None
    return {
        "facts": facts(entry, happened),
        "metric": metric,
        "scores": _scores(entry),
        "gain": gain(entry.run.summary),
        "rows": [[phase, sorted(counts.items())] for phase, counts in _statuses(entry, happened)],
        "limits": _limits(entry, happened),
        "curve": points,
        "timeline": happened.timeline(),
        "spent": happened.spent(),
        "reused": _reused(entry),
        "chapters": Story(layout, reader, first).chapters(records),
        "best_skill": reader.text(layout.best_skill),
        "initial_skill": reader.text(layout.skill(0)),
        "findings": [[finding.rule, list(finding.reasons), finding.ignored] for finding in entry.findings],
        "settings": _settings(entry.run.record.data),
        "overrides": _overrides(layout, reader),
        "problems": problems,
    }


def facts(entry: Entry, happened: Happened) -> list[Json]:
    """Return what the run is, as (name, value) pairs; what is not known is left out."""
    run, told = entry.run, happened.progress.facts

    def known(name: str) -> str:
        return run.summary.text(name) or run.record.text(name) or words(told.get(name))

    split = run.record.get("split")
    counts = ", ".join(f"{name} {words(n)}" for name, n in mapping(mapping(split).get("counts")).items())
    pairs = [
        ("benchmark", known("benchmark")),
        ("harness", known("harness")),
        ("student", known("student")),
        ("teacher", known("teacher")),
        (
            "split",
            " ".join(text for text in (words(mapping(split).get("name")), f"({counts})" if counts else "") if text),
        ),
        ("seed", "" if run.seed is None else str(run.seed)),
        ("started", known("started_at")),
        ("finished", known("finished_at")),
        ("ended because", run.summary.text("stop_reason")),
        ("code version", known("code_version")),
        ("config hash", known("config_hash")[:16]),
        ("directory", entry.place),
    ]
    return [[name, value] for name, value in pairs if value]


def _scores(entry: Entry) -> list[Json]:
    found = [(side, part, entry.run.score(side, part)) for side in _SIDES for part in _PARTS]
    return [[side, part, _score(score)] for side, part, score in found if score is not None]


def _score(score: Score) -> Json:
    interval = [number(bound) for bound in score.ci95] if score.ci95 else None
    return {
        "hard": number(score.hard), "soft": number(score.soft), "n": score.n, "scored": score.scored,
        "interval": interval if interval and None not in interval else None,
    }  # fmt: skip


def gain(summary: SummaryView) -> dict[str, Json]:
    """Return the best skill's gain over the initial one on test, as the run's own summary tells it."""
    bounds = summary.get("confidence", "delta_test")
    interval = [number(bound) for bound in bounds] if isinstance(bounds, list) else []
    return {
        "value": number(summary.number("delta_test")),
        "interval": interval if len(interval) == 2 and None not in interval else None,
        "n": summary.whole("confidence", "n"),
        "p": number(summary.number("confidence", "mcnemar_p")),
    }


def _statuses(entry: Entry, happened: Happened) -> list[tuple[str, Mapping[str, int]]]:
    told = entry.run.summary.statuses or happened.progress.statuses_by_phase
    return [(phase, dict(counts)) for phase, counts in told.items()]


def _limits(entry: Entry, happened: Happened) -> Json:
    summary, retries = entry.run.summary, happened.progress.retries
    told = summary.whole("rate_limits", "count_429")
    return {
        "count": retries.rate_limits if told is None else told,
        "wait": number(summary.number("rate_limits", "wait_s")),
        "repeated": sorted(retries.repeated.items()),
        "warned": happened.progress.warned,
    }


def _reused(entry: Entry) -> list[Json]:
    reused = entry.run.summary.get("reused")
    return [[words(name), words(source)] for name, source in mapping(reused).items() if source]


def _settings(record: Mapping[str, Any]) -> Json:
    """Return the configuration: what differs from the benchmark's default, and all of it by dotted key."""
    differs = [
        [key, _plain(pair[0]), _plain(pair[1])]
        for key, pair in sorted(mapping(record.get("config_diff")).items())
        if isinstance(pair, list) and len(pair) == 2
    ]
    rest = {name: record[name] for name in ("models", "split", "skill_init", "schedule", "packages", "python")
            if name in record}  # fmt: skip
    return {
        "differs": differs,
        "all": [[key, _plain(value)] for key, value in _flat(record.get("config"))],
        "with": [[key, _plain(value)] for key, value in _flat(rest)],
        "prompts": [[words(name), words(digest)] for name, digest in mapping(record.get("prompts")).items()],
    }


def _flat(value: object, prefix: str = "") -> list[tuple[str, object]]:
    if not isinstance(value, Mapping):
        return []
    found: list[tuple[str, object]] = []
    for name, below in value.items():
        key = f"{prefix}{name}"
        deeper = _flat(below, f"{key}.") if prefix.count(".") < 8 else []
        found += deeper or [(key, below)]
    return found


def _plain(value: object) -> str:
    return value if isinstance(value, str) else pretty(value)


def _overrides(layout: RunLayout, reader: Reader) -> str:
    text = reader.text(layout.hydra / "overrides.yaml")
    return (text or "").strip()


def state_of(entry: Entry, happened: Happened) -> str:
    """Return the run's state; one that does nothing but wait for another run is `waiting`."""
    if entry.run.state is RunState.RUNNING and happened.progress.waits_for:
        return RunState.WAITING.value
    return entry.run.state.value
