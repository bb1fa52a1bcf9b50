"""The files: escaped in every format, the same bytes again, nothing stale."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest

from reflact.core.errors import ConfigError, DataError
from reflact.report.tables.compile import compile_tables, files_of, open_desk, write_tables
from reflact.report.tables.escape import csv_text, latex, markdown
from tests.report.tables.made import LR8, Made, point, write_plan

HOSTILE = "<script>alert(1)</script> a|b_c & $x$ \\input{/etc/passwd} `q` \x1b[31m*z* \u202e\n=1+1"


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "runs"
    Made(root).write()
    bad = Made(root, "LR-docvqa-8", sets=LR8)
    bad.record["harness"] = HOSTILE
    bad.write()
    odd = Made(root, folder="odd", run_id="BATCH-docvqa-8", sets={"train.batch_size": 8})
    odd.summary["student"] = HOSTILE
    odd.write()
    Made(root, "DEFAULT-searchqa-5.5", benchmark="searchqa").write()
    write_plan(root, point(f"BATCH-docvqa-{HOSTILE}".replace("+", ""), why=HOSTILE))
    return root


def files(root, **options):
    return files_of(compile_tables(open_desk([root]), **options))


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)


def test_foreign_text_is_harmless_in_every_format(root):
    made = files(root)
    assert not any("\x1b" in text or "\u202e" in text for text in made.values())
    tags = Tags()
    tags.feed(made["tables.html"])
    assert "script" not in tags.seen and {"table", "td"} <= tags.seen
    for name in ("batch.md", "lr.md"):
        bars = {
            len(re.findall(r"(?<!\\)\|", line))
            for line in made[name].partition("## Not")[0].splitlines()
            if line.startswith("|")
        }
        assert len(bars) == 1
        assert "<script" not in made[name].replace("\\<", "")
    tex = made["batch.tex"]
    assert "\\input{" not in tex and "\\textbackslash{}input\\{" in tex
    rows = [line for line in tex.splitlines() if line.endswith(" \\\\")]
    assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1


def test_csv_is_read_back_by_a_csv_reader(root):
    rows = list(csv.DictReader(io.StringIO(files(root)["batch.csv"])))
    assert {row["benchmark"] for row in rows} == {"docvqa"}
    measured = next(row for row in rows if row["value"] == "8")
    assert float(measured["best_test"]) == 0.9 and measured["simulated"] == "false"
    left_out = list(csv.DictReader(io.StringIO(files(root)["lr.invalid.csv"])))
    assert left_out[0]["run_id"] == "LR-docvqa-8" and left_out[0]["reasons"].startswith("harness: ")


def test_a_spreadsheet_sees_no_formula():
    assert [csv_text(text) for text in ("=1+1", "+1", "-1", "@a", "a=1")] == ["'=1+1", "'+1", "'-1", "'@a", "a=1"]


def test_escapes_keep_what_is_said():
    assert markdown("a|b <i>") == r"a\|b \<i\>"
    assert latex("50% of a_b & {c}") == r"50\% of a\_b \& \{c\}"
    assert latex("\\") == r"\textbackslash{}"


def test_the_same_runs_give_the_same_bytes_and_leave_files_alone(root, tmp_path):
    out = tmp_path / "out"
    write_tables(compile_tables(open_desk([root])), out)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()}
    write_tables(compile_tables(open_desk([root])), out)
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in out.iterdir()} == before
    assert {"main.md", "lr.tex", "lr.csv", "lr.html", "tables.md", "tables.html"} <= before.keys()


def test_files_of_tables_that_went_go_and_others_stay(root, tmp_path):
    out = tmp_path / "out"
    write_tables(compile_tables(open_desk([root])), out)
    (out / "mine.md").write_text("mine")
    (out / "tables.json").write_text(json.dumps([*json.loads((out / "tables.json").read_text()), "../runs", "old.md"]))
    write_tables(compile_tables(open_desk([root / "DEFAULT-docvqa-5.5"])), out)
    assert (out / "mine.md").exists() and not (out / "lr.md").exists() and root.is_dir()


def test_shared_work_is_in_the_total_once_and_in_each_row_as_a_whole(tmp_path):
    Made(tmp_path).write()
    run = Made(tmp_path, "LR-docvqa-8", sets=LR8)
    usage = {"calls": 1, "prompt_tokens": 400, "cached_tokens": 0, "completion_tokens": 100}
    run.summary["usage_reused"] = {"student": {"baseline": {"test": usage}}}
    run.record["config"]["pricing"]["models"] = {"gpt-5.5": {"prompt": 1000.0, "completion": 1000.0}}
    run.write()
    made = files(tmp_path)
    (raw,) = csv.DictReader(io.StringIO(made["lr.csv"]))
    assert (raw["tokens"], raw["tokens_reused"], raw["cost_usd"], raw["wall_time_s"]) == (
        "1500.0", "500.0", "2.0", "3600.0",
    )  # fmt: skip
    assert "1.5k (500 reused)" in made["lr.md"]
    assert "Spent by 2 runs below the roots, in tables or not, shared work once: 2k tokens, $3.00." in made["tables.md"]


def test_what_unfinished_runs_have_spent_is_in_the_total(tmp_path):
    Made(tmp_path).write()
    run = Made(tmp_path, "LR-docvqa-8", sets=LR8)
    usage = {"prompt_tokens": 300, "completion_tokens": 100}
    run.events += [
        {"t": 2.0, "kind": "call", "role": "student", "usage": usage, "cost_usd": 0.25},
        {"t": 2.5, "kind": "call_failed", "role": "teacher", "usage": {"prompt_tokens": 600, "completion_tokens": 0}},
    ]
    run.write(complete=False)
    said = files(tmp_path)["tables.md"]
    assert "Spent by 2 runs (1 not complete) below the roots" in said and "2k tokens, $1.75." in said


def test_foreign_folders_and_empty_roots_are_a_line_not_an_error(tmp_path):
    (tmp_path / "photos" / "claims").mkdir(parents=True)
    (tmp_path / "photos" / "summary.json").write_text("{")
    compiled = compile_tables(open_desk([tmp_path]))
    assert compiled.grids == ()
    assert compiled.notes[0] == f"No runs below {tmp_path}."


def test_a_broken_plan_is_named(root):
    (root / "plan.json").write_text("{")
    with pytest.raises(DataError, match=r"plan\.json is not JSON"):
        open_desk([root])


def test_a_broken_record_is_a_reason_not_a_crash(root):
    (root / "DEFAULT-searchqa-5.5" / "config.json").write_text("{")
    text = files(root)["default.md"]
    assert "record: config.json is missing" in text


def test_nothing_is_written_into_a_run(root):
    with pytest.raises(ConfigError, match="inside a run directory"):
        write_tables(compile_tables(open_desk([root])), root / "LR-docvqa-8" / "tables")


def test_strays_are_named(root):
    Made(root, "mine", sets={"train.num_epochs": 2}).write()
    write_plan(root, point("docvqa-patience=2"), point("mine"))
    expected = "Runs that are no point of the study: runs/mine (done), docvqa-patience=2 (planned)."
    assert expected in compile_tables(open_desk([root])).notes
