"""DocVQA items in CSV files."""

from __future__ import annotations

from pathlib import Path

from reflact.benchmarks.docvqa.cells import texts_in
from reflact.benchmarks.fields import Fields
from reflact.benchmarks.files import read_records
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError
from reflact.core.types import Item

_ENDINGS = (".csv", ".csv.gz")


class DocVQAFormat:
    """Reads rows `questionId, question, answer, docId, image_path, topic` and keeps further columns as they are."""

    name = "docvqa"
    package = "reflact.benchmarks.docvqa"
    columns = ("questionId", "question", "answer", "docId", "image_path", "topic")

    def parse(self, fields: Fields) -> Record:
        """Read a row. One without an answer is read too; the data check names all of them at once."""
        item = Item(
            id=fields.text("questionId").strip(),
            question=fields.text("question").strip(),
            gold=_texts(fields, "answer"),
            task_type="|".join(_texts(fields, "topic")),
            data={"doc_id": fields.text("docId").strip(), "image": fields.text("image_path").strip()},
        )
        return Record(item, fields.record, str(fields))

    def read_source(self, path: Path) -> tuple[list[Record], tuple[Path, ...]]:
        """Read a CSV file, or the CSV files of a folder in the order of their names."""
        files = _source_files(path)
        records = [self.parse(fields) for file in files for fields in read_records(file)]
        if not records:
            raise DataError(f"{path}: no DocVQA items were found")
        return records, files


def _texts(fields: Fields, name: str) -> tuple[str, ...]:
    cell = fields.need(name)
    try:
        return texts_in(str(cell))
    except ValueError as error:
        raise fields.error(f"the field {name!r} begins with `[` and is no list of texts: {error}") from None


def _source_files(path: Path) -> tuple[Path, ...]:
    if not path.is_dir():
        if not path.name.endswith(_ENDINGS):
            raise DataError(f"{path}: a CSV file or a folder of them was expected")
        return (path,)
    files = tuple(sorted(entry for entry in path.iterdir() if entry.name.endswith(_ENDINGS)))
    if not files:
        raise DataError(f"{path}: the folder holds no file that ends in {' or '.join(_ENDINGS)}")
    return files
