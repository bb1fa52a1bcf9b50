"""Teachers by the name of the teacher's backend."""

from __future__ import annotations

from collections.abc import Mapping

from reflact.benchmarks.protocol import Benchmark
from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.events import Emit
from reflact.models.caller import Caller
from reflact.optimizer.simple_teachers import simple_teacher
from reflact.optimizer.teacher import Teacher

TEMPLATE = "template"


def make_teacher(config: Config, benchmark: Benchmark, caller: Caller | None, emit: Emit) -> Teacher:
    """Return the teacher that `model.teacher_backend` names.

    Args:
        config: The configuration.
        benchmark: Whose items are trained on; it may bring prompts of its own.
        caller: Asks the teacher's model; None for the teacher without one.
        emit: Where warnings go.
    """
    simple = simple_teacher(config, benchmark.rules(), caller)
    if simple is None:
        raise ConfigError(f"model.teacher_backend={config.model.teacher_backend}: not available in this version")
    return simple


def teacher_prompts(benchmark: Benchmark) -> Mapping[str, str]:
    """Return the hash of each teacher prompt, the benchmark's own included."""
    return {}
