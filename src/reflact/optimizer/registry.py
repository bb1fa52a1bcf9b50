"""Teachers by the name of the teacher's backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reflact.benchmarks.protocol import Benchmark
from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.events import Emit
from reflact.models.caller import Caller
from reflact.optimizer.teacher import Teacher

TEMPLATE = "template"
"""The only teacher without a model."""


def without_teacher(config: Config) -> Config:
    """Return the configuration of an evaluation: whatever it says of a teacher, there is none to be had."""
    return replace(config, model=replace(config.model, teacher_backend=TEMPLATE))


def make_teacher(
    config: Config, benchmark: Benchmark, caller: Caller | None, rewriter: Caller | None, emit: Emit
) -> Teacher:
    """Return the teacher that `model.teacher_backend` names.

    `local` with the small model that ships lets that model choose examples; a larger one of the user's
    (`model.local_path`) and every other chat backend get the general teacher of prompts.

    Args:
        config: The configuration.
        benchmark: Whose items are trained on; it may bring prompts of its own.
        caller: Asks the teacher's model; None for the teacher without one.
        rewriter: Asks the model that carries suggestions out, if it is another.
        emit: Where warnings go.
    """
    name = config.model.teacher_backend
    if caller is None:
        from reflact.optimizer.template_teacher import TemplateTeacher

        return TemplateTeacher()
    if name == "rehearsal":
        from reflact.optimizer.rehearsal_calls import CallerCalls
        from reflact.optimizer.rehearsal_teacher import RehearsalTeacher

        calls = CallerCalls(caller, config.model.teacher_timeout, config.model.teacher_max_completion_tokens)
        return RehearsalTeacher(config.rehearsal, benchmark.rules(), calls)
    if name == "local" and not config.model.local_path:
        from reflact.optimizer.local_teacher import local_teacher

        return local_teacher(caller, config.model.teacher_timeout)
    from reflact.optimizer.llm_teacher import LLMTeacher
    from reflact.optimizer.prompt_library import PromptLibrary

    return LLMTeacher(caller, config, PromptLibrary.load(benchmark.prompts()), emit, rewriter)


def teacher_prompts(benchmark: Benchmark) -> Mapping[str, Mapping[str, str]]:
    """Return version and hash of each teacher prompt, the benchmark's own included.

    Raises:
        ConfigError: A prompt of the benchmark replaces none of ours, or is no valid template.
    """
    from reflact.optimizer.prompt_library import PromptLibrary

    try:
        library = PromptLibrary.load(benchmark.prompts())
    except ValueError as error:
        raise ConfigError(f"benchmark {benchmark.name}: {error}") from error
    return {prompt.name: {"version": prompt.version, "sha256": prompt.sha256} for prompt in library.prompts}
