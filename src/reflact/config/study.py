"""Keys that say what is computed: `train.`, `gradient.`, `optimizer.`, `evaluation.`, `env.`."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.config.fields import opt
from reflact.config.models import EFFORTS


@dataclass(slots=True)
class TrainConfig:
    """The outer loop."""

    num_epochs: int = opt(4, "Passes over the train split.", low=1)
    train_size: int = opt(0, "0 takes the split's size; any other value must equal it.", low=0)
    batch_size: int | str = opt(40, "Items a rollout; `full` is the whole train split.")
    accumulation: int = opt(1, "Micro-batches whose patches are pooled before one update.", low=1)
    seed: int = opt(42, "Seed of shuffles, samples and evaluations.")
    stop_at_perfect: bool = opt(
        True, "End training when the selection score is 1 and nothing can be accepted any more."
    )
    speculate: bool = opt(False, "Start the next rollout while a candidate is at the gate.", free=True)


@dataclass(slots=True)
class GradientConfig:
    """How trajectories become patches."""

    minibatch_size: int = opt(8, "Trajectories that one analyst call sees.", low=1)
    merge_batch_size: int = opt(8, "Patches that one merge call sees.", low=2)
    analyst_workers: int = opt(16, "Teacher calls in flight.", low=1, free=True)
    failure_only: bool = opt(False, "Reflect on failures only.")
    use_deep_reflect: bool = opt(False, "Roll representative items out again with a diagnostic instruction.")
    deep_reflect_failures: int = opt(4, "Failed items of a deep reflect.", low=0)
    deep_reflect_successes: int = opt(2, "Successful items of a deep reflect.", low=0)
    max_edits_per_minibatch: int = opt(8, "Edits an analyst may propose when the learning rate is autonomous.", low=1)
    max_trajectory_chars: int = opt(12000, "Characters of one trajectory in a teacher prompt.", low=200)


@dataclass(slots=True)
class OptimizerConfig:
    """How the skill is improved: the method, and how patches change the skill."""

    name: str = opt(
        "reflact",
        "Method: the loop of steps, one skill written at once, or the search of the package gepa.",
        choices=("reflact", "one_shot", "gepa"),
    )
    gepa_minibatch_size: int = opt(3, "Train items that a parent and its child do before gepa decides.", low=1)
    gepa_metric_calls: int | None = opt(
        None,
        "Rows on train and selection that gepa may use; null: as many as the loop of steps would at most.",
        low=1,
    )
    learning_rate: int = opt(4, "Most edits a step.", low=0)
    min_learning_rate: int | None = opt(None, "Floor of the schedule; null is min(2, learning_rate).", low=0)
    lr_scheduler: str = opt("cosine", "Schedule of the edit budget.", choices=("constant", "linear", "cosine"))
    lr_control_mode: str = opt("fixed", "Who sets the edit budget.", choices=("fixed", "autonomous", "none"))
    skill_update_mode: str = opt(
        "patch",
        "How the skill is changed.",
        choices=("patch", "rewrite_from_suggestions", "full_rewrite_minibatch"),
    )
    rewrite_reasoning_effort: str | None = opt(
        None, "Effort of the rewriter; null takes the teacher's.", choices=(None, *EFFORTS)
    )
    rewrite_max_completion_tokens: int = opt(64000, "Cap on tokens of a rewrite.", low=1)
    use_slow_update: bool = opt(True, "Write guidance into the protected block at the end of an epoch.")
    slow_update_samples: int = opt(20, "Train items compared at the end of an epoch.", low=1)
    slow_update_gate: str = opt(
        "gated",
        "Whether the slow update passes the gate or is taken and measured.",
        choices=("gated", "forced"),
    )
    longitudinal_pair_policy: str = opt(
        "mixed", "Which pairs slow update and meta skill see.", choices=("mixed", "changed", "unchanged")
    )
    use_meta_skill: bool = opt(True, "Keep a memory for the teacher from epoch to epoch.")
    use_meta_reflect: bool = opt(False, "Reflect on the epoch's history.")
    meta_learning_rate: int = opt(4, "Most edits of a meta reflect.", low=0)
    max_skill_chars: int = opt(0, "Longest skill in characters; 0 is no bound.", low=0)
    patience: int = opt(0, "End after that many steps without a new best; 0 never does.", low=0)


@dataclass(slots=True)
class EvaluationConfig:
    """How skills are measured and what the gate accepts."""

    use_gate: bool = opt(True, "Accept a candidate only if the gate says so.")
    gate_metric: str = opt("hard", "Score that the gate compares.", choices=("hard", "soft", "mixed"))
    gate_mixed_weight: float = opt(0.5, "Weight of `hard` in the mixed metric.", low=0, high=1)
    gate_rule: str = opt("strict", "Rule of the gate.", choices=("strict", "paired"))
    gate_alpha: float = opt(0.05, "Level of the paired rule, per decision.", low=0, high=1)
    gate_repeats: int = opt(1, "Passes over the selection split.", low=1)
    early_reject: bool = opt(False, "Stop the evaluation of a candidate that can no longer win.")
    eval_test: bool = opt(True, "Evaluate on the test split.")
    sel_env_num: int = opt(0, "First n items of the selection split; 0 is all.", low=0)
    test_env_num: int = opt(0, "First n items of the test split; 0 is all.", low=0)
    max_error_rate: float = opt(0.0, "Share of rows that may stay `error`.", low=0, high=1, free=True)
    error_retry_rounds: int = opt(2, "Further rounds over `error` rows.", low=0, free=True)
    overlap_baseline_test: bool = opt(True, "Fill idle slots with the initial skill's test evaluation.", free=True)
    reuse: str = opt(
        "off",
        "Copy the initial skill's evaluations from another run.",
        choices=("off", "baseline"),
        free=True,
    )


@dataclass(slots=True)
class EnvConfig:
    """Data, places and the benchmark's own knobs."""

    out_root: str = opt("", "The run directory; empty: `outputs/<run id>/<UTC time>-<6 hex>`.", free=True)
    split_mode: str = opt("split_dir", "Where items come from.", choices=("split_dir",))
    split: str = opt(
        "2-1-7", "Which split under `env.split_root`.", choices=("2-1-7", "1shot", "1-1-8", "4-1-5", "10pct")
    )
    split_root: str = opt("", "Folder with one split folder a ratio; empty: `data/<benchmark>/splits`.", path=True)
    split_dir: str = opt("", "A split folder; wins over `env.split`.", path=True)
    data_root: str = opt("", "Folder of the benchmark's files.", path=True)
    image_root: str = opt("", "Folder of the images; empty: the split's own.", path=True)
    sample: bool = opt(False, "Use the few made items that ship with the package.")
    skill_init: str = opt("default", "Initial skill: a path, `default` (the benchmark's own) or `none`.", path=True)
    workers: int = opt(24, "Items in flight.", low=1, free=True)
    env_workers: int = opt(4, "Simulator processes.", low=1, free=True)
    exec_timeout: float = opt(120.0, "Working seconds that one item may take.", low=0.001)
    call_timeout: float | None = opt(
        None, "Seconds that one attempt of a student's call may take; null is the item's whole time.", low=0.001
    )
    idle_timeout: float = opt(300.0, "Seconds without any sign of life after which an agent is ended.", low=0.001)
    max_completion_tokens: int = opt(16384, "Cap on tokens of one student reply, hidden reasoning included.", low=1)
    max_turns: int = opt(30, "Most turns of a multi-turn item.", low=1)
    mode: str = opt("single", "One reply, or several with the error fed back.", choices=("single", "multi"))
    gold_feedback: str = opt(
        "none", "Tell the student its score while it works; marks the run.", choices=("none", "train")
    )
    sandbox: str = opt("auto", "Confinement of model-written code.", choices=("auto", "require", "off"))
    code_timeout: float = opt(
        120.0, "Seconds that a student's script may take on one workbook (SpreadsheetBench).", low=0.1
    )
    code_memory_mb: int = opt(2048, "Megabytes that a student's script may take (SpreadsheetBench).", low=64)
    recalculate: str = opt(
        "auto",
        "Compute formulas saved without results with LibreOffice, where it is installed (SpreadsheetBench).",
        choices=("auto", "off"),
    )
    max_context_chars: int = opt(6000, "Characters of context a question keeps.", low=100)
    use_theorem: bool = opt(False, "Show the theorem (LiveMathematicianBench).")
    use_sketch: bool = opt(False, "Show the proof sketch (LiveMathematicianBench).")
    drop_constant_option: bool = opt(False, "Leave out items that hold the constant right option.")
    image_detail: str = opt("auto", "Detail asked for an image.", choices=("auto", "low", "high"))
    max_image_pixels: int = opt(0, "Resize images above that many pixels; 0 sends them as they are.", low=0)
    due: bool = opt(False, "The harder variant with a weekday (orders).")
    size: str = opt("small", "Number of items (orders).", choices=("small", "large"))
