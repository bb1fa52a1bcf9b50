"""What a configuration implies before it is run: steps, rows, calls. All numbers are upper bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from reflact.config.schema import Config
from reflact.config.study import OptimizerConfig
from reflact.core.names import Part
from reflact.engine.batches import Schedule, make_schedule
from reflact.engine.method import GEPA, ONE_SHOT
from reflact.engine.planned_rows import bounded, compared, deep_items, epoch_ends, loop_rows
from reflact.optimizer.schedule import edit_budget, resolve_floor


@dataclass(frozen=True, slots=True)
class Plan:
    """Counts of a run.

    Attributes:
        steps_per_epoch: Steps an epoch; 0 where only the search itself will know, as with the next one.
        total_steps: Steps of the run.
        batch_sizes: Items of each step's rollout in one epoch.
        edit_budgets: The edit budget of each step; None where the teacher sets it or there is none.
        baseline_rows: Rows of the initial skill on the selection split.
        rollout_rows: Rows of all rollouts.
        gate_rows: Rows of all gate evaluations of steps.
        epoch_end_rows: Rows of epoch-end comparisons and of their gates.
        test_rows: Rows of test evaluations, if initial, best and final skill are three skills.
        gate_evaluations: Candidates that can be measured, those of epoch ends included.
        teacher_calls: Calls of the teacher.
    """

    steps_per_epoch: int
    total_steps: int
    batch_sizes: tuple[int, ...]
    edit_budgets: tuple[int, ...] | None
    baseline_rows: int
    rollout_rows: int
    gate_rows: int
    epoch_end_rows: int
    test_rows: int
    gate_evaluations: int
    teacher_calls: int

    @property
    def rows(self) -> int:
        """Rows of the whole run."""
        return self.baseline_rows + self.rollout_rows + self.gate_rows + self.epoch_end_rows + self.test_rows


def plan_counts(config: Config, sizes: Mapping[Part, int]) -> Plan:
    """Return what a run would do at most; for the loop `V + E*T + E*S*V + (E-1)*(2n + V) + 3 X` rows.

    Here T, V, X are the sizes of train, selection and test, E the epochs, S the steps an epoch and n the items of an
    epoch-end comparison. Teacher calls: `E*S*(ceil(B/M) + 1 + merges + 1)`, and those of the epoch ends.

    Args:
        config: The configuration.
        sizes: Items of each part of the split.

    Raises:
        ConfigError: `train.train_size` contradicts the split, or the floor is above the learning rate.
    """
    schedule = make_schedule(config.train, sizes[Part.TRAIN])
    epochs, total = schedule.epochs, schedule.total_steps
    evaluation = config.evaluation
    selection = bounded(sizes[Part.VAL], evaluation.sel_env_num) * evaluation.gate_repeats
    test = bounded(sizes[Part.TEST], evaluation.test_env_num) if evaluation.eval_test else 0
    if config.optimizer.name == ONE_SHOT:
        return _one_shot(schedule, selection, 3 * test)
    if config.optimizer.name == GEPA:
        return _gepa(config, schedule, selection, 3 * test)
    comparisons, updates = epoch_ends(config)
    deep = deep_items(config)
    return Plan(
        steps_per_epoch=schedule.steps_per_epoch,
        total_steps=total,
        batch_sizes=_batch_sizes(schedule),
        edit_budgets=_fixed_budgets(config.optimizer, total),
        baseline_rows=selection,
        rollout_rows=epochs * schedule.train_size + total * deep,
        gate_rows=total * selection,
        epoch_end_rows=comparisons * 2 * compared(config, schedule) + updates * selection,
        test_rows=3 * test,
        gate_evaluations=total + updates,
        teacher_calls=total * _step_calls(config, schedule, deep) + _epoch_end_calls(config),
    )


def _one_shot(schedule: Schedule, selection: int, test_rows: int) -> Plan:
    """One batch, one call, one candidate."""
    first = _batch_sizes(schedule)[0]
    return Plan(
        steps_per_epoch=1,
        total_steps=1,
        batch_sizes=(first,),
        edit_budgets=None,
        baseline_rows=selection,
        rollout_rows=first,
        gate_rows=selection,
        epoch_end_rows=0,
        test_rows=test_rows,
        gate_evaluations=1,
        teacher_calls=1,
    )


def _gepa(config: Config, schedule: Schedule, selection: int, test_rows: int) -> Plan:
    """Rows are given; how many steps they make, only the search will know.

    An iteration takes a minibatch twice and, where the second was better, the selection split; none begins that could
    exceed the rows. The most calls come of iterations whose reply is of no use, which take the minibatch once.
    """
    given, size = config.optimizer.gepa_metric_calls, config.optimizer.gepa_minibatch_size
    rows = max(selection, loop_rows(config, schedule, selection) if given is None else given)
    left, most = rows - selection, 2 * size + selection
    measured = left // most
    used = left if measured else 0
    return Plan(
        steps_per_epoch=0,
        total_steps=0,
        batch_sizes=(),
        edit_budgets=None,
        baseline_rows=selection,
        rollout_rows=used - measured * selection,
        gate_rows=measured * selection,
        epoch_end_rows=0,
        test_rows=test_rows,
        gate_evaluations=measured,
        teacher_calls=(left - most) // size + 1 if measured else 0,
    )


def _batch_sizes(schedule: Schedule) -> tuple[int, ...]:
    whole = schedule.batch_size * schedule.accumulation
    starts = range(0, schedule.train_size, whole)
    return tuple(min(whole, schedule.train_size - start) for start in starts)


def edit_budgets(optimizer: OptimizerConfig, total: int) -> tuple[int, ...]:
    """Return the edit budget that the schedule gives to each of `total` steps."""
    floor = resolve_floor(optimizer.learning_rate, optimizer.min_learning_rate)
    return tuple(
        edit_budget(optimizer.lr_scheduler, optimizer.learning_rate, floor, step, total) for step in range(1, total + 1)
    )


def _fixed_budgets(optimizer: OptimizerConfig, total: int) -> tuple[int, ...] | None:
    """Return the budgets that are known before the run; None where the teacher sets them or there are none."""
    if optimizer.lr_control_mode != "fixed" or optimizer.skill_update_mode == "full_rewrite_minibatch":
        return None
    return edit_budgets(optimizer, total)


def _step_calls(config: Config, schedule: Schedule, deep: int) -> int:
    size = config.gradient.minibatch_size
    whole, last = divmod(schedule.train_size, schedule.batch_size)
    batches = min(schedule.accumulation, whole + (1 if last else 0))
    # Failures and successes are cut apart, so that each micro-batch may have one short minibatch more.
    patches = batches * (ceil(min(schedule.batch_size, schedule.train_size) / size) + 1)
    if deep:
        patches += 2
    merges = _merges(patches, config.gradient.merge_batch_size)
    choose = 1 if config.optimizer.skill_update_mode != "full_rewrite_minibatch" else 0
    learning_rate = 1 if config.optimizer.lr_control_mode == "autonomous" else 0
    rewrite = 1 if config.optimizer.skill_update_mode == "rewrite_from_suggestions" else 0
    return patches + merges + choose + learning_rate + rewrite + (1 if deep else 0)


def _merges(patches: int, group: int) -> int:
    """Return the merge calls that reduce that many patches, the final one of both sides included."""
    calls = 0
    while patches > 1:
        patches = ceil(patches / group)
        calls += patches
    return calls + 1


def _epoch_end_calls(config: Config) -> int:
    epochs, optimizer = config.train.num_epochs, config.optimizer
    calls = max(0, epochs - 1) if optimizer.use_slow_update else 0
    calls += max(0, epochs - 2) if optimizer.use_meta_skill else 0
    return calls + (epochs if optimizer.use_meta_reflect else 0)
