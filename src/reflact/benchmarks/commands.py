"""What `reflact splits` and `reflact data` do, as functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.making import draw, write
from reflact.benchmarks.protocol import Benchmark, Finding, Split
from reflact.benchmarks.splits import DEFAULT_SEED
from reflact.benchmarks.verifying import problems_of
from reflact.core.names import Part


@dataclass(frozen=True, slots=True)
class SplitReport:
    """A split folder that was made or verified.

    Attributes:
        benchmark: Name of the benchmark.
        folder: The split folder.
        counts: Items by part; empty if the folder could not be read.
        fingerprint: The split's fingerprint; `""` if the folder could not be read.
        written: The folder was written now; False if it was only read.
        problems: What is wrong with it; empty if nothing is.
    """

    benchmark: str
    folder: Path
    counts: Mapping[str, int]
    fingerprint: str
    written: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DataReport:
    """What a data check saw.

    Attributes:
        benchmark: Name of the benchmark.
        split: Name of the split.
        source: Where it was read from.
        counts: Items by part.
        fingerprint: The split's fingerprint.
        findings: Errors and warnings.
    """

    benchmark: str
    split: str
    source: str
    counts: Mapping[str, int]
    fingerprint: str
    findings: tuple[Finding, ...]

    @property
    def usable(self) -> bool:
        """Whether a run may use the data: warnings do not forbid it, errors do."""
        return all(finding.level != "error" for finding in self.findings)


def make_split(
    benchmark: Benchmark,
    source: Path,
    out: Path,
    *,
    split: str = "2-1-7",
    seed: int = DEFAULT_SEED,
    ids: Path | None = None,
    limit: int = 0,
) -> SplitReport:
    """Draw a split from a source and write its folder; see `reflact.benchmarks.making.draw` for the arguments.

    Raises:
        DataError, ConfigError: The source or an argument is not usable.
        Refused: `out` holds something else; nothing was changed.
    """
    drawn = draw(benchmark, source, split, seed=seed, ids=ids, limit=limit)
    written = write(benchmark, drawn, out)
    return SplitReport(benchmark.name, out, counts_of(drawn.split), drawn.split.fingerprint, written)


def verify_split(
    benchmark: Benchmark, folder: Path, *, source: Path | None = None, ids: Path | None = None
) -> SplitReport:
    """Read a split folder and compare it with its manifest, and with a new drawing if a source is given.

    Problems are reported, not raised.
    """
    split, problems = problems_of(benchmark, folder, source, ids)
    if split is None:
        return SplitReport(benchmark.name, folder, {}, "", problems=problems)
    return SplitReport(benchmark.name, folder, counts_of(split), split.fingerprint, problems=problems)


def check_data(benchmark: Benchmark) -> DataReport:
    """Load the benchmark's items and look for what makes scores misleading.

    Raises:
        DataError: The items cannot be loaded.
    """
    split = benchmark.load()
    findings = tuple(benchmark.check(split))
    return DataReport(benchmark.name, split.name, split.source, counts_of(split), split.fingerprint, findings)


def counts_of(split: Split) -> dict[str, int]:
    """Return the number of items of each part."""
    return {part.value: len(split.parts[part]) for part in Part}
