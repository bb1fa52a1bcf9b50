"""The border between reflact and a benchmark.

A benchmark is one folder with data loading, a task (how a student does an item and how it is scored), prompts
and an initial skill, and one entry point in the group `reflact.benchmarks`: a callable that takes the
`Config` and returns a `Benchmark`. `reflact.testing.BenchmarkConformance` proves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from reflact.core.names import Part
from reflact.core.types import Item, Rule
from reflact.harness.protocol import Chat

__all__ = ["Benchmark", "Closing", "Finding", "Rule", "Split"]


@dataclass(frozen=True, slots=True)
class Split:
    """The items of a run.

    Attributes:
        name: Name of the split (`2-1-7`, `sample`).
        source: Where it was read from, for people; never part of an identity.
        parts: Items of each part, in file order.
        fingerprints: A sha256 over the content of each part (ids, questions, golds, data), independent of paths.
        sample: Whether these are the few made items that ship with the package.
        manifest: The split's `split_manifest.json`, if it has one.
    """

    name: str
    source: str
    parts: Mapping[Part, tuple[Item, ...]]
    fingerprints: Mapping[Part, str]
    sample: bool = False
    manifest: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """One fingerprint over all parts."""
        from reflact.core.hashing import digest

        return digest([[part.value, self.fingerprints[part]] for part in Part])


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a data check saw; errors stop a run before its first call."""

    level: Literal["error", "warning"]
    code: str
    message: str


class Benchmark(Chat, Protocol):
    """Data, task, prompts and initial skill."""

    @property
    def name(self) -> str:
        """The name of its entry point."""
        ...

    @property
    def version(self) -> str:
        """Raised whenever scores change meaning; part of every evaluation's key."""
        ...

    @property
    def teacher_sees_gold(self) -> bool:
        """Whether analysts may see the gold of *train* items."""
        ...

    def load(self) -> Split:
        """Read and check the items.

        Raises:
            DataError: Naming the file, line or id, and what to do.
        """
        ...

    def check(self, split: Split) -> Sequence[Finding]:
        """Look for what makes scores misleading (shortcuts, unusable items)."""
        ...

    def initial_skill(self) -> str:
        """The benchmark's own initial skill."""
        ...

    def prompts(self) -> Mapping[str, str]:
        """Teacher prompts that replace the general ones, by name (`analyse_failure`), as Markdown templates."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """Everything that shapes what a student sees or how it is scored (caps, prompt hashes, switches)."""
        ...


@runtime_checkable
class Closing(Protocol):
    """A benchmark that holds something (processes, files) from its first item on."""

    async def aclose(self) -> None:
        """Release it; called once at the end of a run, however it ends."""
        ...
