"""The means of items from the rows of an evaluation."""

from __future__ import annotations

import json
from pathlib import Path

from reflact.report.tables.item_means import item_means
from reflact.rundir.layout import EvaluationFolder


def folder(root: Path, *rows: tuple[str, str, int, float | None, str]) -> EvaluationFolder:
    lines = [
        {"key": key, "id": item, "repeat": repeat, "hard": hard, "status": status}
        for key, item, repeat, hard, status in rows
    ]
    made = EvaluationFolder(root, "baseline/selection")
    made.path.mkdir(parents=True)
    made.results.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return made


def test_repeats_have_keys_of_their_own_and_all_count(tmp_path: Path) -> None:
    found = item_means(
        folder(
            tmp_path,
            ("seed-0", "a", 0, 1.0, "ok"),
            ("seed-1", "a", 1, 0.0, "ok"),
            ("seed-1", "b", 1, 1.0, "ok"),
            ("seed-0", "b", 0, 1.0, "ok"),
        )
    )
    assert found == {"a": 0.5, "b": 1.0}


def test_rows_of_a_skill_that_was_given_up_do_not_count(tmp_path: Path) -> None:
    found = item_means(
        folder(
            tmp_path,
            ("old-0", "a", 0, 1.0, "ok"),
            ("old-1", "a", 1, 1.0, "ok"),
            ("new-1", "a", 1, 0.0, "ok"),
            ("new-0", "a", 0, 0.0, "ok"),
        )
    )
    assert found == {"a": 0.0}


def test_an_item_with_a_row_that_failed_has_no_mean(tmp_path: Path) -> None:
    found = item_means(
        folder(tmp_path, ("k0", "a", 0, 1.0, "ok"), ("k1", "a", 1, None, "error"), ("k0", "b", 0, 0.0, "ok"))
    )
    assert found == {"b": 0.0}
