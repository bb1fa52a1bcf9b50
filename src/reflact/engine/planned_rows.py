"""How many rows the loop of steps makes at most."""

from __future__ import annotations

from reflact.config.schema import Config
from reflact.engine.batches import Schedule


def bounded(size: int, bound: int) -> int:
    """Return the items of a part of which the first `bound` are used; 0 is all."""
    return min(size, bound) if bound > 0 else size


def epoch_ends(config: Config) -> tuple[int, int]:
    """Return how many comparisons and how many measured updates the epoch ends make."""
    epochs, optimizer = config.train.num_epochs, config.optimizer
    slow = max(0, epochs - 1) if optimizer.use_slow_update else 0
    memory = max(0, epochs - 2) if optimizer.use_meta_skill else 0
    return max(slow, memory), slow + (epochs if optimizer.use_meta_reflect else 0)


def compared(config: Config, schedule: Schedule) -> int:
    """Return the items of a comparison; the policy `changed` may scan the whole train split for pairs."""
    if config.optimizer.longitudinal_pair_policy == "changed":
        return schedule.train_size
    return min(config.optimizer.slow_update_samples, schedule.train_size)


def deep_items(config: Config) -> int:
    """Return the items that a step does again for a deep reflect."""
    gradient = config.gradient
    return gradient.deep_reflect_failures + gradient.deep_reflect_successes if gradient.use_deep_reflect else 0


def loop_rows(config: Config, schedule: Schedule, selection: int) -> int:
    """Return `V + E*T + E*S*V + (E-1)*(2n + V)`: rows of baseline, rollouts, gates and epoch ends, none on test.

    Args:
        config: The configuration.
        schedule: Its schedule.
        selection: V: rows of one evaluation on the selection split, repeats counted.
    """
    comparisons, updates = epoch_ends(config)
    steps = schedule.total_steps
    rollouts = schedule.epochs * schedule.train_size + steps * deep_items(config)
    return selection * (1 + steps + updates) + rollouts + comparisons * 2 * compared(config, schedule)
