"""Making split folders."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from reflact.benchmarks.folders import MANIFEST_FORMAT, read_folder, write_folder
from reflact.benchmarks.ids import join, read_ids
from reflact.benchmarks.loading import make_split as split_of
from reflact.benchmarks.protocol import Benchmark, Split
from reflact.benchmarks.records import ItemFormat, Record, refuse_duplicates
from reflact.benchmarks.splits import DEFAULT_SEED, assign
from reflact.core.errors import ConfigError, DataError, Refused
from reflact.core.names import Part


@runtime_checkable
class SplitMaker(Protocol):
    """A benchmark whose split folders reflact can make and verify."""

    @property
    def form(self) -> ItemFormat:
        """How its items are written in files."""
        ...

    def narrow(self, records: Sequence[Record]) -> tuple[list[Record], Mapping[str, Any]]:
        """Leave out what the configuration asks to leave out; the second value is added to the manifest."""
        ...


@runtime_checkable
class PartsDrawer(Protocol):
    """A split maker whose parts are no slices of one shuffled list."""

    def assign(
        self, records: Sequence[Record], split: str, seed: int
    ) -> tuple[Mapping[Part, Sequence[Record]], Mapping[str, Any]]:
        """Draw the parts; the second value is added to the manifest and may say there what the `pool` was.

        Raises:
            ConfigError, DataError: The split is unknown, or the records do not suffice for it.
        """
        ...


@dataclass(frozen=True, slots=True)
class Drawn:
    """A split that was drawn from a source and is not yet written."""

    records: Mapping[Part, Sequence[Record]]
    split: Split
    manifest: Mapping[str, Any]


def split_maker(benchmark: Benchmark) -> SplitMaker:
    """Return the benchmark as a split maker.

    Raises:
        ConfigError: It cannot make splits.
    """
    if not isinstance(benchmark, SplitMaker):
        raise ConfigError(f"benchmark {benchmark.name!r} does not read split folders of this form")
    return benchmark


def draw(
    benchmark: Benchmark,
    source: Path,
    split: str,
    *,
    seed: int = DEFAULT_SEED,
    ids: Path | None = None,
    limit: int = 0,
) -> Drawn:
    """Draw a split from a source.

    Args:
        benchmark: Whose items they are.
        source: The benchmark's own source.
        split: Name or ratio; without effect where `ids` names the parts.
        seed: Seed of the shuffle.
        ids: An id manifest: the parts, or the pool to draw from.
        limit: Draw from the first that many items of the pool; 0 takes all.

    Raises:
        DataError, ConfigError: Naming file, line, id or argument.
    """
    maker = split_maker(benchmark)
    records, files = maker.form.read_source(source)
    refuse_duplicates(records)
    records, notes = maker.narrow(records)
    manifest = None if ids is None else read_ids(ids)
    origin: dict[str, Any]
    parts: Mapping[Part, Sequence[Record]]
    if manifest is not None and manifest.parts is not None:
        parts = {part: join(records, manifest.parts[part], part.value) for part in Part}
        origin = {"source": "id manifest", "ratio": None, "seed": None}
    else:
        named = records if manifest is None or manifest.pool is None else join(records, manifest.pool, "the pool")
        pool = _first(named, limit)
        drawing: Mapping[str, Any] = {}
        if isinstance(maker, PartsDrawer):
            parts, drawing = maker.assign(pool, split, seed)
        else:
            parts = assign(pool, split, seed)
        origin = {"source": "generated", "ratio": split, "seed": seed, "pool": len(pool), "limit": limit, **drawing}
    origin["ids"] = None if ids is None else ids.name
    drawn = split_of(split, str(source), parts)
    return Drawn(parts, drawn, _manifest(benchmark.name, drawn, origin, files, notes))


def write(benchmark: Benchmark, drawn: Drawn, out: Path) -> bool:
    """Write a drawn split; return False if the folder already holds exactly these items.

    Raises:
        Refused: The folder holds something else; nothing was changed.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        if _holds(split_maker(benchmark).form, out, drawn.split.fingerprint):
            return False
        raise Refused(f"{out} exists and does not hold this split; nothing was changed. Choose another --out")
    try:
        write_folder(split_maker(benchmark).form, out, drawn.records, drawn.manifest)
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{out} cannot be made ({error.filename}: {error.strerror}). Choose another --out") from None
    return True


def _first(pool: Sequence[Record], limit: int) -> Sequence[Record]:
    if limit > len(pool):
        raise DataError(f"the pool has {len(pool)} items, fewer than the limit of {limit}")
    return pool[:limit] if limit else pool


def _holds(form: ItemFormat, folder: Path, fingerprint: str) -> bool:
    try:
        return split_of("", str(folder), read_folder(form, folder)).fingerprint == fingerprint
    except DataError:
        return False


def _manifest(
    name: str, split: Split, origin: Mapping[str, Any], files: Sequence[Path], notes: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "format": MANIFEST_FORMAT,
        "benchmark": name,
        **origin,
        "counts": {part.value: len(split.parts[part]) for part in Part},
        "fingerprint": split.fingerprint,
        "fingerprints": {part.value: split.fingerprints[part] for part in Part},
        "files": {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files},
        **notes,
    }
