"""A run from its configuration to its summary."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.config.schema import Config
from reflact.core.errors import DataError
from reflact.core.events import Emit, RunFinished, RunStarted, Warned
from reflact.core.names import Part
from reflact.engine.assemble import Parts, assemble, make_parts
from reflact.engine.desk import Desk, claimed, host, opened
from reflact.engine.heap import settled_heap
from reflact.engine.judge import selection_scores
from reflact.engine.method import steps_planned, unread
from reflact.engine.preflight import preflight
from reflact.engine.prepare import Prepared
from reflact.engine.run_record import changed_settings, make_record, read_record, require_same_run
from reflact.engine.running import run_interruptibly
from reflact.engine.sessions import session_of
from reflact.engine.summary import Summary, make_summary
from reflact.engine.tally import tally
from reflact.engine.trainer import run_training
from reflact.rundir.atomic import write_json
from reflact.rundir.claim import Claim
from reflact.rundir.code_version import code_version
from reflact.rundir.events import read_events
from reflact.rundir.jsonl import parse_line
from reflact.rundir.layout import RunLayout


def train(config: Config, *, claim: Claim | None = None, listeners: Sequence[Emit] = ()) -> Summary:
    """Train a skill in `env.out_root`, or go on with the run there if `run.resume` says so.

    Args:
        config: The configuration; `env.out_root` is set.
        claim: The directory's claim, if the caller has taken it.
        listeners: Displays and trackers; they get every event.

    Raises:
        ReflactError: With the exit code that a command should end with.
    """
    root = Path(config.env.out_root)
    prepared = preflight(config, root)
    done = finished(RunLayout(root)) if config.run.resume else None
    if done is not None:
        if claim is not None:
            claim.release()
        return done
    with claimed(config, root, claim) as owned, opened(config, owned, listeners) as desk:
        return run_interruptibly(lambda: _train(desk, prepared))


def finished(layout: RunLayout) -> Summary | None:
    """Return the summary of a complete run; None if the run is not complete.

    Raises:
        DataError: The file is no summary.
    """
    if not layout.summary.exists():
        return None
    data = parse_line(layout.summary.read_bytes())
    if data is None:
        raise DataError(
            f"{layout.summary} is damaged: no JSON object. Remove it; run.resume=true makes it again from what "
            "was measured, without a call."
        )
    return Summary(data)


async def _train(desk: Desk, prepared: Prepared) -> Summary:
    code = code_version()
    parts = make_parts(prepared, desk)
    try:
        record = begin(desk, prepared, parts, code)
        bench = assemble(prepared, desk, parts, record["code_version"])
        desk.emit(_started(desk, prepared, record))
        for finding in prepared.warnings:
            desk.emit(Warned(finding.code, finding.message))
        method = prepared.config.optimizer.name
        for key in unread(prepared.config, record["config_diff"]):
            desk.emit(Warned("unread_key", f"training with optimizer={method} does not read {key}"))
        with settled_heap():
            state, tests = await run_training(bench)
        selection = await selection_scores(bench, state)
        desk.syncer.flush()
        events = read_events(desk.layout.events)[0]
        session = session_of(events, time.time(), record["code_version"])
        summary = make_summary(bench, record, state, selection, tests, tally(desk.layout.root), session)
        desk.claim.check()
        write_json(desk.layout.summary, summary.to_json())
        desk.emit(RunFinished(str(summary.data["stop_reason"])))
        return summary
    finally:
        await parts.aclose()


def begin(desk: Desk, prepared: Prepared, parts: Parts, code: str) -> Mapping[str, Any]:
    """Write config.json, or compare with the one that an earlier process wrote.

    Raises:
        Refused: The run is another one.
    """
    record = make_record(prepared, parts.student.info, parts.teacher_info, parts.prompts, code)
    old = read_record(desk.layout)
    if old is None:
        write_json(desk.layout.config, record)
        return record
    require_same_run(old, prepared, code, str(desk.layout.root))
    for key, was, now in changed_settings(old, prepared):
        desk.emit(Warned("changed_on_resume", f"{key}: {was!r} -> {now!r}", {"key": key}))
    if old["code_version"] != code:
        begun = old["code_version"]
        desk.emit(Warned("code_change", f"resumed with code version {code}, begun with {begun}", {"version": code}))
    return old


def _started(desk: Desk, prepared: Prepared, record: Mapping[str, Any]) -> RunStarted:
    schedule, config = prepared.schedule, prepared.config
    sizes = {part: len(prepared.split.parts[part]) for part in Part}
    return RunStarted(
        run_id=record["run_id"],
        benchmark=record["benchmark"],
        harness=record["harness"],
        student=record["student"],
        teacher=record["teacher"],
        simulated=record["simulated"],
        resumed=bool(desk.earlier),
        pid=os.getpid(),
        host=host(),
        epochs=schedule.epochs,
        steps=steps_planned(config, schedule),
        counts={
            "train": schedule.train_size,
            "selection": _bounded(sizes[Part.VAL], config.evaluation.sel_env_num) * config.evaluation.gate_repeats,
            "test": _bounded(sizes[Part.TEST], config.evaluation.test_env_num) if config.evaluation.eval_test else 0,
            "slow": 2 * min(config.optimizer.slow_update_samples, schedule.train_size) if _compares(config) else 0,
        },
    )


def _compares(config: Config) -> bool:
    return config.optimizer.use_slow_update or config.optimizer.use_meta_skill


def _bounded(size: int, bound: int) -> int:
    return min(size, bound) if bound > 0 else size
