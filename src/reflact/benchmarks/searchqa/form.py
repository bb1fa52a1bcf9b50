"""SearchQA items in files: a split folder's own form and the form of the MRQA collection."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reflact.benchmarks.fields import Fields
from reflact.benchmarks.files import read_records
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError, Unavailable
from reflact.core.types import Item

_COLUMNS = ("key", "qid", "id", "context", "question", "answers", "subset")
_IDS = ("key", "qid", "id")


class SearchQAFormat:
    """Reads items `{id, question, context, answers}` and MRQA sources."""

    name = "searchqa"
    package = "reflact.benchmarks.searchqa"

    def parse(self, fields: Fields) -> Record:
        """Read an item of a split folder."""
        return _record(fields, fields.label("id"))

    def read_source(self, path: Path) -> tuple[list[Record], tuple[Path, ...]]:
        """Read a Parquet or JSON (Lines) file of the MRQA form, or a folder of such files in the order of their names.

        A row has context, question, answers and `key` (or `qid`, `id`); rows `{context, qas: [...]}` as the MRQA
        files themselves have them are unfolded and their header line is passed over. Where a column `subset` is
        present, only SearchQA rows are taken.
        """
        files = _source_files(path)
        records = [record for file in files for row in _rows(file) for record in _unfold(row)]
        if not records:
            raise DataError(f"{path}: no SearchQA items were found")
        return records, files


def _source_files(path: Path) -> tuple[Path, ...]:
    if not path.is_dir():
        return (path,)
    endings = (".parquet", ".jsonl", ".jsonl.gz", ".json", ".json.gz")
    files = tuple(sorted(entry for entry in path.iterdir() if entry.name.endswith(endings)))
    if not files:
        raise DataError(f"{path}: the folder holds no file that ends in {', '.join(endings)}")
    return files


def _rows(path: Path) -> Iterator[Fields]:
    if path.suffix == ".parquet":
        yield from _parquet(path)
    else:
        yield from read_records(path)


def _parquet(path: Path) -> Iterator[Fields]:
    try:
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        raise Unavailable(f"{path}: reading Parquet needs pyarrow: pip install 'reflact[parquet]'") from None
    if not path.exists():
        raise DataError(f"{path}: there is no such file")
    try:
        file = parquet.ParquetFile(path)
    except (OSError, ValueError) as error:  # pyarrow's own errors derive from ValueError
        raise DataError(f"{path}: not a Parquet file: {error}") from error
    names = file.schema_arrow.names
    number = 0
    with file:
        for batch in file.iter_batches(batch_size=512, columns=[name for name in _COLUMNS if name in names]):
            for row in batch.to_pylist():
                number += 1
                yield Fields(row, str(path), 0, number)


def _unfold(row: Fields) -> Iterator[Record]:
    if "header" in row.record or row.record.get("subset", "SearchQA") != "SearchQA":
        return
    questions = row.record.get("qas")
    if questions is None:
        yield _record(row, _source_id(row))
        return
    if not isinstance(questions, list):
        raise row.error("the field 'qas' must be a list")
    for entry in questions:
        inner = row.within(entry, "an entry of 'qas'")
        merged = Fields({**inner.record, "context": row.need("context")}, row.file, row.line, row.number)
        yield _record(merged, _source_id(merged))


def _source_id(row: Fields) -> str:
    # Without any of them, asking for the first says which fields there are.
    return row.label(next((name for name in _IDS if name in row.record), _IDS[0]))


def _record(row: Fields, identifier: str) -> Record:
    question, context, answers = row.text("question"), row.text("context"), row.texts("answers")
    item = Item(id=identifier, question=question, gold=answers, data={"context": context})
    data = {"id": identifier, "question": question, "context": context, "answers": list(answers)}
    return Record(item, data, str(row))
