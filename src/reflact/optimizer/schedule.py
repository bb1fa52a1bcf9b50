"""The edit budget as a learning rate: schedules over the global step."""

from __future__ import annotations

import math

from reflact.core.errors import ConfigError

_DEFAULT_FLOOR = 2


def resolve_floor(learning_rate: int, floor: int | None) -> int:
    """Return the floor of the schedule.

    Args:
        learning_rate: Most edits a step (`optimizer.learning_rate`).
        floor: `optimizer.min_learning_rate`; None takes `min(2, learning_rate)`.

    Raises:
        ConfigError: The floor is above the learning rate.
    """
    if floor is None:
        return min(_DEFAULT_FLOOR, learning_rate)
    if floor > learning_rate:
        raise ConfigError(
            f"optimizer.min_learning_rate={floor} is above optimizer.learning_rate={learning_rate}; "
            f"set it to at most {learning_rate}, or to null for min(2, learning_rate)"
        )
    return floor


def edit_budget(scheduler: str, learning_rate: int, floor: int, step: int, total_steps: int) -> int:
    """Return the most edits that a step may apply.

    With `t = step / total_steps`, and `round` half to even:

        constant: max
        linear:   max(min, round(max + (min - max) * t))
        cosine:   max(min, round(min + 0.5 * (max - min) * (1 + cos(pi * t))))

    A run of one step takes the maximum.

    Args:
        scheduler: `constant`, `linear` or `cosine`.
        learning_rate: The maximum.
        floor: The minimum, as `resolve_floor` gives it.
        step: The global step, from 1; also after a resume.
        total_steps: Steps of the whole run.

    Raises:
        ConfigError: The scheduler is unknown.
        ValueError: The step lies outside the run.
    """
    if total_steps > 0 and not 1 <= step <= total_steps:
        raise ValueError(f"step {step} of {total_steps}")
    span = learning_rate - floor
    progress = step / total_steps if total_steps > 1 else 0.0
    if scheduler == "constant":
        return learning_rate
    if scheduler == "linear":
        return max(floor, round(learning_rate + (floor - learning_rate) * progress))
    if scheduler == "cosine":
        return max(floor, round(floor + 0.5 * span * (1 + math.cos(math.pi * progress))))
    raise ConfigError(f"optimizer.lr_scheduler={scheduler}: allowed are constant, linear, cosine")
