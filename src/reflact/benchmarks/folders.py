"""Split folders: `<folder>/{train,val,test}/` with one JSON array (or CSV file) each, beside `split_manifest.json`."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.benchmarks.csv_files import write_rows
from reflact.benchmarks.files import read_json
from reflact.benchmarks.records import ItemFormat, Record, TableFormat, read_part, refuse_overlaps
from reflact.core.errors import DataError
from reflact.core.names import Part

MANIFEST = "split_manifest.json"
MANIFEST_FORMAT = "reflact-split/1"
# Folders are usually called by their split: `2-1-7`, `1shot`, `2-1-7_seed42`.
_USUAL_NAME = re.compile(r"(\d+-\d+-\d+|1shot|10pct)(?:_seed(\d+))?")
_JSON_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_CSV_SUFFIXES = (".csv", ".csv.gz")


def read_folder(form: ItemFormat, folder: Path) -> dict[Part, list[Record]]:
    """Read all parts of a split folder.

    Raises:
        DataError: The folder or a part is missing, or an item is malformed, doubled or in two parts.
    """
    parts = {part: read_part(form, part_file(form, folder, part)) for part in Part}
    refuse_overlaps(parts)
    return parts


def suffix(form: ItemFormat) -> str:
    """Return how the names of a format's own files end."""
    return ".csv" if isinstance(form, TableFormat) else ".json"


def part_file(form: ItemFormat, folder: Path, part: Part) -> Path:
    """Return the one data file of a part: in the part's folder or, for CSV, also `<folder>/<part>.csv`.

    Raises:
        DataError: Folder or file is missing, or there are several; the message names the command that makes one.
    """
    if not folder.is_dir():
        raise DataError(f"there is no split folder {folder}. {how_to_make(form.name, folder)}")
    place = folder / part.value
    table = isinstance(form, TableFormat)
    if table and not place.is_dir() and (folder / f"{part.value}.csv").is_file():
        return folder / f"{part.value}.csv"
    if not place.is_dir():
        found = ", ".join(sorted(entry.name for entry in folder.iterdir())) or "nothing"
        raise DataError(f"{folder} has no folder {part.value!r} (found: {found}). {how_to_make(form.name, folder)}")
    kind, suffixes = ("CSV", _CSV_SUFFIXES) if table else ("JSON", _JSON_SUFFIXES)
    files = sorted(entry for entry in place.iterdir() if entry.name.endswith(suffixes))
    if len(files) != 1:
        found = ", ".join(entry.name for entry in files) or "none"
        raise DataError(f"{place} must hold exactly one {kind} file with the items of the part; found: {found}")
    return files[0]


def read_manifest(folder: Path) -> Mapping[str, Any]:
    """Return the folder's manifest, empty if it has none.

    Raises:
        DataError: The manifest is not a JSON object.
    """
    path = folder / MANIFEST
    if not path.exists():
        return {}
    manifest = read_json(path)
    if not isinstance(manifest, dict):
        raise DataError(f"{path}: a JSON object was expected")
    return manifest


def write_folder(
    form: ItemFormat, folder: Path, parts: Mapping[Part, Sequence[Record]], manifest: Mapping[str, Any]
) -> None:
    """Write a whole split folder, or nothing: it is made beside its place and renamed.

    Raises:
        OSError: The place is taken by a folder that is not empty, or cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.parent / f".{folder.name}.{os.getpid()}.tmp"
    try:
        draft.mkdir()
        for part in Part:
            (draft / part.value).mkdir()
            _write_items(form, draft / part.value / f"items{suffix(form)}", parts[part])
        _write_json(draft / MANIFEST, manifest)
        draft.rename(folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def how_to_make(name: str, folder: Path) -> str:
    """Return a sentence with the command that makes a split folder."""
    usual = _USUAL_NAME.fullmatch(folder.name)
    split = "" if usual is None else f" --split {usual.group(1)}"
    if usual is not None and usual.group(2) is not None:
        split += f" --seed {usual.group(2)}"
    return (
        f"Make it with `reflact splits make {name} --source <file or folder>{split} --out {folder}`, "
        "point env.split_dir at one that exists, or try the items that ship with reflact: env.sample=true"
    )


def _write_items(form: ItemFormat, path: Path, records: Sequence[Record]) -> None:
    rows = [dict(record.data) for record in records]
    if isinstance(form, TableFormat):
        write_rows(path, rows, form.columns)
    else:
        _write_json(path, rows)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
