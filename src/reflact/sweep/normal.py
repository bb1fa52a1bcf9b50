"""What a configuration really computes: keys without effect dropped, values that mean the same made the same."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from reflact.config.identity import effective
from reflact.config.keys import all_keys
from reflact.config.relevance import SCOPES
from reflact.config.schema import Config
from reflact.core.names import Part
from reflact.engine.batches import Schedule, make_schedule
from reflact.engine.method import unread
from reflact.engine.plan import edit_budgets

_PLACES = ("env.split_mode", "env.split", "env.split_root", "env.split_dir", "env.data_root", "env.image_root")
_FULL_REWRITE = "full_rewrite_minibatch"
_EVALUATION_READS = (
    *("benchmark.", "env.", "model.student", "rehearsal.", "local.", "train.seed", "skill", "split"),
    *("evaluation.sel_env_num", "evaluation.test_env_num"),
)

Values = dict[str, Any]


def normal_form(config: Config, sizes: Mapping[Part, int], skill: str, command: str) -> Values:
    """Return what a run's result depends on, in a form that is equal for runs that compute the same.

    Where the items come from is left out: whoever compares runs compares the content of their splits too.

    Args:
        config: The run's configuration.
        sizes: Items of each part of its split.
        skill: Hash of the text it begins with (or evaluates).
        command: `train` or `evaluate`.

    Raises:
        ConfigError: `train.train_size` contradicts the split.
    """
    values = effective(config)
    for key in (*_PLACES, "env.skill_init", "skill"):
        del values[key]
    values["initial skill"] = skill
    _efforts(config, values)
    for scope in SCOPES:
        if not scope.counts(config):
            _drop(values, *scope.keys)
    if command == "evaluate":
        values = {key: value for key, value in values.items() if key.startswith((*_EVALUATION_READS, "initial skill"))}
        return {**values, "command": command}
    del values["split"]
    schedule = make_schedule(config.train, sizes[Part.TRAIN])
    _batches(config, schedule, values)
    _learning_rate(config, schedule, values)
    _epoch_ends(config, schedule, values)
    _drop(values, *unread(config, [key for key in values if key in all_keys()]))
    return {**values, "command": command}


def _efforts(config: Config, values: Values) -> None:
    """Resolve the effort of each role."""
    model = config.model
    del values["model.reasoning_effort"]
    for role in ("teacher", "student"):
        own = values[f"model.{role}_reasoning_effort"]
        values[f"model.{role}_reasoning_effort"] = model.reasoning_effort if own is None else own


def _batches(config: Config, schedule: Schedule, values: Values) -> None:
    """A batch that holds the whole split is `full`, and a minibatch never holds more than a batch."""
    size = min(schedule.batch_size, schedule.train_size)
    values["train.batch_size"] = size
    values["train.accumulation"] = min(schedule.accumulation, ceil(schedule.train_size / size))
    del values["train.train_size"]
    if not config.gradient.use_deep_reflect:
        values["gradient.minibatch_size"] = min(config.gradient.minibatch_size, size)


def _learning_rate(config: Config, schedule: Schedule, values: Values) -> None:
    """Schedules count by the budgets that they give; where there is no budget, none of their keys does."""
    optimizer = config.optimizer
    _drop(values, "optimizer.learning_rate", "optimizer.min_learning_rate", "optimizer.lr_scheduler")
    if optimizer.skill_update_mode == _FULL_REWRITE:
        del values["optimizer.lr_control_mode"]
    elif optimizer.lr_control_mode != "none":
        # An autonomous learning rate falls back to the schedule when its call fails.
        values["edit budgets"] = edit_budgets(optimizer, schedule.total_steps)


def _epoch_ends(config: Config, schedule: Schedule, values: Values) -> None:
    """The meta skill is first used in epoch 3, a slow update first written at the end of epoch 2."""
    optimizer, epochs = config.optimizer, schedule.epochs
    if epochs < 3:
        values["optimizer.use_meta_skill"] = False
    compares = epochs > 1 and (optimizer.use_slow_update or values["optimizer.use_meta_skill"])
    if not compares:
        _drop(values, "optimizer.slow_update_samples", "optimizer.longitudinal_pair_policy")
    else:
        values["optimizer.slow_update_samples"] = min(optimizer.slow_update_samples, schedule.train_size)
    if epochs < 2:
        _drop(values, "optimizer.slow_update_gate")


def _drop(values: Values, *prefixes: str) -> None:
    for key in [key for key in values if key.startswith(prefixes)]:
        del values[key]
