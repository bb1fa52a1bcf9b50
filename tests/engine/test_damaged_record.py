"""A run's record that is JSON and yet no record is named, wherever a run goes on from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflact.core.errors import DataError
from reflact.engine.run_record import read_record
from reflact.rundir.claims import inspect
from reflact.rundir.layout import RunLayout

DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "text",
    ["[]", "null", "{}", '{"identity": 3, "config": {}, "code_version": "1"}', '{"identity": {', DEEP],
    ids=["list", "null", "empty", "types", "half", "deep"],
)
def test_what_is_no_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"config\.json is "):
        read_record(RunLayout(tmp_path))


@pytest.mark.parametrize("text", ["null", '{"pid": "x"}', DEEP], ids=["null", "types", "deep"])
def test_a_claim_that_is_nonsense_breaks_no_look_at_a_run(tmp_path: Path, text: str) -> None:
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "0001.json").write_text(text, encoding="utf-8")
    assert inspect(tmp_path).number == 1
