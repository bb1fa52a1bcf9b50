"""What the stages of a run work with: every part is an object that was passed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.protocol import Benchmark, Split
from reflact.config.schema import Config
from reflact.core.events import Emit
from reflact.core.names import Part
from reflact.core.types import Item
from reflact.engine.batches import Schedule
from reflact.engine.evaluation import Evaluator, Trial
from reflact.engine.forecast import Forecast
from reflact.engine.gate import Metric, Rule
from reflact.models.meter import Meter
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.types import UpdateMode
from reflact.rundir.journal import Journal
from reflact.rundir.jsonl import Syncer
from reflact.rundir.layout import RunLayout


@dataclass(slots=True)
class Workbench:
    """Parts of one run.

    Attributes:
        config: The resolved configuration.
        benchmark: Data, task and prompts.
        split: The items.
        schedule: Sizes and seeds of the loop.
        initial_skill: Text of the initial skill.
        evaluator: Runs evaluations and rollouts.
        teacher: Reads trajectories and proposes changes.
        rule: The gate's rule.
        metric: What the gate compares.
        meter: Usage, cost and budget.
        layout: Paths of the run.
        syncer: Keeps appended files on disk.
        emit: Where events go.
        check: Raises when another process has taken the run over.
        forecast: Tells background work when the student's slots are wanted.
    """

    config: Config
    benchmark: Benchmark
    split: Split
    schedule: Schedule
    initial_skill: str
    evaluator: Evaluator
    teacher: Teacher
    rule: Rule
    metric: Metric
    meter: Meter
    layout: RunLayout
    syncer: Syncer
    emit: Emit
    check: Callable[[], None]
    forecast: Forecast

    @property
    def mode(self) -> UpdateMode:
        """How changes are expressed."""
        return UpdateMode(self.config.optimizer.skill_update_mode)

    @property
    def gold_for_teacher(self) -> bool:
        """Whether trajectories of train items carry their gold answers."""
        return self.benchmark.teacher_sees_gold

    def journal(self, folder: Path) -> Journal:
        """Return the journal of a folder."""
        return Journal(folder, self.check)

    def skill_key(self, text: str) -> str:
        """Return the key under which a skill is measured."""
        return self.evaluator.keys.skill_key(text)

    def items(self, part: Part) -> tuple[Item, ...]:
        """Return the items of a part that the run uses."""
        items = self.split.parts[part]
        bounds = {Part.VAL: self.config.evaluation.sel_env_num, Part.TEST: self.config.evaluation.test_env_num}
        bound = bounds.get(part, 0)
        return items[:bound] if bound > 0 else items

    def trials(self, part: Part, repeats: int = 1) -> tuple[Trial, ...]:
        """Return the trials of an evaluation, pass by pass; pass r runs under seed `train.seed + r`."""
        seed = self.config.train.seed
        return tuple(Trial(item, seed + repeat, repeat) for repeat in range(repeats) for item in self.items(part))
