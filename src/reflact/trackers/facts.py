"""What trackers are told of a run at its beginning and its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from reflact.config.keys import flatten
from reflact.config.schema import Config
from reflact.engine.desk import secrets_of
from reflact.report.summaries import SummaryView
from reflact.rundir.layout import RunLayout
from reflact.rundir.redact import Redactor
from reflact.trackers.protocol import Begin, End

_LEFT_OUT = ("run.", "sweep.", "display.", "tracking.", "pricing.")
_NUMBERS = (
    ("baseline", "selection", "hard"), ("baseline", "test", "hard"), ("best", "selection", "hard"),
    ("best", "test", "hard"), ("final", "test", "hard"), ("scores", "hard"), ("delta_test",),
    ("steps", "accepted"), ("steps", "total"), ("tokens_total",), ("cost_usd",), ("wall_time_s",),
)  # fmt: skip


def begin_of(config: Config, name: str, event: Mapping[str, Any]) -> Begin:
    """Return what a tracker is told first.

    Args:
        config: The configuration.
        name: The tracker.
        event: The event `run_started`.
    """
    layout, tracking = RunLayout(Path(config.env.out_root).absolute()), config.tracking
    own = layout.trackers
    facts = ("run_id", "benchmark", "harness", "student", "teacher", "simulated", "epochs", "steps")
    told = {key: event.get(key) for key in facts}
    params = {key: value for key, value in flatten(config).items() if not key.startswith(_LEFT_OUT)}
    clean = Redactor(secrets_of(config)).log_json({**{f"run.{key}": value for key, value in told.items()}, **params})
    assert isinstance(clean, dict)
    tags = {key: str(told[key]) for key in ("benchmark", "harness", "student", "teacher", "simulated")}
    return Begin(
        run_id=str(event.get("run_id")),
        project=tracking.project,
        folder=str(Path(tracking.folder).absolute()) if tracking.folder else str(own),
        memory=str(own / name),
        params=clean,
        tags={**tags, "directory": str(layout.root)},
        settings=asdict(tracking),
    )


def end_of(config: Config, event: Mapping[str, Any]) -> End:
    """Return what a tracker is told last, for `run_finished` or `run_stopped`."""
    if event.get("kind") != "run_finished":
        return End(str(event.get("state")), str(event.get("cause")))
    layout = RunLayout(Path(config.env.out_root).absolute())
    summary = SummaryView.read(layout)
    numbers = dict(_numbers(summary)) if summary is not None else {}
    files = [str(layout.best_skill)] if layout.best_skill.is_file() else []
    return End("done", str(event.get("stop_reason")), numbers, files)


def _numbers(summary: SummaryView) -> Iterator[tuple[str, float]]:
    for path in _NUMBERS:
        value = summary.number(*path)
        if value is not None:
            yield "summary/" + "_".join(path), value
    if summary.valid is not None:
        yield "summary/valid", float(summary.valid)
