"""For every key of the configuration: what is seen to change when its value does."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from reflact.benchmarks.registry import load_benchmark
from reflact.config.schema import Config
from reflact.core.errors import ReflactError
from reflact.core.names import Role
from reflact.core.usage import Usage
from reflact.engine.gate import Measured, Metric, make_rule
from reflact.engine.tally import tally
from reflact.engine.validity import judge_validity
from reflact.models.backoff import RetryPolicy
from reflact.models.endpoints import resolve_endpoint
from reflact.models.local import LocalModels
from reflact.models.meter import Meter, MeterKey
from reflact.models.protocol import CallError, Failure
from reflact.models.registry import connect_role
from reflact.optimizer.types import Trajectory, TrajectoryRef
from reflact.report.live import choose_mode
from tests.models.local_support import missing
from tests.optimizer.fakes import trajectory
from tests.optimizer.test_llm_teacher import STAGES, ScriptedCaller, ask

KEYS = {"OPENAI_API_KEY": "a-key", "AZURE_OPENAI_API_KEY": "b-key", "MY_KEY": "c-key"}
QUICK = ("limits.backoff_s=0", "limits.max_attempts=1")


@dataclass(frozen=True, slots=True)
class Run:
    """The outcome of a short simulated run differs.

    Attributes:
        value: The other value.
        base: What both runs share.
    """

    value: str
    base: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Look:
    """What a part of the program makes of the configuration differs.

    Attributes:
        value: The other value.
        see: What is looked at; an error of ours is something to see, too.
        base: What both configurations share.
    """

    value: str
    see: Callable[[Config], Any]
    base: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no second value: whatever else is given is a usage error."""

    value: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Another test sets the key and sees what it does; `needle` is how the key is called there."""

    test: str
    needle: str


@dataclass(frozen=True, slots=True)
class Agent:
    """Counts with an agent's harness, and is named in a warning with any other one."""

    value: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """Changes nothing in a training run, for the reason given."""

    why: str


Probe = Run | Look | Refused | Elsewhere | Agent | Recorded


def info(role: Role) -> Callable[[Config], Any]:
    return lambda config: connect_role(config, role).info


def endpoint(role: Role) -> Callable[[Config], Any]:
    return lambda config: resolve_endpoint(config, role, KEYS)


def data(config: Config) -> Any:
    """Return what a benchmark's loader finds, or why it finds nothing."""
    try:
        return load_benchmark(config).load().fingerprint
    except ReflactError as error:
        return str(error)


def settings(config: Config) -> Any:
    return dict(load_benchmark(config).settings())


def pauses(config: Config) -> Any:
    policy = RetryPolicy.of(config.limits)
    down, told = CallError(Failure.SERVER, "down"), CallError(Failure.RATE_LIMIT, "slow", retry_after_s=300.0)
    return [policy.pause_s(error, attempt, Random(0)) for error in (down, told) for attempt in range(1, 12)]


def metric(config: Config) -> Any:
    evaluation = config.evaluation
    return Metric(evaluation.gate_metric, evaluation.gate_mixed_weight)(0.0, 0.6)


def verdict(config: Config) -> Any:
    after = Measured({str(item): (1.0,) for item in range(3)}, 3)
    before = Measured({str(item): (0.0,) for item in range(3)}, 3)
    return make_rule(config.evaluation).decide(after, before).accept


def validity(config: Config) -> Any:
    counts = {"ok": 90, "empty": 4, "timeout": 3, "refused": 3, "error": 0}
    nothing = tally(Path("no such folder"))
    return judge_validity(config, replace(nothing, rows={"train": counts}))["reasons"]


def cost(config: Config) -> Any:
    try:
        return Meter.of(config).record(MeterKey("student", config.model.student, "gate", "test"), Usage(1, 0, 1000))
    except ReflactError as error:
        return str(error)


def runtime(config: Config) -> Any:
    """Return what a model in this process would be loaded with; nothing is loaded."""
    if missing() is not None:
        pytest.skip(f"absent: {missing()}")
    chat = LocalModels().connect(config, Role.STUDENT)
    return chat._runtime.settings if chat._runtime is not None else None


def cap(stage: str) -> Callable[[Config], Any]:
    """Return the cap on the reply of a stage's call."""

    def see(config: Config) -> Any:
        caller = ScriptedCaller()
        ask(caller, STAGES[stage][0], config=config)
        return caller.requests[0].max_completion_tokens

    return see


def shown(config: Config) -> Any:
    """Return the prompt about one long trajectory."""
    long: Trajectory = trajectory("long", question="q" * 400)
    caller = ScriptedCaller()
    ref = TrajectoryRef("long", 0.0, "", lambda: long)
    ask(caller, lambda t: t.diagnose(_context(), (ref,)), config=config)
    return caller.prompt


def _context() -> Any:
    from tests.optimizer.fakes import context

    return context()


STUDENT, TEACHER = Role.STUDENT, Role.TEACHER
CHAT = ("harness=openai_chat",)
AZURE = {role: (f"model.{role}_azure_openai_endpoint=https://x.openai.azure.com/",) for role in ("student", "teacher")}
SWEEP = Recorded("a key of sweeps: a single run names it in its log and goes on")
LIMITS = "tests/models/test_limits.py"

PROBES: dict[str, Probe] = {
    "benchmark.name": Look("searchqa", lambda config: load_benchmark(config).name, ("env.sample=true",)),
    "benchmark.options": Recorded("benchmarks of other packages get the whole configuration and read it there"),
    "model.teacher": Look("m2", info(TEACHER), CHAT),
    "model.student": Look("m2", info(STUDENT), CHAT),
    "model.teacher_backend": Run("template"),
    "model.student_backend": Look("openai_chat", info(STUDENT)),
    "model.reasoning_effort": Look("low", info(STUDENT), CHAT),
    "model.teacher_reasoning_effort": Look("low", info(TEACHER), CHAT),
    "model.student_reasoning_effort": Look("low", info(STUDENT), CHAT),
    "model.teacher_temperature": Look("0.3", info(TEACHER), CHAT),
    "model.student_temperature": Look("0.3", info(STUDENT), CHAT),
    "model.teacher_api": Look("responses", info(TEACHER), CHAT),
    "model.student_api": Look("responses", info(STUDENT), CHAT),
    **{
        f"model.{role}_{name}": Look(value, endpoint(Role(role)), base)
        for role in ("student", "teacher")
        for name, value, base in (
            ("base_url", "http://127.0.0.1:9/v1", ()),
            ("api_key_env", "MY_KEY", ()),
            ("azure_openai_endpoint", "https://y.openai.azure.com/", ()),
            ("azure_openai_api_version", "2025-01-01", AZURE[role]),
            ("azure_openai_auth_mode", "api_key", AZURE[role]),
            ("azure_openai_managed_identity_client_id", "an-id", AZURE[role]),
        )
    },
    "model.teacher_max_completion_tokens": Look("77", cap("rank")),
    "model.teacher_timeout": Run("0.001", ("rehearsal.latency_s=0.01", *QUICK)),
    "model.local_path": Elsewhere("tests/models/test_local_weights.py", "find_weights("),
    "train.num_epochs": Run("2"),
    "train.train_size": Run("7"),
    "train.batch_size": Run("4"),
    "train.accumulation": Run("2"),
    "train.seed": Run("7"),
    "train.stop_at_perfect": Run("false", ("evaluation.sel_env_num=2", "rehearsal.useless_edit_rate=0")),
    "train.speculate": Elsewhere("tests/engine/test_switches.py", "train.speculate=true"),
    "gradient.minibatch_size": Run("3"),
    "gradient.merge_batch_size": Run("2", ("train.batch_size=16",)),
    "gradient.analyst_workers": Elsewhere("tests/optimizer/test_llm_teacher.py", "analyst_workers"),
    "gradient.failure_only": Run("true"),
    "gradient.use_deep_reflect": Run("true"),
    "gradient.deep_reflect_failures": Run("1", ("gradient.use_deep_reflect=true",)),
    "gradient.deep_reflect_successes": Run("0", ("gradient.use_deep_reflect=true",)),
    "gradient.max_edits_per_minibatch": Run("1", ("optimizer.lr_control_mode=autonomous",)),
    "gradient.max_trajectory_chars": Look("300", shown),
    "optimizer.name": Run("one_shot"),
    "optimizer.gepa_minibatch_size": Run("2", ("optimizer=gepa", "optimizer.gepa_metric_calls=40")),
    "optimizer.gepa_metric_calls": Run("15", ("optimizer=gepa", "train.num_epochs=1")),
    "optimizer.learning_rate": Run("1"),
    "optimizer.min_learning_rate": Run("3"),
    "optimizer.lr_scheduler": Run("constant"),
    "optimizer.lr_control_mode": Run("none"),
    "optimizer.skill_update_mode": Run("full_rewrite_minibatch"),
    "optimizer.rewrite_reasoning_effort": Elsewhere("tests/engine/test_every_key.py", "rewrite_reasoning_effort=high"),
    "optimizer.rewrite_max_completion_tokens": Look("77", cap("rewrite")),
    "optimizer.use_slow_update": Run("false"),
    "optimizer.slow_update_samples": Run("3"),
    "optimizer.slow_update_gate": Run("forced"),
    "optimizer.longitudinal_pair_policy": Run("changed", ("evaluation.use_gate=false",)),
    "optimizer.use_meta_skill": Run("false"),
    "optimizer.use_meta_reflect": Run("true"),
    "optimizer.meta_learning_rate": Run("0", ("optimizer.use_meta_reflect=true",)),
    "optimizer.max_skill_chars": Run("60"),
    "optimizer.patience": Run("1", ("rehearsal.useless_edit_rate=1",)),
    "evaluation.use_gate": Run("false"),
    "evaluation.gate_metric": Look("soft", metric),
    "evaluation.gate_mixed_weight": Look("0.9", metric, ("evaluation.gate_metric=mixed",)),
    "evaluation.gate_rule": Look("paired", verdict),
    "evaluation.gate_alpha": Look("0.2", verdict, ("evaluation.gate_rule=paired",)),
    "evaluation.gate_repeats": Run("2"),
    "evaluation.early_reject": Run("true", ("rehearsal.useless_edit_rate=1", "env.workers=1")),
    "evaluation.eval_test": Run("false"),
    "evaluation.sel_env_num": Run("5"),
    "evaluation.test_env_num": Run("3"),
    "evaluation.max_error_rate": Elsewhere("tests/engine/test_failures.py", "max_error_rate"),
    "evaluation.error_retry_rounds": Elsewhere("tests/engine/test_failures.py", "error_retry_rounds"),
    "evaluation.overlap_baseline_test": Run("false", ("rehearsal.latency_s=0.002",)),
    "evaluation.reuse": Recorded("a run of its own measures its baseline; sweeps share it"),
    "env.out_root": Elsewhere("tests/engine/conftest.py", "config.env.out_root"),
    "env.split_mode": Refused("random"),
    "env.split": Look("1-1-8", data, ("benchmark=searchqa",)),
    "env.split_root": Look("nowhere", data, ("benchmark=searchqa",)),
    "env.split_dir": Look("nowhere", data, ("benchmark=searchqa",)),
    "env.data_root": Look("nowhere", data),
    "env.image_root": Look("nowhere", data),
    "env.sample": Look("true", data, ("benchmark=searchqa",)),
    "env.skill_init": Run("none"),
    "env.workers": Elsewhere("tests/engine/test_every_key.py", "env.workers=3"),
    "env.env_workers": Elsewhere("tests/benchmarks/alfworld/test_runs.py", "env_workers"),
    "env.exec_timeout": Run("0.001", ("rehearsal.latency_s=0.01", *QUICK)),
    "env.call_timeout": Run("0.001", ("rehearsal.latency_s=0.01", *QUICK)),
    "env.idle_timeout": Agent("7"),
    "env.max_completion_tokens": Run("99", ("rehearsal.empty_rate=0.5",)),
    "env.max_turns": Look("7", settings, ("benchmark=alfworld", "env.sample=true")),
    "env.mode": Look("multi", settings, ("benchmark=spreadsheetbench", "env.sample=true")),
    "env.gold_feedback": Look("train", settings, ("benchmark=spreadsheetbench", "env.sample=true", "env.mode=multi")),
    "env.sandbox": Look("off", settings, ("benchmark=spreadsheetbench", "env.sample=true")),
    "env.recalculate": Look("off", settings, ("benchmark=spreadsheetbench", "env.sample=true")),
    "env.code_timeout": Look("7", settings, ("benchmark=spreadsheetbench", "env.sample=true")),
    "env.code_memory_mb": Look("77", settings, ("benchmark=spreadsheetbench", "env.sample=true")),
    "env.max_context_chars": Look("777", settings, ("benchmark=searchqa", "env.sample=true")),
    "env.use_theorem": Look("true", settings, ("benchmark=livemathematicianbench", "env.sample=true")),
    "env.use_sketch": Look("true", settings, ("benchmark=livemathematicianbench", "env.sample=true")),
    "env.drop_constant_option": Elsewhere(
        "tests/benchmarks/livemathematicianbench/test_constant.py", "drop_constant_option"
    ),
    "env.image_detail": Look("low", settings, ("benchmark=docvqa", "env.sample=true")),
    "env.max_image_pixels": Look("5000", settings, ("benchmark=docvqa", "env.sample=true")),
    "env.due": Look("true", data),
    "env.size": Look("large", data),
    "limits.max_concurrent_requests": Elsewhere(LIMITS, "max_concurrent_requests"),
    "limits.requests_per_minute": Elsewhere("tests/models/test_shared_limits.py", "requests_per_minute"),
    "limits.tokens_per_minute": Elsewhere(LIMITS, "tokens_per_minute"),
    "limits.adaptive": Elsewhere("tests/models/test_shared_limits.py", "adaptive"),
    "limits.hedge_after": Elsewhere("tests/models/test_hedge.py", "hedge_after"),
    "limits.max_attempts": Look("2", pauses),
    "limits.backoff_s": Look("0.25", pauses),
    "limits.max_backoff_s": Look("2", pauses),
    "limits.max_retry_after_s": Look("20", pauses),
    "budget.max_tokens": Run("2000"),
    "budget.max_usd": Look("1", cost, ("model.student=without-a-price",)),
    "pricing.models": Look("{m:{prompt:1,cached:1,completion:1}}", cost, ("model.student=m",)),
    "run.resume": Elsewhere("tests/engine/test_resume.py", "run.resume=true"),
    "run.keep_workspaces": Agent("true"),
    "run.claim_timeout_s": Elsewhere("tests/rundir/test_claim.py", "timeout_s"),
    "run.heartbeat_s": Elsewhere("tests/rundir/test_claim.py", "heartbeat_s"),
    "run.allow_code_change": Elsewhere("tests/cli/test_train.py", "allow_code_change"),
    "validity.max_empty_rate": Look("0.5", validity),
    "validity.max_timeout_rate": Look("0.01", validity),
    "validity.max_refused_rate": Look("0.5", validity),
    "validity.ignore": Recorded("tables read it when they compare runs"),
    "display.mode": Look("off", lambda config: choose_mode(config.display.mode, io.StringIO(), {})),
    "display.interval_s": Elsewhere("tests/report/test_lines.py", "interval"),
    "tracking.trackers": Elsewhere("tests/trackers/test_isolation.py", "tracking.trackers"),
    "tracking.project": Elsewhere("tests/trackers/test_real.py", "tracking.project"),
    "tracking.folder": Elsewhere("tests/trackers/test_real.py", "tracking.folder"),
    "tracking.mlflow_uri": Elsewhere("tests/trackers/test_real.py", "tracking.mlflow_uri"),
    "tracking.wandb_mode": Elsewhere("tests/trackers/test_settings.py", "wandb_mode"),
    "tracking.wandb_entity": Elsewhere("tests/trackers/test_settings.py", "wandb_entity"),
    "tracking.close_timeout_s": Elsewhere("tests/trackers/test_isolation.py", "tracking.close_timeout_s"),
    "rehearsal.seed": Run("1"),
    "rehearsal.latency_s": Elsewhere("tests/models/test_rehearsal.py", "latency_s"),
    "rehearsal.rate_limit_rate": Run("0.2", ("limits.backoff_s=0",)),
    "rehearsal.server_error_rate": Run("0.2", ("limits.backoff_s=0",)),
    "rehearsal.empty_rate": Run("0.3"),
    "rehearsal.useless_edit_rate": Run("1"),
    "local.threads": Look("3", runtime),
    "local.context": Look("512", runtime),
    "skill": Elsewhere("tests/cli/test_evaluate.py", "skill="),
    "split": Elsewhere("tests/cli/test_evaluate.py", "split="),
}
AGENT_VALUES = {"model.codex_exec_sandbox": "read-only", "model.codex_exec_approval_policy": "on-request",
                "model.codex_exec_reasoning_effort": "low", "model.codex_exec_use_sdk": "true",
                "model.claude_code_exec_use_sdk": "true"}  # fmt: skip
"""Other values of the agents' keys that are not switches or numbers; see `probe_of`."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What one run left, without times."""

    outcome: str
    history: str = ""
    usage: str = ""
    rows: str = ""
    phases: frozenset[tuple[str, bool]] = field(default_factory=frozenset)


def trace_of(root: Path, summary: dict[str, Any] | None, outcome: str) -> Trace:
    """Return the trace of the run in `root`."""
    if summary is None:
        return Trace(outcome)
    events = [json.loads(line) for line in (root / "events.jsonl").read_text(encoding="utf-8").splitlines()]
    return Trace(
        outcome=outcome,
        history=(root / "history.jsonl").read_text(encoding="utf-8"),
        usage=json.dumps([summary["usage"], summary["rate_limits"]["count_429"]]),
        rows=json.dumps([summary["rows"], summary["stop_reason"], summary["best"], summary["baseline"]]),
        phases=frozenset((e["name"], e["background"]) for e in events if e["kind"] == "phase_started"),
    )
