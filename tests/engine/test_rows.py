"""Rows on disk that something else changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import reflact
from reflact.core.errors import DataError
from reflact.engine.rows import RowStore
from reflact.rundir.jsonl import Syncer
from reflact.rundir.layout import EvaluationFolder


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished evaluation."""
    root = tmp_path_factory.mktemp("rows") / "run"
    reflact.evaluate(reflact.compose(["harness=rehearsal", "split=val", "skill=default", f"env.out_root={root}"]))
    return root


@pytest.mark.parametrize("name", ["results.jsonl", "conversations.jsonl"])
@pytest.mark.parametrize(("field", "value"), [("key", None), ("repeat", []), ("attempt", {}), ("id", [])])
def test_a_line_that_is_no_row_is_named_with_its_file(
    evaluated: Path, tmp_path: Path, name: str, field: str, value: object
) -> None:
    shutil.copytree(evaluated / "evaluation", tmp_path / "evaluation")
    file = tmp_path / "evaluation" / name
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    key = lines[2]["key"]
    if value is None:
        del lines[2][field]
    else:
        lines[2][field] = value
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    store = RowStore(EvaluationFolder(tmp_path, "evaluation"), Syncer(), lambda: None)
    with pytest.raises(DataError, match=f"{name}, line 3: "):
        store.recover({key})
