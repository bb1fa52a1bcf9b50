"""LiveMathematicianBench items in files."""

from __future__ import annotations

import re
from pathlib import Path
from string import ascii_uppercase

from reflact.benchmarks.fields import Fields
from reflact.benchmarks.files import read_records
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError
from reflact.core.types import Item, Json

_SOURCE = re.compile(r"qa_(.+)_final\.json")


class LiveMathFormat:
    """Reads the monthly files and the split folders, whose items are the same records with an `id`."""

    name = "livemathematicianbench"
    package = "reflact.benchmarks.livemathematicianbench"

    def parse(self, fields: Fields) -> Record:
        """Read an item of a split folder; its id is `<month>:<no>` unless it has one of its own."""
        return _record(fields, fields.label("month"))

    def read_source(self, path: Path) -> tuple[list[Record], tuple[Path, ...]]:
        """Read every `qa_<month>_final.json` of a folder (or one such file): months ascending, `no` ascending."""
        files = _source_files(path)
        keyed = []
        for month, file in files:
            for fields in read_records(file):
                named = month if "month" not in fields.record else fields.label("month")
                keyed.append(((named, _number(fields)), _record(fields, named)))
        if not keyed:
            raise DataError(f"{path}: the files hold no items")
        keyed.sort(key=lambda pair: pair[0])
        return [record for _, record in keyed], tuple(file for _, file in files)


def _source_files(path: Path) -> list[tuple[str, Path]]:
    if not path.exists():
        raise DataError(f"{path}: there is no such folder; env.data_root must hold qa_<month>_final.json files")
    entries = sorted(path.iterdir()) if path.is_dir() else [path]
    files = [(match.group(1), entry) for entry in entries if (match := _SOURCE.fullmatch(entry.name))]
    if not files:
        raise DataError(f"{path}: no file is called qa_<month>_final.json")
    return files


def _number(fields: Fields) -> int:
    value = fields.need("no")
    if isinstance(value, bool) or not isinstance(value, int):
        raise fields.error(f"the field 'no' must be a whole number, not {value!r}")
    return value


def _record(fields: Fields, month: str) -> Record:
    identifier = fields.label("id") if "id" in fields.record else f"{month}:{_number(fields)}"
    mcq = fields.child("mcq")
    right, options = _options(mcq)
    types = _types(fields)
    item = Item(
        id=identifier,
        question=mcq.text("question"),
        gold=(right,),
        task_type="|".join(types),
        data={
            "options": options,
            "theorem": fields.optional_text("theorem"),
            "sketch": fields.optional_text("sketch"),
        },
    )
    return Record(item, {"id": identifier, "month": month, **_without(fields, "id", "month")}, str(fields))


def _without(fields: Fields, *names: str) -> dict[str, Json]:
    return {key: value for key, value in fields.record.items() if key not in names}


def _types(fields: Fields) -> tuple[str, ...]:
    # Most items have a list; a few have one plain text, which must not be taken for a list of letters.
    value = fields.record.get("theorem_type")
    if value is None:
        return ()
    return (fields.text("theorem_type"),) if isinstance(value, str) else fields.texts("theorem_type")


def _options(mcq: Fields) -> tuple[str, list[str]]:
    """Return the right option and all options in the order of their labels in the file.

    `choices` holds the wrong options only; the right one is put in at its label.
    """
    right = mcq.child("correct_choice")
    right_label, right_text = right.text("label").strip(), right.text("text")
    choices = mcq.need("choices")
    if not isinstance(choices, list):
        raise mcq.error("the field 'choices' must be a list")
    by_label = {right_label: right_text}
    for entry in choices:
        choice = mcq.within(entry, "an entry of 'choices'")
        label, text = choice.text("label").strip(), choice.text("text")
        if by_label.setdefault(label, text) != text:
            raise mcq.error(f"two options have the label {label!r}")
    options = [text for _, text in sorted(by_label.items())]
    if len(options) < 2:
        raise mcq.error("there is no wrong option")
    if len(options) > len(ascii_uppercase):
        raise mcq.error(f"{len(options)} options are more than there are letters")
    if len({" ".join(text.split()) for text in options}) < len(options):
        raise mcq.error("two options have the same text")
    return right_text, options
