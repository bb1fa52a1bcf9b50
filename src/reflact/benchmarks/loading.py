"""Where a run's items come from: a split folder, the benchmark's source, or the sample in the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from reflact.benchmarks.folders import MANIFEST, MANIFEST_FORMAT, read_folder, read_manifest, suffix
from reflact.benchmarks.protocol import Split
from reflact.benchmarks.records import ItemFormat, Record, read_part, refuse_duplicates, refuse_overlaps
from reflact.benchmarks.splits import assign, fingerprints
from reflact.config.study import EnvConfig
from reflact.core.errors import DataError
from reflact.core.names import Part

SAMPLE = "sample"


def split_folder(env: EnvConfig, name: str) -> Path:
    """Return the split folder that the configuration names, relative to the current folder.

    `env.split_dir`, else `<env.split_root>/<env.split>`, else `data/<benchmark>/splits/<env.split>`.
    """
    if env.split_dir:
        return Path(env.split_dir)
    root = Path(env.split_root) if env.split_root else Path("data") / name / "splits"
    return root / env.split


Cut = Callable[[Sequence[Record], str], Mapping[Part, Sequence[Record]]]
"""Cuts a source's records into the parts of a named split."""


def load_split(env: EnvConfig, form: ItemFormat, cut: Cut = assign) -> Split:
    """Read the run's items.

    The sample if `env.sample`; else, where `env.data_root` is set and no split folder is named, the benchmark's
    own source, cut in memory exactly as `reflact splits make` would; else the split folder.

    Raises:
        DataError: Naming file, line or id and what to do.
    """
    if env.sample:
        return _sample(form)
    if env.data_root and not env.split_dir and not env.split_root:
        return _source(Path(env.data_root), env.split, form, cut)
    folder = split_folder(env, form.name)
    parts = read_folder(form, folder)
    manifest = read_manifest(folder)
    name = folder.name if env.split_dir else env.split
    split = make_split(name, str(folder), parts, manifest=manifest)
    _refuse_stale_manifest(split, folder)
    return split


def make_split(
    name: str,
    source: str,
    parts: Mapping[Part, Sequence[Record]],
    *,
    sample: bool = False,
    manifest: Mapping[str, Any] | None = None,
) -> Split:
    """Return a split with its fingerprints."""
    items = {part: tuple(record.item for record in parts[part]) for part in Part}
    return Split(name, source, items, fingerprints(items), sample, {} if manifest is None else manifest)


def _sample(form: ItemFormat) -> Split:
    parts = {}
    for part in Part:
        with as_file(files(form.package).joinpath(SAMPLE, f"{part.value}{suffix(form)}")) as path:
            parts[part] = read_part(form, path)
    refuse_overlaps(parts)
    return make_split(SAMPLE, f"package {form.package}", parts, sample=True)


def _source(path: Path, split: str, form: ItemFormat, cut: Cut) -> Split:
    records, _ = form.read_source(path)
    refuse_duplicates(records)
    return make_split(split, str(path), cut(records, split))


def _refuse_stale_manifest(split: Split, folder: Path) -> None:
    # Only manifests of our own making carry a fingerprint that can be compared.
    if split.manifest.get("format") != MANIFEST_FORMAT or split.manifest.get("fingerprint") == split.fingerprint:
        return
    raise DataError(
        f"the items in {folder} are not those that {MANIFEST} describes; `reflact splits verify {folder}` says "
        f"what differs. If the change is meant, delete {MANIFEST}"
    )
