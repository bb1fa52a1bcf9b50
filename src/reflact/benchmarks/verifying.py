"""Comparing a split folder with its manifest and its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from reflact.benchmarks.folders import MANIFEST, MANIFEST_FORMAT, read_folder, read_manifest
from reflact.benchmarks.loading import make_split
from reflact.benchmarks.making import draw, split_maker
from reflact.benchmarks.protocol import Benchmark, Split
from reflact.benchmarks.splits import DEFAULT_SEED, part_sizes
from reflact.core.errors import ConfigError, DataError
from reflact.core.names import Part


def problems_of(
    benchmark: Benchmark, folder: Path, source: Path | None = None, ids: Path | None = None
) -> tuple[Split | None, tuple[str, ...]]:
    """Return the folder's items (None if they cannot be read) and what is wrong with them."""
    form = split_maker(benchmark).form
    try:
        parts = read_folder(form, folder)
        manifest = read_manifest(folder)
    except DataError as error:
        return None, (str(error),)
    split = make_split(folder.name, str(folder), parts, manifest=manifest)
    problems = [*_against_manifest(benchmark.name, split, manifest)]
    if source is not None:
        problems += _against_source(benchmark, split, manifest, source, ids)
    return split, tuple(problems)


def _against_manifest(name: str, split: Split, manifest: Mapping[str, Any]) -> Iterator[str]:
    if not manifest:
        yield f"there is no {MANIFEST}: where the items come from is not known"
        return
    if manifest.get("benchmark", name) != name:
        yield f"{MANIFEST} is of benchmark {manifest['benchmark']!r}, not {name!r}"
    counts = {part.value: len(split.parts[part]) for part in Part}
    if manifest.get("counts", counts) != counts:
        yield f"{MANIFEST} counts {manifest['counts']}, the folder has {counts}"
    if manifest.get("format") != MANIFEST_FORMAT:
        yield f"{MANIFEST} is not of the form {MANIFEST_FORMAT}: contents cannot be compared"
        return
    recorded = manifest.get("fingerprints")
    recorded = recorded if isinstance(recorded, Mapping) else {}
    for part in Part:
        if recorded.get(part.value) != split.fingerprints[part]:
            yield f"the items of {part.value} are not those that were written: their fingerprint differs"
    if manifest.get("fingerprint") != split.fingerprint:
        yield f"the fingerprint in {MANIFEST} is not that of the folder's items"
    yield from _against_ratio(counts, manifest)


def _against_ratio(counts: Mapping[str, int], manifest: Mapping[str, Any]) -> Iterator[str]:
    ratio, pool = manifest.get("ratio"), manifest.get("pool")
    if not isinstance(ratio, str) or not isinstance(pool, int):
        return
    try:
        due = {part.value: size for part, size in part_sizes(pool, ratio).items()}
    except (ConfigError, DataError) as error:
        yield f"{MANIFEST}: {error}"
        return
    if due != dict(counts):
        yield f"split {ratio} of {pool} items is {due}, the folder has {dict(counts)}"


def _against_source(
    benchmark: Benchmark, split: Split, manifest: Mapping[str, Any], source: Path, ids: Path | None
) -> Iterator[str]:
    ratio, seed, limit = manifest.get("ratio"), manifest.get("seed"), manifest.get("limit", 0)
    if manifest.get("ids") is not None and ids is None:
        yield f"the split was made with the id manifest {manifest['ids']!r}, which is needed to draw it again"
        return
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 0:
        yield f"{MANIFEST} has the limit {limit!r}, which is no number of items: the split cannot be drawn again"
        return
    try:
        drawn = draw(
            benchmark,
            source,
            ratio if isinstance(ratio, str) else "",
            seed=seed if isinstance(seed, int) else DEFAULT_SEED,
            ids=ids,
            limit=limit,
        ).split
    except (ConfigError, DataError) as error:
        yield f"the split cannot be drawn again: {error}"
        return
    for part in Part:
        if drawn.fingerprints[part] != split.fingerprints[part]:
            yield f"drawing it again from {source} gives other items for {part.value}"
