"""The workbooks of an item: finding the pairs of input and reference in its folder."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

_NUMBERED = re.compile(r"(?P<n>\d+)_(?P<id>.+)_(?P<kind>input|init|initial|answer|golden)", re.IGNORECASE)
_BARE = re.compile(r"(?P<kind>input|init|initial|answer|golden)", re.IGNORECASE)
_REFERENCES = ("answer", "golden")
_SUFFIX = ".xlsx"


@dataclass(frozen=True, slots=True)
class CaseFiles:
    """One test case: names of two files in the item's folder, and the hashes of their bytes."""

    input: str
    golden: str
    input_sha256: str
    golden_sha256: str


def find_cases(folder: Path, item_id: str) -> tuple[CaseFiles, ...]:
    """Return an item's cases in the order of their numbers.

    `1_<id>_input.xlsx` goes with `1_<id>_answer.xlsx`, `1_<id>_init.xlsx` with `1_<id>_golden.xlsx`, and a bare
    `initial.xlsx` with `golden.xlsx`; kinds may be mixed. Blanks before `.xlsx` are passed over. Another id in a file's
    name does not matter unless a file with the right one has the same part.

    Raises:
        ValueError: The folder is missing or does not hold pairs; the message says what it holds.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    sources: dict[int, list[tuple[bool, str]]] = defaultdict(list)
    references: dict[int, list[tuple[bool, str]]] = defaultdict(list)
    for name in names:
        match = _match(name)
        if match is not None:
            groups = match.groupdict()
            side = references if groups["kind"].lower() in _REFERENCES else sources
            side[int(groups.get("n") or 1)].append((groups.get("id", item_id) == item_id, name))
    numbers = sorted({*sources, *references})
    if not numbers:
        raise ValueError(f"{folder} holds no workbooks of a known name (found: {_shown(names)})")
    return tuple(_case(folder, number, sources[number], references[number], names) for number in numbers)


def problem_of(folder: Path, case: CaseFiles) -> str:
    """Return what is wrong with a case whose files are already known; `""` if nothing is."""
    for name, wanted in ((case.input, case.input_sha256), (case.golden, case.golden_sha256)):
        if not (folder / name).is_file():
            return f"there is no file {folder / name}"
        if sha256(folder / name) != wanted:
            return f"{folder / name} is not the file that the split was made with"
    return ""


def sha256(path: Path) -> str:
    """Return the sha256 (hex) of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _match(name: str) -> re.Match[str] | None:
    if not name.lower().endswith(_SUFFIX):
        return None
    stem = name[: -len(_SUFFIX)].strip()
    return _NUMBERED.fullmatch(stem) or _BARE.fullmatch(stem)


def _case(
    folder: Path,
    number: int,
    sources: list[tuple[bool, str]],
    references: list[tuple[bool, str]],
    names: list[str],
) -> CaseFiles:
    chosen = []
    for side, what in ((sources, "input"), (references, "reference")):
        own = [name for right, name in side if right] or [name for _, name in side]
        if len(own) != 1:
            raise ValueError(f"{folder} holds {len(own)} {what} workbooks of case {number} (found: {_shown(names)})")
        chosen.append(own[0])
    source, reference = chosen
    return CaseFiles(source, reference, sha256(folder / source), sha256(folder / reference))


def _shown(names: list[str]) -> str:
    return ", ".join(map(repr, names[:6])) + (" ..." if len(names) > 6 else "") if names else "nothing"
