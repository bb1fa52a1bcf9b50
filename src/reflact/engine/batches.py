"""Which items a step sees: seeded shuffles, consecutive slices, nothing drawn twice in an epoch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from random import Random
from typing import TypeVar

from reflact.config.study import TrainConfig
from reflact.core.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MicroBatch:
    """Indices into the train split, in batch order, and the seed of their rollout."""

    indices: tuple[int, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """The shape of a training run.

    Attributes:
        train_size: Items of the train split.
        batch_size: Items of a micro-batch (`full` resolved).
        accumulation: Micro-batches a step.
        epochs: Passes over the split.
        seed: `train.seed`.
    """

    train_size: int
    batch_size: int
    accumulation: int
    epochs: int
    seed: int

    @property
    def steps_per_epoch(self) -> int:
        """`ceil(train_size / (batch_size * accumulation))`."""
        return ceil(self.train_size / (self.batch_size * self.accumulation))

    @property
    def total_steps(self) -> int:
        """Steps of the whole run."""
        return self.epochs * self.steps_per_epoch

    def micro_batches(self, epoch: int) -> list[MicroBatch]:
        """Return the micro-batches of an epoch (counted from 1): one pass, the last slice may be short."""
        order = shuffled(range(self.train_size), self.seed + 1000 * epoch)
        return [
            MicroBatch(tuple(order[start : start + self.batch_size]), self.seed + 1000 * epoch + i + 1)
            for i, start in enumerate(range(0, self.train_size, self.batch_size))
        ]

    def step(self, epoch: int, index: int) -> list[MicroBatch]:
        """Return the micro-batches of step `index` (from 0) of an epoch."""
        start = index * self.accumulation
        return self.micro_batches(epoch)[start : start + self.accumulation]

    def comparison(self, epoch: int) -> tuple[list[int], int]:
        """Return (train indices in the seeded order of the epoch's comparison, its rollout seed)."""
        seed = self.seed + 2000 * epoch
        return shuffled(range(self.train_size), seed), seed


def shuffled(values: Sequence[T], seed: int) -> list[T]:
    """Return a shuffled copy."""
    result = list(values)
    Random(seed).shuffle(result)
    return result


def make_schedule(config: TrainConfig, train_size: int) -> Schedule:
    """Resolve sizes against the split.

    Raises:
        ConfigError: `train.train_size` is neither 0 nor the split's size.
    """
    if config.train_size not in (0, train_size):
        raise ConfigError(
            f"train.train_size={config.train_size}, but the train split has {train_size} items; "
            "use 0 (take the split's size) or another split"
        )
    batch = train_size if config.batch_size == "full" else int(config.batch_size)
    return Schedule(train_size, batch, config.accumulation, config.num_epochs, config.seed)
