"""All images of a split: where they are, and whether each can be used."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from reflact.benchmarks.docvqa.images import ImageProblem, check_image
from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.splits import fingerprints
from reflact.core.names import Part
from reflact.core.types import Item

_SHOWN = 5
_MOST_THREADS = 8
_RAW = Path("data") / "docvqa" / "raw"


@dataclass(frozen=True, slots=True)
class Gallery:
    """What was found of a split's images.

    Attributes:
        places: Each item's file, by id; items without one are left out.
        hashes: The sha256 of each usable file.
        problems: Why the others cannot be used, by file.
        missing: Items without a file, with the name that was looked for.
        folders: Where they were looked for.
    """

    places: Mapping[str, Path]
    hashes: Mapping[Path, str]
    problems: Mapping[Path, str]
    missing: Mapping[str, str]
    folders: tuple[Path, ...]

    def sha256(self, item: Item) -> str:
        """Return the hash of an item's image, `""` if it has no usable one."""
        place = self.places.get(item.id)
        return "" if place is None else self.hashes.get(place, "")

    def findings(self) -> Iterator[Finding]:
        """Say which images are missing and which cannot be used."""
        if self.missing:
            named = [f"{name} (question {identifier})" for identifier, name in self.missing.items()]
            total = len(named) + len(self.places)
            message = f"{len(named)} of {total} images are missing: {_first(named)}; looked in "
            message += f"{', '.join(map(str, self.folders))}. env.image_root says where they are"
            yield Finding("error", "image_missing", message)
        if self.problems:
            reasons = _first(list(dict.fromkeys(self.problems.values())), "; ")
            message = f"{len(self.problems)} images cannot be used: {reasons}"
            yield Finding("error", "image_broken", message)


def open_images(split: Split, image_root: str) -> Gallery:
    """Find every image and open it, each file once, in a few threads."""
    places: dict[str, Path] = {}
    missing: dict[str, str] = {}
    folders: dict[Path, None] = {}
    for part in Part:
        around = _folders(split, part, image_root)
        folders.update(dict.fromkeys(around))
        for item in split.parts[part]:
            place = _find(item.data["image"], around)
            if place is None:
                missing[item.id] = item.data["image"]
            else:
                places[item.id] = place
    hashes, problems = _check(places.values())
    return Gallery(places, hashes, problems, missing, tuple(folders))


def with_hashes(split: Split, gallery: Gallery) -> Split:
    """Return the split with each image's hash in its item, so that other images are another split."""
    parts = {
        part: tuple(replace(item, data={**item.data, "image_sha256": gallery.sha256(item)}) for item in items)
        for part, items in split.parts.items()
    }
    return replace(split, parts=parts, fingerprints=fingerprints(parts))


def _folders(split: Split, part: Part, image_root: str) -> tuple[Path, ...]:
    """Return where a part's images may be, the first place first."""
    if split.sample:
        return (Path(str(files(__package__))) / split.name,)
    base = Path(split.source)
    csv_folder = base.parent if base.is_file() else base
    chosen = (Path(image_root),) if image_root else ()
    return tuple(dict.fromkeys((*chosen, csv_folder / part.value, csv_folder, _RAW)))


def _find(name: str, folders: Sequence[Path]) -> Path | None:
    return next((folder / name for folder in folders if _may_be(folder / name)), None)


def _may_be(path: Path) -> bool:
    try:
        return path.is_file()
    except PermissionError:
        return True  # opening it will say why it cannot be used
    except OSError:
        return False  # no such name is possible here: too long, for one


def _check(paths: Iterable[Path]) -> tuple[dict[Path, str], dict[Path, str]]:
    links: dict[Path, list[Path]] = {}
    for path in dict.fromkeys(paths):
        links.setdefault(path.resolve(), []).append(path)
    hashes: dict[Path, str] = {}
    problems: dict[Path, str] = {}
    # Reading, hashing and checksums happen outside of the interpreter's lock.
    with ThreadPoolExecutor(min(_MOST_THREADS, 2 * (os.cpu_count() or 1)), "reflact-images") as pool:
        examined = pool.map(_examine, [names[0] for names in links.values()])
        for names, (sha256, problem) in zip(links.values(), examined, strict=True):
            found, value = (problems, problem) if problem else (hashes, sha256)
            found.update(dict.fromkeys(names, value))
    return hashes, problems


def _examine(path: Path) -> tuple[str, str]:
    try:
        return check_image(path), ""
    except ImageProblem as problem:
        return "", str(problem)


def _first(texts: Sequence[str], separator: str = ", ") -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return separator.join(texts[:_SHOWN]) + more
