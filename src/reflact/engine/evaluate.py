"""One skill on one part of the split: `reflact-eval`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reflact.config.schema import Config
from reflact.core.events import Emit, RunFinished, RunStarted, Warned
from reflact.core.hashing import text_digest
from reflact.core.names import Part, Phase, Stage
from reflact.engine.assemble import make_evaluator, make_parts
from reflact.engine.desk import Desk, claimed, host, opened
from reflact.engine.evaluation import Plan, Trial
from reflact.engine.heap import settled_heap
from reflact.engine.preflight import preflight
from reflact.engine.prepare import Prepared
from reflact.engine.run import begin, finished
from reflact.engine.running import run_interruptibly
from reflact.engine.sessions import session_of
from reflact.engine.summary import SCHEMA_VERSION, Summary
from reflact.engine.tally import tally
from reflact.engine.validity import judge_validity
from reflact.optimizer.registry import without_teacher
from reflact.rundir.atomic import write_json
from reflact.rundir.claim import Claim
from reflact.rundir.code_version import code_version
from reflact.rundir.events import read_events
from reflact.rundir.layout import RunLayout

_PHASES = {Part.TRAIN: Phase.TRAIN, Part.VAL: Phase.SELECTION, Part.TEST: Phase.TEST}


def evaluate(config: Config, *, claim: Claim | None = None, listeners: Sequence[Emit] = ()) -> Summary:
    """Evaluate the skill `config.skill` on the part `config.split`; refuses and resumes like a run.

    Raises:
        ReflactError: With the exit code that a command should end with.
    """
    root = Path(config.env.out_root)
    prepared = preflight(config, root, skill=skill_name(config))
    done = finished(RunLayout(root)) if config.run.resume else None
    if done is not None:
        if claim is not None:
            claim.release()
        return done
    with claimed(config, root, claim) as owned, opened(without_teacher(config), owned, listeners) as desk:
        return run_interruptibly(lambda: _evaluate(desk, prepared))


def skill_name(config: Config) -> str:
    """Return what names the skill: `skill`, or the initial skill's name where it is empty."""
    return config.skill or config.env.skill_init


async def _evaluate(desk: Desk, prepared: Prepared) -> Summary:
    code = code_version()
    parts = make_parts(prepared, desk, teaches=False)
    try:
        record = begin(desk, prepared, parts, code)
        part = Part(prepared.config.split)
        trials = _trials(prepared, part)
        desk.emit(_started(desk, record, part, len(trials)))
        for finding in prepared.warnings:
            desk.emit(Warned(finding.code, finding.message))
        evaluator = make_evaluator(prepared, desk, parts, record["code_version"])
        folder = desk.layout.evaluation("evaluation")
        plan = Plan(trials, prepared.skill, part, Stage.EVALUATE, _PHASES[part], folder)
        with settled_heap():
            evaluation = await evaluator.evaluate(plan)
        desk.syncer.flush()
        session = session_of(read_events(desk.layout.events)[0], time.time(), record["code_version"])
        counts = tally(desk.layout.root, _PHASES[part])
        summary = Summary(
            {
                "schema_version": SCHEMA_VERSION,
                "kind": "evaluation",
                **{key: record[key] for key in ("run_id", "benchmark", "harness", "student", "simulated")},
                "status": "completed",
                "config_hash": record["config_hash"],
                "code_version": record["code_version"],
                "started_at": session.started_at,
                "finished_at": session.finished_at,
                "wall_time_s": round(session.wall_time_s, 1),
                "split": {"name": prepared.split.name, "fingerprint": prepared.split.fingerprint, "part": part.value},
                "skill": _skill(prepared),
                "scores": evaluation.done.to_json(),
                "rows": counts.rows,
                "rate_limits": {"count_429": desk.meter.count_429, "wait_s": round(desk.meter.wait_s, 1)},
                "usage": desk.meter.to_json(),
                "tokens_total": desk.meter.total.tokens,
                "cost_usd": desk.meter.cost_usd,
                "sample": prepared.split.sample,
                "validity": judge_validity(prepared.config, counts, session.code_versions),
            }
        )
        desk.claim.check()
        write_json(desk.layout.summary, summary.to_json())
        desk.emit(RunFinished("completed"))
        return summary
    finally:
        await parts.aclose()


def _trials(prepared: Prepared, part: Part) -> tuple[Trial, ...]:
    config = prepared.config
    bounds = {Part.VAL: config.evaluation.sel_env_num, Part.TEST: config.evaluation.test_env_num}
    bound = bounds.get(part, 0)
    items = prepared.split.parts[part]
    return tuple(Trial(item, config.train.seed) for item in (items[:bound] if bound > 0 else items))


def _skill(prepared: Prepared) -> dict[str, Any]:
    return {
        "name": skill_name(prepared.config),
        "skill_sha256": text_digest(prepared.skill),
        "skill_chars": len(prepared.skill),
    }


def _started(desk: Desk, record: Any, part: Part, n: int) -> RunStarted:
    import os

    return RunStarted(
        run_id=record["run_id"],
        benchmark=record["benchmark"],
        harness=record["harness"],
        student=record["student"],
        teacher="",
        simulated=record["simulated"],
        resumed=bool(desk.earlier),
        pid=os.getpid(),
        host=host(),
        epochs=0,
        steps=0,
        counts={_PHASES[part].value: n},
    )
