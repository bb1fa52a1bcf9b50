"""Keys that count only beside others: set where they do not count, they are named in a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from reflact.config.keys import all_keys, get, show
from reflact.config.schema import Config
from reflact.config.study import OptimizerConfig

AGENTS = ("codex_exec", "claude_code_exec")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where some keys count.

    Attributes:
        keys: Dotted names; one that ends with a dot or `_` stands for all that begin with it.
        counts: Whether they do under a configuration.
        where: The same in words, after "counts only".
    """

    keys: tuple[str, ...]
    counts: Callable[[Config], bool]
    where: str


def _student(*names: str) -> Callable[[Config], bool]:
    return lambda config: config.model.student_backend in names


def _anyone(name: str) -> Callable[[Config], bool]:
    return lambda config: name in (config.model.student_backend, config.model.teacher_backend)


def _benchmark(*names: str) -> Callable[[Config], bool]:
    return lambda config: config.benchmark.name in names


def _tracker(name: str) -> Callable[[Config], bool]:
    return lambda config: name in config.tracking.trackers


def _budgeted(optimizer: OptimizerConfig) -> bool:
    return optimizer.lr_control_mode != "none" and optimizer.skill_update_mode != "full_rewrite_minibatch"


_turns = _benchmark("alfworld", "spreadsheetbench")
SCOPES = (
    Scope(("model.codex_",), _student("codex_exec"), "with model.student_backend=codex_exec"),
    Scope(("model.claude_code_",), _student("claude_code_exec"), "with model.student_backend=claude_code_exec"),
    Scope(("model.exec_", "env.idle_timeout", "run.keep_workspaces"), _student(*AGENTS), "with an agent's harness"),
    Scope(("model.local_path", "local."), _anyone("local"), "with a backend `local`"),
    Scope(("tracking.mlflow_",), _tracker("mlflow"), "with the tracker `mlflow`"),
    Scope(("tracking.wandb_",), _tracker("wandb"), "with the tracker `wandb`"),
    Scope(
        ("tracking.project", "tracking.folder", "tracking.close_timeout_s"),
        lambda config: bool(config.tracking.trackers),
        "with tracking.trackers",
    ),
    Scope(("rehearsal.",), _anyone("rehearsal"), "with a backend `rehearsal`"),
    Scope(("env.due", "env.size"), _benchmark("orders"), "with benchmark=orders"),
    Scope(("env.max_context_chars",), _benchmark("searchqa"), "with benchmark=searchqa"),
    Scope(
        ("env.use_theorem", "env.use_sketch", "env.drop_constant_option"),
        _benchmark("livemathematicianbench"),
        "with benchmark=livemathematicianbench",
    ),
    Scope(("env.image_detail", "env.max_image_pixels"), _benchmark("docvqa"), "with benchmark=docvqa"),
    Scope(
        ("env.mode", "env.code_", "env.gold_feedback", "env.recalculate"),
        _benchmark("spreadsheetbench"),
        "with benchmark=spreadsheetbench",
    ),
    Scope(
        ("env.max_turns",),
        lambda config: _turns(config) or config.model.student_backend == "claude_code_exec",
        "with benchmark=alfworld or spreadsheetbench, or harness=claude_code_exec",
    ),
    Scope(("env.env_workers",), _turns, "with benchmark=alfworld or spreadsheetbench"),
    Scope(("optimizer.gepa_",), lambda config: config.optimizer.name == "gepa", "with optimizer=gepa"),
    Scope(
        ("evaluation.gate_mixed_weight",),
        lambda config: config.evaluation.gate_metric == "mixed",
        "with evaluation.gate_metric=mixed",
    ),
    Scope(
        ("evaluation.gate_alpha",),
        lambda config: config.evaluation.gate_rule == "paired",
        "with evaluation.gate_rule=paired",
    ),
    Scope(
        ("gradient.deep_reflect_",),
        lambda config: config.gradient.use_deep_reflect,
        "with gradient.use_deep_reflect=true",
    ),
    Scope(
        ("gradient.max_edits_per_minibatch",),
        lambda config: config.optimizer.lr_control_mode == "autonomous",
        "with optimizer.lr_control_mode=autonomous",
    ),
    Scope(
        ("optimizer.meta_learning_rate",),
        lambda config: config.optimizer.use_meta_reflect,
        "with optimizer.use_meta_reflect=true",
    ),
    Scope(
        ("optimizer.learning_rate", "optimizer.min_learning_rate", "optimizer.lr_scheduler"),
        lambda config: _budgeted(config.optimizer),
        "with an edit budget (optimizer.lr_control_mode=fixed or autonomous, and not with whole drafts)",
    ),
    Scope(
        ("optimizer.rewrite_max_completion_tokens",),
        lambda config: config.optimizer.skill_update_mode != "patch" or config.optimizer.name != "reflact",
        "with optimizer.skill_update_mode=rewrite_from_suggestions or full_rewrite_minibatch",
    ),
    Scope(
        ("optimizer.rewrite_reasoning_effort",),
        lambda config: config.optimizer.skill_update_mode == "rewrite_from_suggestions",
        "with optimizer.skill_update_mode=rewrite_from_suggestions",
    ),
    Scope(
        ("optimizer.slow_update_gate",),
        lambda config: config.optimizer.use_slow_update,
        "with optimizer.use_slow_update=true",
    ),
    Scope(
        ("optimizer.slow_update_samples", "optimizer.longitudinal_pair_policy"),
        lambda config: config.optimizer.use_slow_update or config.optimizer.use_meta_skill,
        "with optimizer.use_slow_update=true or optimizer.use_meta_skill=true",
    ),
    Scope(("evaluation.gate_rule",), lambda config: config.evaluation.use_gate, "with evaluation.use_gate=true"),
)


def without_effect(config: Config) -> Iterator[str]:
    """Yield one sentence for each key that is set and does not count under this configuration."""
    for scope in SCOPES:
        if scope.counts(config):
            continue
        for key in all_keys().values():
            value = get(config, key.name)
            if key.name.startswith(scope.keys) and value != key.default:
                yield f"{key.name}={show(value)} has no effect here: it counts only {scope.where}."
