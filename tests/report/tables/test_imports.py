"""Older results fill cells that no run fills, and are marked."""

import os

import pytest

from reflact.core.errors import ConfigError, DataError
from reflact.report.tables.compile import open_desk
from reflact.report.tables.imported import read_imports
from tests.report.tables.made import LR8, Made
from tests.report.tables.reading import grids, row, text

HEAD = "group,benchmark,value,baseline_test,best_test,n_test,source\n"


def lr(value):
    return {**LR8, "optimizer.learning_rate": value}


@pytest.fixture
def table(tmp_path):
    """Write a CSV file and return the LR table with it."""
    root = tmp_path / "runs"
    Made(root).write()
    Made(root, "LR-docvqa-8", sets=LR8).write()

    def compiled(content):
        path = tmp_path / "old.csv"
        path.write_text(content)
        return grids(root, imports=path)["lr"]

    return compiled


def test_an_imported_result_is_marked_and_has_no_interval_that_nobody_measured(table):
    grid = table(HEAD + "LR,docvqa,2,0.30,0.40,100,notebook of May\n")
    assert text(grid, "2", "state") == "imported"
    assert text(grid, "2", "best test") == "0.400 [0.309, 0.498] n=100"
    assert text(grid, "2", "best - baseline on test") == "+0.100"
    assert row(grid, "2")["fill"] == "imported"
    assert "docvqa 2: notebook of May" in grid.notes


def test_a_run_wins_over_an_import(table):
    grid = table(HEAD + "LR,docvqa,8,0.30,0.99,100,x\n")
    assert row(grid, "8")["best_test"] == 0.9 and row(grid, "8")["fill"] == "measured"


def test_columns_may_be_missing_and_in_any_order(tmp_path):
    path = tmp_path / "old.csv"
    path.write_bytes('\ufeffvalue, group,benchmark,best_test\r\n"2",LR,docvqa,\r\n'.encode())
    (entry,) = read_imports(path)
    assert entry.point.value == "2" and entry.measures.scores == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD.replace("best_test", "best_tset"), r"best_tset.*did you mean best_test"),
        ("group,benchmark\n", "column 'value' is missing"),
        (HEAD + "LR,docvqa,,0.3,0.4,1,\n", "line 2: value is empty"),
        (HEAD + "LR,docvqa,2,30,0.4,1,\n", "line 2: baseline_test=30: scores are means"),
        (HEAD + "LR,docvqa,2,0.3,much,1,\n", "best_test='much' is no number"),
        (HEAD + "LR,docvqa,2,0.3,0.4,1.5,\n", "n_test=1.5"),
        (HEAD + "LR,docvqa,2,nan,0.4,1,\n", "baseline_test=nan"),
        (HEAD + "LR,docvqa,2,0.3,0.4,1,x\n" * 2, "line 3: .*twice"),
        (HEAD + "LR,docvqa,2,0.3,0.4,1,x,more\n", "more values than columns"),
        (HEAD + "LR,docvqa,2,0.3,0.4,1e300,\n", "n_test=1e300"),
        (HEAD + "LR,docvqa,2,0.3,0.4,1," + "x" * 200_000 + "\n", "line 1: this is no CSV"),
        (HEAD + "../../LR,docvqa,2,0.3,0.4,1,\n", "line 2: group='../../LR'"),
        (HEAD + "L\0R,docvqa,2,0.3,0.4,1,\n", "line 2: group="),
    ],
)
def test_what_makes_no_sense_is_named_with_its_place(tmp_path, content, message):
    path = tmp_path / "old.csv"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        read_imports(path)


def test_a_study_half_done_elsewhere_is_finished_with_runs_of_ours(tmp_path):
    """The DEFAULT is imported: nothing of its configuration is known, so runs are held against each other."""
    (tmp_path / "old.csv").write_text("group,benchmark,value,best_test\nDEFAULT,docvqa,5.5,0.7\nLR,docvqa,2,0.6\n")
    Made(tmp_path, "LR-docvqa-1", sets=lr(1)).write()
    Made(tmp_path, "LR-docvqa-8", sets=lr(8)).write()
    Made(tmp_path, "LR-docvqa-16", sets={**lr(16), "train.num_epochs": 9}).write()
    grid = grids(tmp_path, imports=tmp_path / "old.csv")["lr"]
    assert [(raw["value"], raw["fill"]) for raw in grid.raw] == [
        ("1", "measured"),
        ("2", "imported"),
        ("8", "measured"),
        ("16", ""),
    ]
    assert [(run["run_id"], "num_epochs" in run["reasons"]) for run in grid.raw_invalid] == [("LR-docvqa-16", True)]


def test_what_is_no_file_is_named_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, what in (("pipe", "is a pipe"), ("nothing", "cannot be read"), (".", "cannot be read|is a folder")):
        with pytest.raises(ConfigError, match=f"{tmp_path}.*({what})"):
            read_imports(tmp_path / name)
    (tmp_path / "latin").write_bytes(b"group,benchmark,value\n\xff,a,b\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read_imports(tmp_path / "latin")


def test_a_result_of_no_point_that_anybody_knows_is_told(tmp_path):
    (tmp_path / "old.csv").write_text(
        "group,benchmark,value,best_test\n"
        "LR,docvqa,2,0.5\nLR+BATCH,docvqa,2+8,0.5\nHARNESS-Codex,docvqa,lr8,0.5\nNO-SKILL,docvqa,5.5,0.5\n"
        "LRS,docvqa,8,0.5\nLR,docvqa,lr8,0.5\nLR,docvqua,2,0.5\nBATCH+LR,docvqa,8+2,0.5\nLR+BATCH,docvqa,2,0.5\n"
    )
    Made(tmp_path).write()
    (told,) = [note for note in open_desk([tmp_path], imports=tmp_path / "old.csv").notes if "Imported" in note]
    assert told == (
        "Imported results that are no point of the study, in rows of their own: "
        "LRS-docvqa-8 (there is no group LRS (did you mean LR?)), "
        "LR-docvqa-lr8 (lr8 is no value of LR; there are 1, 2, 4, 8, 16), "
        "LR-docvqua-2 (there is no benchmark docvqua (did you mean docvqa?)), "
        "BATCH+LR-docvqa-8+2 (there is no group BATCH+LR (did you mean LR+BATCH?)), "
        "LR+BATCH-docvqa-2 (2 is no value of LR+BATCH)."
    )
    (tmp_path / "old.csv").write_text("group,benchmark,value,best_test\nLR,docvqa,2,0.5\n")
    assert not [note for note in open_desk([tmp_path], imports=tmp_path / "old.csv").notes if "Imported" in note]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (("lr",), r"line 2: group='lr' is called LR"),
        (("MINE", "mine"), r"line 3: group='mine' is called MINE"),
        (("main",), r"line 2: group='main': files of that name"),
        (("Tables",), r"line 2: group='Tables': files of that name"),
    ],
)
def test_no_imported_group_writes_over_another_table(tmp_path, groups, message):
    path = tmp_path / "old.csv"
    lines = [f"{group},docvqa,{number},0.5\n" for number, group in enumerate(groups)]
    path.write_text("group,benchmark,value,best_test\n" + "".join(lines))
    with pytest.raises(DataError, match=message):
        read_imports(path)
