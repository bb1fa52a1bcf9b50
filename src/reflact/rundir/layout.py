"""Every path of a run. Nothing else in the project joins path names of a run directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class EvaluationFolder:
    """The three files of a phase.

    Attributes:
        root: The run directory.
        name: The folder's path in the run directory with `/`; also the phase's name in events.
    """

    root: Path
    name: str

    @property
    def path(self) -> Path:
        """The folder."""
        return self.root / self.name

    @property
    def results(self) -> Path:
        """One row a line."""
        return self.path / "results.jsonl"

    @property
    def conversations(self) -> Path:
        """What was said, one item a line."""
        return self.path / "conversations.jsonl"

    @property
    def summary(self) -> Path:
        """Scores and counts, written when the phase is complete."""
        return self.path / "summary.json"

    @property
    def source(self) -> Path:
        """Where the rows were copied from, if another run made them."""
        return self.path / "source.json"


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of the loop, where a `Journal` keeps results and evaluations have folders of their own."""

    root: Path
    name: str

    @property
    def path(self) -> Path:
        """The folder."""
        return self.root / self.name

    def evaluation(self, name: str) -> EvaluationFolder:
        """An evaluation folder inside this one."""
        return EvaluationFolder(self.root, f"{self.name}/{name}")

    @property
    def selection(self) -> EvaluationFolder:
        """The candidate on the selection split."""
        return self.evaluation("selection")


class StepFolder(_Folder):
    """`steps/step_NNNN`."""

    __slots__ = ()

    @property
    def rollout(self) -> EvaluationFolder:
        """The batch with the current skill."""
        return self.evaluation("rollout")

    @property
    def deep_rollout(self) -> EvaluationFolder:
        """The representative items of a deep reflect."""
        return self.evaluation("deep_rollout")

    @property
    def patches(self) -> Path:
        """Folder of the analysts' patches, one file a minibatch."""
        return self.path / "patches"

    @property
    def merged_patch(self) -> Path:
        """The patch that the merge left."""
        return self.path / "merged_patch.json"

    @property
    def ranked_edits(self) -> Path:
        """The edits in the order of the ranking."""
        return self.path / "ranked_edits.json"

    @property
    def lr_decision(self) -> Path:
        """The autonomous learning rate."""
        return self.path / "lr_decision.json"

    @property
    def candidate_skill(self) -> Path:
        """The skill that goes to the gate."""
        return self.path / "candidate_skill.md"

    @property
    def edit_apply_report(self) -> Path:
        """What became of every edit."""
        return self.path / "edit_apply_report.json"

    @property
    def full_rewrite_result(self) -> Path:
        """Result of `full_rewrite_minibatch`."""
        return self.path / "full_rewrite_result.json"

    @property
    def rewrite_result(self) -> Path:
        """Result of `rewrite_from_suggestions`."""
        return self.path / "rewrite_result.json"

    @property
    def one_shot_result(self) -> Path:
        """Result of the method `one_shot`."""
        return self.path / "one_shot_result.json"

    @property
    def child_rollout(self) -> EvaluationFolder:
        """The batch with the candidate, where a search compares it with its parent first."""
        return self.evaluation("child_rollout")

    @property
    def step_record(self) -> Path:
        """The step's record, as in `history.jsonl`."""
        return self.path / "step_record.json"


class SlowUpdateFolder(_Folder):
    """`slow_update/epoch_NN`."""

    __slots__ = ()

    @property
    def slow_result(self) -> Path:
        """The new guidance."""
        return self.path / "slow_result.json"

    @property
    def comparison_pairs(self) -> Path:
        """The items that both skills did, and how."""
        return self.path / "comparison_pairs.json"

    @property
    def rollout_prev(self) -> EvaluationFolder:
        """The sample with the skill of the epoch before."""
        return self.evaluation("rollout_prev")

    @property
    def rollout_curr(self) -> EvaluationFolder:
        """The sample with the current skill."""
        return self.evaluation("rollout_curr")


class MetaSkillFolder(_Folder):
    """`meta_skill/epoch_NN`."""

    __slots__ = ()

    @property
    def meta_skill_result(self) -> Path:
        """The new memory."""
        return self.path / "meta_skill_result.json"

    @property
    def comparison_pairs(self) -> Path:
        """The pairs, where no slow update made them."""
        return self.path / "comparison_pairs.json"

    @property
    def rollout_prev(self) -> EvaluationFolder:
        """The sample with the skill of the epoch before, where no slow update made it."""
        return self.evaluation("rollout_prev")

    @property
    def rollout_curr(self) -> EvaluationFolder:
        """The sample with the current skill, where no slow update made it."""
        return self.evaluation("rollout_curr")


class MetaReflectFolder(_Folder):
    """`meta_reflect/epoch_NN`."""

    __slots__ = ()

    @property
    def meta_reflect_result(self) -> Path:
        """The new summary and its patch."""
        return self.path / "meta_reflect_result.json"

    @property
    def candidate_skill(self) -> Path:
        """The skill that goes to the gate."""
        return self.path / "candidate_skill.md"

    @property
    def edit_apply_report(self) -> Path:
        """What became of every edit."""
        return self.path / "edit_apply_report.json"


@dataclass(frozen=True, slots=True)
class RunLayout:
    """Where everything of the run in `root` is."""

    root: Path

    @property
    def workspaces(self) -> Path:
        """Workspaces of agent programs, where they are kept."""
        return self.root / "workspaces"

    @property
    def hydra(self) -> Path:
        """Folder of Hydra's own files."""
        return self.root / ".hydra"

    @property
    def claims(self) -> Path:
        """Folder of the claims."""
        return self.root / "claims"

    @property
    def config(self) -> Path:
        """The resolved configuration and what it was measured with."""
        return self.root / "config.json"

    @property
    def events(self) -> Path:
        """Everything that happened."""
        return self.root / "events.jsonl"

    @property
    def state(self) -> Path:
        """The one resume state."""
        return self.root / "state.json"

    @property
    def history(self) -> Path:
        """One step record a line."""
        return self.root / "history.jsonl"

    @property
    def lr_history(self) -> Path:
        """One autonomous learning rate a line."""
        return self.root / "lr_history.jsonl"

    @property
    def skills(self) -> Path:
        """Folder of the current skills."""
        return self.root / "skills"

    def skill(self, step: int) -> Path:
        """The current skill after a step; 0 is the initial one."""
        return self.skills / f"step_{step:04d}.md"

    def epoch_skill(self, epoch: int) -> Path:
        """The current skill after an epoch's slow update."""
        return self.skills / f"epoch_{epoch:02d}_slow.md"

    @property
    def best_skill(self) -> Path:
        """The best skill on the selection split so far."""
        return self.root / "best_skill.md"

    def evaluation(self, name: str) -> EvaluationFolder:
        """The evaluation folder of that name."""
        return EvaluationFolder(self.root, name)

    def baseline(self, part: str) -> EvaluationFolder:
        """The initial skill on `selection` or `test`."""
        return self.evaluation(f"baseline/{part}")

    def test(self, which: str) -> EvaluationFolder:
        """The `best` or `final` skill on the test split."""
        return self.evaluation(f"test/{which}")

    def step(self, step: int) -> StepFolder:
        """The folder of a step, counted from 1."""
        return StepFolder(self.root, f"steps/step_{step:04d}")

    def slow_update(self, epoch: int) -> SlowUpdateFolder:
        """The folder of an epoch's slow update."""
        return SlowUpdateFolder(self.root, f"slow_update/epoch_{epoch:02d}")

    def meta_skill(self, epoch: int) -> MetaSkillFolder:
        """The folder of an epoch's meta skill."""
        return MetaSkillFolder(self.root, f"meta_skill/epoch_{epoch:02d}")

    def meta_reflect(self, epoch: int) -> MetaReflectFolder:
        """The folder of an epoch's meta reflect."""
        return MetaReflectFolder(self.root, f"meta_reflect/epoch_{epoch:02d}")

    @property
    def summary(self) -> Path:
        """The run's result; its existence means that the run is complete."""
        return self.root / "summary.json"

    @property
    def trackers(self) -> Path:
        """Folder of what experiment trackers write, a folder a tracker."""
        return self.root / "trackers"

    @property
    def log(self) -> Path:
        """The text log."""
        return self.root / "train.log"
