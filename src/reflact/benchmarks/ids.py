"""Id manifests: which items belong to a pool or to each part, without the items themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.fields import kind_of
from reflact.benchmarks.files import read_json
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError
from reflact.core.names import Part
from reflact.core.types import Json

_ITEMS = "items.json"


@dataclass(frozen=True, slots=True)
class IdManifest:
    """Ids by part, or one pool of ids that is still to be cut; exactly one of the two is set."""

    parts: Mapping[Part, tuple[str, ...]] | None = None
    pool: tuple[str, ...] | None = None


def read_ids(path: Path) -> IdManifest:
    """Read an id manifest.

    It is a folder with `train/items.json`, `val/items.json` and `test/items.json`, or one file: an object with the
    keys `train`, `val` and `test` (parts), or an array (a pool). An array holds ids or objects with an `id`.

    Raises:
        DataError: Naming the file; also for duplicate ids, ids in two parts and empty lists.
    """
    if path.is_dir():
        return _parts({part: path / part.value / _ITEMS for part in Part}, None)
    value = read_json(path)
    if isinstance(value, dict):
        missing = [part.value for part in Part if part.value not in value]
        if missing:
            raise DataError(f"{path}: the keys train, val and test are needed; missing: {', '.join(missing)}")
        return _parts(dict.fromkeys(Part, path), value)
    return IdManifest(pool=_ids(value, str(path)))


def join(records: Sequence[Record], ids: Sequence[str], what: str) -> list[Record]:
    """Return the records with these ids, in the order of the ids.

    Raises:
        DataError: An id is not in the source; the message names a few and counts them.
    """
    by_id = {record.item.id: record for record in records}
    missing = [name for name in ids if name not in by_id]
    if missing:
        shown = ", ".join(map(repr, missing[:5]))
        raise DataError(
            f"{len(missing)} of {len(ids)} ids of {what} are not in the source, which has {len(by_id)} items: {shown}"
        )
    return [by_id[name] for name in ids]


def _parts(files: Mapping[Part, Path], whole: Mapping[str, Json] | None) -> IdManifest:
    parts = {}
    owner: dict[str, Part] = {}
    for part, file in files.items():
        value = read_json(file) if whole is None else whole[part.value]
        parts[part] = _ids(value, str(file) if whole is None else f"{file}, {part.value}")
        for name in parts[part]:
            if name in owner:
                raise DataError(f"{file}: the id {name!r} stands in {owner[name].value} and in {part.value}")
            owner[name] = part
    return IdManifest(parts=parts)


def _ids(value: Json, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise DataError(f"{where}: a list with at least one id was expected, not {kind_of(value)}")
    ids = [_id(entry, where, number) for number, entry in enumerate(value, start=1)]
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise DataError(f"{where}: the id {name!r} stands twice")
        seen.add(name)
    return tuple(ids)


def _id(entry: Json, where: str, number: int) -> str:
    value = entry.get("id") if isinstance(entry, dict) else entry
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise DataError(f"{where}: entry {number} must be an id or an object with an id, not {kind_of(value)}")
    return str(value)
