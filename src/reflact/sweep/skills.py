"""The skills that the points of a plan begin with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from reflact.benchmarks.registry import load_benchmark
from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.hashing import text_digest
from reflact.engine.evaluate import skill_name
from reflact.engine.prepare import read_skill

DEFAULT = "default"
_NAMES = ("{}.md", "{}_best_skill.md")


class SkillShelf:
    """Reads each skill once."""

    def __init__(self) -> None:
        self._digests: dict[tuple[str, str], str] = {}

    def digest(self, config: Config, command: str) -> str:
        """Return the hash of the skill that a run begins with, or evaluates.

        Raises:
            ConfigError: It cannot be read.
        """
        name = skill_name(config) if command == "evaluate" else config.env.skill_init
        key = (config.benchmark.name, name)
        if key not in self._digests:
            self._digests[key] = text_digest(read_skill(load_benchmark(config), name))
        return self._digests[key]


def source_skill(folder: str, benchmark: str) -> str | None:
    """Return the path of a benchmark's source skill in `sweep.source_skills`; None if there is none."""
    if not folder:
        return None
    for name in _NAMES:
        path = Path(folder) / name.format(benchmark)
        if path.is_file():
            return str(path)
    return None


def missing_text(benchmark: str) -> str:
    """Say what to do where a source skill is missing."""
    return (
        f"begins with the source skill of {benchmark}: sweep.source_skills=FOLDER with {benchmark}.md in it, or "
        "env.skill_init=FILE"
    )


def require_one(skills: Iterable[tuple[str, str, str]]) -> Mapping[str, str]:
    """Return the one source skill's hash of each benchmark.

    Args:
        skills: (benchmark, run id, hash) of every point that begins with a source skill.

    Raises:
        ConfigError: Two points of one benchmark begin with different ones.
    """
    found: dict[str, tuple[str, str]] = {}
    for benchmark, run_id, digest in skills:
        first = found.setdefault(benchmark, (run_id, digest))
        if first[1] != digest:
            raise ConfigError(
                f"{first[0]} and {run_id} begin with different source skills; all runs of {benchmark} in a plan begin "
                "with one, or their scores cannot be compared"
            )
    return {benchmark: digest for benchmark, (_, digest) in found.items()}
