"""Which teacher that is not the general one a configuration asks for."""

from __future__ import annotations

from collections.abc import Sequence

from reflact.config.schema import Config
from reflact.core.types import Rule
from reflact.models.caller import Caller
from reflact.optimizer.local_teacher import local_teacher
from reflact.optimizer.rehearsal_calls import CallerCalls
from reflact.optimizer.rehearsal_teacher import RehearsalTeacher
from reflact.optimizer.teacher import Teacher
from reflact.optimizer.template_teacher import TemplateTeacher


def simple_teacher(config: Config, rules: Sequence[Rule], caller: Caller | None) -> Teacher | None:
    """Return the teacher that works without the general prompts, or None where those are wanted.

    `template` needs no model, `rehearsal` simulates one, and `local` with the small model that ships uses it for one
    choice only; with a model of one's own (`model.local_path`) `local` is a language model like any other.

    Args:
        config: The configuration.
        rules: The benchmark's hidden rules, for the simulation.
        caller: Asks the teacher's model; None for `template`.
    """
    model = config.model
    if model.teacher_backend == "template":
        return TemplateTeacher()
    if caller is None:
        raise ValueError(f"the teacher {model.teacher_backend} needs a model")
    if model.teacher_backend == "rehearsal":
        calls = CallerCalls(caller, model.teacher_timeout, model.teacher_max_completion_tokens)
        return RehearsalTeacher(config.rehearsal, rules, calls)
    if model.teacher_backend == "local" and not model.local_path:
        return local_teacher(caller, model.teacher_timeout)
    return None
