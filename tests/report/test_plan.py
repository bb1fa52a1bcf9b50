"""The counts of a plan must be those of the loop."""

import pytest

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.names import Part
from reflact.engine.plan import plan_counts
from reflact.report.plan import gates_in_budget, plan_warnings

LIVEMATH = {Part.TRAIN: 35, Part.VAL: 18, Part.TEST: 124}
ALFWORLD = {Part.TRAIN: 39, Part.VAL: 18, Part.TEST: 134}


def config(**values) -> Config:
    made = Config()
    for name, value in values.items():
        section, _, key = name.partition("__")
        setattr(getattr(made, section), key, value)
    return made


@pytest.mark.parametrize(
    ("sizes", "batch", "batches"),
    [
        (LIVEMATH, 8, (8, 8, 8, 8, 3)),
        (LIVEMATH, 24, (24, 11)),
        (LIVEMATH, 40, (35,)),
        (LIVEMATH, "full", (35,)),
        (ALFWORLD, 8, (8, 8, 8, 8, 7)),
        (ALFWORLD, 24, (24, 15)),
        (ALFWORLD, 56, (39,)),
    ],
)
def test_batches_are_consecutive_slices_of_one_pass(sizes, batch, batches):
    plan = plan_counts(config(train__batch_size=batch), sizes)
    assert plan.batch_sizes == batches
    assert plan.steps_per_epoch == len(batches)


def test_rows_are_the_formulas_upper_bound():
    plan = plan_counts(config(train__batch_size=8), LIVEMATH)
    # V + E*T + E*S*V + (E-1)*(2n + V) + 3 X
    assert plan.rows == 18 + 4 * 35 + 4 * 5 * 18 + 3 * (2 * 20 + 18) + 3 * 124
    # E*S*(ceil(B/M) + 1 + merges + 1), three slow updates and two memories
    assert plan.teacher_calls == 4 * 5 * (1 + 1 + 2 + 1) + 3 + 2


def test_what_is_switched_off_costs_nothing():
    off = config(
        train__batch_size=8,
        optimizer__use_slow_update=False,
        optimizer__use_meta_skill=False,
        evaluation__eval_test=False,
    )
    plan = plan_counts(off, LIVEMATH)
    assert (plan.epoch_end_rows, plan.test_rows) == (0, 0)
    assert plan.gate_evaluations == 20


def test_bounded_splits_and_repeats_count():
    bounded = config(evaluation__sel_env_num=5, evaluation__gate_repeats=3, evaluation__test_env_num=10)
    plan = plan_counts(bounded, LIVEMATH)
    assert plan.baseline_rows == 15
    assert plan.test_rows == 30


def test_edit_budgets_follow_the_schedule():
    linear = config(train__batch_size=35, optimizer__lr_scheduler="linear")
    assert plan_counts(linear, LIVEMATH).edit_budgets == (4, 3, 2, 2)
    assert plan_counts(config(optimizer__lr_control_mode="autonomous"), LIVEMATH).edit_budgets is None


def test_a_wrong_train_size_is_an_error():
    with pytest.raises(ConfigError, match="train_size"):
        plan_counts(config(train__train_size=34), LIVEMATH)


def test_a_budget_for_less_than_three_gates_is_warned_of():
    poor = config(train__batch_size=8, budget__max_tokens=50_000)
    plan = plan_counts(poor, LIVEMATH)
    assert gates_in_budget(plan, 1000, 50_000) == 1
    assert any("budget.max_tokens=50000 lets about 1 of 23" in text for text in plan_warnings(poor, plan, 18, 1000))
    rich = config(train__batch_size=8, budget__max_tokens=50_000_000)
    assert not list(plan_warnings(rich, plan, 18, 1000))


def test_a_small_selection_split_is_warned_of():
    plan = plan_counts(config(), {Part.TRAIN: 1, Part.VAL: 1, Part.TEST: 175})
    assert any("selection split has 1 items" in text for text in plan_warnings(config(), plan, 1, None))
