"""Teachers by the name of the teacher's backend."""

from __future__ import annotations

from collections.abc import Mapping

from reflact.benchmarks.protocol import Benchmark
from reflact.config.schema import Config
from reflact.core.events import Emit
from reflact.models.caller import Caller
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.template_teacher import TemplateTeacher

TEMPLATE = "template"


def make_teacher(config: Config, benchmark: Benchmark, caller: Caller | None, emit: Emit) -> Teacher:
    """Return the teacher that `model.teacher_backend` names.

    Args:
        config: The configuration.
        benchmark: Whose items are trained on; it may bring prompts of its own.
        caller: Asks the teacher's model; None for the teacher without one.
        emit: Where warnings go.
    """
    assert caller is None
    return TemplateTeacher()


def teacher_prompts(benchmark: Benchmark) -> Mapping[str, str]:
    """Return the hash of each teacher prompt, the benchmark's own included."""
    return {}
