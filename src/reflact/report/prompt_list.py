"""Which prompts a configuration uses: names, versions, hashes, and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reflact.benchmarks.prompts import load_prompt
from reflact.benchmarks.registry import load_benchmark
from reflact.config.schema import Config
from reflact.core.hashing import text_digest
from reflact.optimizer.prompt_library import PromptLibrary


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt before anything is filled in.

    Attributes:
        role: Who is asked with it.
        name: Its name; parts of others begin with `_`.
        version: Its version, `""` where a benchmark's replacement has none.
        sha256: Hash, as it is recorded with every run.
        source: `reflact`, or the benchmark that brings it.
        text: The template.
    """

    role: str
    name: str
    version: str
    sha256: str
    source: str
    text: str


def templates(config: Config) -> list[Template]:
    """Return the teacher's prompts and those of the benchmark's student.

    Raises:
        ConfigError: The benchmark is unknown, or one of its prompts is not valid.
    """
    benchmark = load_benchmark(config)
    replaced = benchmark.prompts()
    library = PromptLibrary.load(replaced)
    teacher = [
        Template(
            role="teacher",
            name=prompt.name,
            version=prompt.version,
            sha256=prompt.sha256,
            source=benchmark.name if prompt.name in replaced else "reflact",
            text=prompt.body,
        )
        for prompt in library.prompts
    ]
    return [*teacher, *_student(benchmark.name, type(benchmark).__module__, benchmark.settings().get("prompts", {}))]


def _student(benchmark: str, module: str, recorded: object) -> Iterator[Template]:
    """Yield the prompt files of a benchmark's folder, as far as its settings record them."""
    package = module if module.endswith(f".{benchmark}") else module.rpartition(".")[0]
    for name in recorded if isinstance(recorded, dict) else ():
        prompt = load_prompt(package, name)
        yield Template("student", name, prompt.version, text_digest(prompt.text), benchmark, prompt.text)
