"""The configuration's root: every key is typed, closed and documented where it is declared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from reflact.config.fields import opt
from reflact.config.models import ModelConfig
from reflact.config.operation import (
    BudgetConfig,
    DisplayConfig,
    LimitsConfig,
    LocalConfig,
    PricingConfig,
    RehearsalConfig,
    RunConfig,
    SweepConfig,
    ValidityConfig,
)
from reflact.config.study import EnvConfig, EvaluationConfig, GradientConfig, OptimizerConfig, TrainConfig
from reflact.config.tracking import TrackingConfig


@dataclass(slots=True)
class BenchmarkConfig:
    """Which benchmark; set by the config group `benchmark`."""

    name: str = opt("", "Name of the benchmark, as its entry point in `reflact.benchmarks` is called.")
    options: dict[str, Any] = opt(dict, "Options of benchmarks that come from other packages.")


@dataclass(slots=True)
class Config:
    """Everything that a run is told."""

    benchmark: BenchmarkConfig = field(default_factory=BenchmarkConfig)
    model: ModelConfig = field(default_factory=ModelConfig)
    train: TrainConfig = field(default_factory=TrainConfig)
    gradient: GradientConfig = field(default_factory=GradientConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    evaluation: EvaluationConfig = field(default_factory=EvaluationConfig)
    env: EnvConfig = field(default_factory=EnvConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    budget: BudgetConfig = field(default_factory=BudgetConfig)
    pricing: PricingConfig = field(default_factory=PricingConfig)
    run: RunConfig = field(default_factory=RunConfig)
    sweep: SweepConfig = field(default_factory=SweepConfig)
    validity: ValidityConfig = field(default_factory=ValidityConfig)
    display: DisplayConfig = field(default_factory=DisplayConfig)
    tracking: TrackingConfig = field(default_factory=TrackingConfig)
    rehearsal: RehearsalConfig = field(default_factory=RehearsalConfig)
    local: LocalConfig = field(default_factory=LocalConfig)
    skill: str = opt("", "`reflact-eval` only: the skill to evaluate: a path, `default` or `none`.", path=True)
    split: str = opt("test", "`reflact-eval` only: the part to evaluate on.", choices=("train", "val", "test"))
