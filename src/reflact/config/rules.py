"""Rules across keys. A problem stops a run before it begins; a warning is shown and the run goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import entry_points

from reflact.config.keys import show
from reflact.config.models import STUDENT_BACKENDS, TEACHER_BACKENDS, ModelConfig
from reflact.config.nearest import suggestion
from reflact.config.relevance import without_effect
from reflact.config.schema import Config

ROLES = ("teacher", "student")
_CHAT_ONLY = ("alfworld",)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPENAI_MODEL = re.compile(r"(gpt|chatgpt|o\d)\b", re.IGNORECASE)


def problems(config: Config) -> Iterator[str]:
    """Yield one sentence for each rule that the configuration breaks."""
    yield from _batch(config)
    yield from _learning_rate(config)
    yield from _gate(config)
    yield from _backends(config.model)
    yield from _agents(config)
    for role in ROLES:
        yield from _endpoint(config.model, role)
    yield from _method(config)
    yield from _operation(config)


def warnings(config: Config) -> Iterator[str]:
    """Yield one sentence for each thing that is allowed but rarely meant."""
    model = config.model
    if model.student_backend == "claude_code_exec" and _OPENAI_MODEL.match(model.student):
        yield (
            f"model.student={model.student} looks like an OpenAI model, and model.student_backend=claude_code_exec"
            " asks Claude Code for it; `harness=claude_code_exec` takes sonnet."
        )
    simulated = [role for role in ROLES if getattr(model, f"{role}_backend") == "rehearsal"]
    if len(simulated) == 1:
        yield (
            f"Only the {simulated[0]} is simulated; the whole run will be marked as simulated. "
            "`harness=rehearsal` simulates both."
        )
    if config.env.sandbox == "off":
        yield "env.sandbox=off: model-written code runs unconfined, and the run fills no table."
    if config.env.gold_feedback == "train":
        yield "env.gold_feedback=train: the student is told its score while it works; the run is marked."
    if config.optimizer.learning_rate == 0 and config.optimizer.lr_control_mode == "fixed":
        yield "optimizer.learning_rate=0: no edit is ever selected, so that steps change nothing."
    yield from without_effect(config)


def _batch(config: Config) -> Iterator[str]:
    size = config.train.batch_size
    whole = isinstance(size, int) and not isinstance(size, bool) and size >= 1
    if size != "full" and not whole:
        yield f"train.batch_size={show(size)} is not allowed: it takes a whole number of at least 1, or `full`."


def _learning_rate(config: Config) -> Iterator[str]:
    floor, rate = config.optimizer.min_learning_rate, config.optimizer.learning_rate
    if floor is not None and floor > rate:
        yield (
            f"optimizer.min_learning_rate={floor} is above optimizer.learning_rate={rate}: the floor of the schedule "
            f"may be at most {rate}; null takes min(2, learning_rate)."
        )


def _gate(config: Config) -> Iterator[str]:
    evaluation = config.evaluation
    if not evaluation.early_reject:
        return
    needed = {
        "evaluation.gate_rule": (evaluation.gate_rule, "strict"),
        "evaluation.use_gate": (evaluation.use_gate, True),
        "evaluation.max_error_rate": (evaluation.max_error_rate, 0),
    }
    for key, (value, wanted) in needed.items():
        if value != wanted:
            yield f"evaluation.early_reject=true needs {key}={show(wanted)}, and it is {show(value)}."


def _method(config: Config) -> Iterator[str]:
    if config.optimizer.name == "gepa" and config.evaluation.max_error_rate > 0:
        yield "optimizer=gepa needs evaluation.max_error_rate=0: its search must have a score for every item."


def _backends(model: ModelConfig) -> Iterator[str]:
    for role, own in (("teacher", TEACHER_BACKENDS), ("student", STUDENT_BACKENDS)):
        name = getattr(model, f"{role}_backend")
        if name in own:
            continue  # looking through what is installed takes its time, and a plan checks hundreds of configurations
        known = list(dict.fromkeys([*own, *sorted(point.name for point in entry_points(group="reflact.models"))]))
        if name not in known:
            yield (
                f"model.{role}_backend={show(name)} is not known{suggestion(name, known)}: it takes one of "
                f"{', '.join(known)}."
            )


def _agents(config: Config) -> Iterator[str]:
    backend = config.model.student_backend
    if config.benchmark.name in _CHAT_ONLY and backend in ("codex_exec", "claude_code_exec"):
        yield (
            f"benchmark={config.benchmark.name} cannot be done with model.student_backend={backend}: its games are "
            "played turn by turn with a student that answers messages; `harness=openai_chat` is one."
        )
    model = config.model
    if backend == "codex_exec" and model.codex_exec_network_access and model.codex_exec_sandbox == "read-only":
        yield (
            "model.codex_exec_network_access=true has no effect in Codex's read-only sandbox, which has no network: it "
            "takes model.codex_exec_sandbox=workspace-write or danger-full-access."
        )


def _endpoint(model: ModelConfig, role: str) -> Iterator[str]:
    base, azure = f"{role}_base_url", f"{role}_azure_openai_endpoint"
    if getattr(model, base) and getattr(model, azure):
        yield (
            f"model.{base} and model.{azure} are both set: the {role} has one endpoint; empty one of them "
            f"(model.{base}= or model.{azure}=)."
        )
    for name in (base, azure):
        url = getattr(model, name)
        if url and not url.lower().startswith(("http://", "https://")):
            shown = "" if "@" in url else f"={url}"  # there may be a password in front of it
            yield f"model.{name}{shown} must begin with http:// or https://."
    variable = getattr(model, f"{role}_api_key_env")
    if variable is not None and not _VARIABLE.fullmatch(variable):
        # Never repeat the value: whoever misreads this key puts a secret here.
        yield f"model.{role}_api_key_env takes the name of an environment variable, not the key itself."


def _operation(config: Config) -> Iterator[str]:
    run, limits = config.run, config.limits
    if run.heartbeat_s >= run.claim_timeout_s:
        yield (
            f"run.heartbeat_s={run.heartbeat_s:g} must be below run.claim_timeout_s={run.claim_timeout_s:g}, or a "
            "living run would look stale."
        )
    if limits.backoff_s > limits.max_backoff_s:
        yield f"limits.backoff_s={limits.backoff_s:g} is above limits.max_backoff_s={limits.max_backoff_s:g}."
    for benchmark, most in config.sweep.max_parallel.items():
        if most < 1:
            yield f"sweep.max_parallel: {benchmark} may run {most} at once; at least 1 is needed."
