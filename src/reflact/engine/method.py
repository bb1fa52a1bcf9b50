"""How a run improves the skill: the loop of steps, or a baseline to compare it with.

Methods share everything around them: benchmark, harness, baseline, gate evaluations, budget, record and final tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Protocol

from reflact.config.schema import Config
from reflact.core.errors import Unavailable
from reflact.engine.batches import Schedule
from reflact.engine.final import BackgroundTest
from reflact.engine.history import History
from reflact.engine.state import TrainingState
from reflact.engine.workbench import Workbench

LOOP, ONE_SHOT, GEPA = "reflact", "one_shot", "gepa"

_EVALUATION_ONLY = ("skill", "split")
_EVERYWHERE = ("benchmark.", "env.", "model.", "rehearsal.", "local.", "optimizer.name", "train.seed")
_SHARED = (
    "train.train_size",
    "evaluation.gate_metric",
    "evaluation.gate_mixed_weight",
    "evaluation.gate_repeats",
    "evaluation.eval_test",
    "evaluation.sel_env_num",
    "evaluation.test_env_num",
    "gradient.max_trajectory_chars",
    "optimizer.max_skill_chars",
    "optimizer.rewrite_max_completion_tokens",
)
_READ = {
    ONE_SHOT: (
        *_EVERYWHERE,
        *_SHARED,
        "train.batch_size",
        "train.accumulation",
        "gradient.minibatch_size",
        "evaluation.use_gate",
        "evaluation.gate_rule",
        "evaluation.gate_alpha",
        "evaluation.early_reject",
    ),
    GEPA: (
        *_EVERYWHERE,
        *_SHARED,
        "train.stop_at_perfect",
        "optimizer.patience",
        "optimizer.gepa_",
    ),
}


class Method(Protocol):
    """One way to improve a skill."""

    async def improve(self, bench: Workbench, state: TrainingState, history: History, test: BackgroundTest) -> None:
        """Work until `state.ended` is set, saving the state so that a killed run can go on.

        Args:
            bench: The run's parts.
            state: Where the run stands; current and best skill are measured.
            history: Takes one record a step.
            test: To be told of the first teacher reply that was accepted.
        """
        ...


def make_method(name: str) -> Method:
    """Return the method of `optimizer.name`."""
    if name == ONE_SHOT:
        from reflact.engine.one_shot import OneShotMethod

        return OneShotMethod()
    if name == GEPA:
        from reflact.engine.gepa.method import GepaMethod

        return GepaMethod()
    from reflact.engine.loop import Loop

    return Loop()


def require_method(config: Config) -> None:
    """Make sure that the method's package is there.

    Raises:
        Unavailable: It is not.
    """
    if config.optimizer.name == GEPA and find_spec("gepa") is None:
        raise Unavailable("optimizer=gepa needs the package gepa: pip install 'reflact[gepa]'")


def steps_planned(config: Config, schedule: Schedule) -> int:
    """Return the steps that a run will do at most; 0 where only the search itself will know."""
    return {LOOP: schedule.total_steps, ONE_SHOT: 1, GEPA: 0}[config.optimizer.name]


def unread(config: Config, changed: Iterable[str]) -> list[str]:
    """Return those of the changed keys that training with this method does not read."""
    read = _READ.get(config.optimizer.name, ("",))
    return [key for key in changed if key in _EVALUATION_ONLY or not key.startswith(read)]
