"""Items done from the request to the row, with scripts that really run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.protocol import Benchmark
from reflact.benchmarks.spreadsheetbench import SpreadsheetBench
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Outcome
from reflact.models.protocol import ChatReply
from reflact.testing import FakeSession, scripted_session

from ..support import cut, make
from .support import DONE, DOUBLE, book, need_bubblewrap, over, three

FAILS = DONE.format(line="book['Nowhere']")
SILENT = "```python\nprint('nothing to do')\n```"
WRONG = DONE.format(line="book.active['B1'] = 7")


@pytest.fixture(autouse=True)
def _confined() -> None:
    need_bubblewrap()


def one(root: Path, *, cases: int = 1, position: str = "B1", **env: Any) -> tuple[Benchmark, Item]:
    """Return the benchmark over one kind of item, and a train item."""
    benchmark = three(root, cases=cases, position=position, **env)
    return benchmark, benchmark.load().parts[Part.TRAIN][0]


def do(benchmark: Benchmark, item: Item, *said: str | ChatReply) -> tuple[Outcome, FakeSession]:
    session = scripted_session(said, skill="# Skill\n\nBe careful.")
    return asyncio.run(benchmark.converse(item, session)), session


def test_what_the_student_is_asked(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path)
    outcome, session = do(benchmark, item, DOUBLE)
    system, user = session.asked[0].messages
    assert "<skill>\n# Skill" in system.content
    assert item.question in user.content
    assert "Cells of the answer: B1" in user.content
    assert "Sheet 'Sheet1': 1 rows, 1 columns (A1:A1)\n  1: 21" in user.content
    assert "42" not in user.content
    assert (outcome.status, outcome.hard, outcome.soft, outcome.n_turns) == (RowStatus.OK, 1.0, 1.0, 1)
    assert outcome.extra["sandbox"] == "bubblewrap"


def test_every_case_is_run_and_soft_is_their_share(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path, cases=3)
    assert do(benchmark, item, DOUBLE)[0].extra["verdicts"] == ["pass", "pass", "pass"]
    literal = DONE.format(line="book.active['B1'] = 42")
    outcome, _ = do(benchmark, item, literal)
    assert (outcome.hard, outcome.soft) == (0.0, pytest.approx(1 / 3))
    assert outcome.fail_reason == (
        "Cases 2, 3: 1 of 1 compared cells are not as expected, first Sheet1!B1, which holds a number."
    )


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (FAILS, "KeyError: 'Worksheet Nowhere does not exist.'"),
        (SILENT, "OUTPUT_PATH is no workbook: there is no such file"),
        ("```python\nopen(OUTPUT_PATH, 'w').write('no')\n```", "cannot be compared: it is not a workbook"),
        ("```python\nx = (\n```", "SyntaxError"),
        ("```python\n\x00\n```", "null bytes"),
        ("```python\n'\ud800'\n```", "UnicodeDecodeError"),
        ("```python\nraise SystemExit(3)\n```", "exit code 3 and no message"),
        ("```python\nimport os; os.kill(os.getpid(), 9)\n```", "ended by signal 9"),
        ("I cannot do that.", "No reply held a Python script"),
        (WRONG, "first Sheet1!B1, which holds a number"),
    ],
)
def test_failures_say_why(reply: str, reason: str, tmp_path: Path) -> None:
    outcome, _ = do(*one(tmp_path), reply)
    assert (outcome.status, outcome.hard) == (RowStatus.OK, 0.0)
    assert outcome.fail_reason is not None
    assert reason in outcome.fail_reason
    # Tracebacks name the installation, which may lie in /tmp too; the work folder stays out.
    assert "/tmp" not in outcome.fail_reason.replace(sys.prefix, "")


def test_a_script_stays_as_it_was_written(tmp_path: Path) -> None:
    line = "text = '''\n  indented\n\ttab\n'''\nbook.active['B1'] = 42 if text == '\\n  indented\\n\\ttab\\n' else 0"
    line += "\nassert __name__ == '__main__' and __file__.endswith('solution.py')"
    line += (
        "\nimport sys, os\nassert sys.argv[1:] == [INPUT_PATH, OUTPUT_PATH] == [os.environ['INPUT_PATH'], OUTPUT_PATH]"
    )
    line += "\ndef inner():\n    return INPUT_PATH\nassert inner()"
    assert do(*one(tmp_path), DONE.format(line=line))[0].hard == 1.0


def test_a_cut_reply_without_a_whole_script_is_empty(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path)
    outcome, session = do(benchmark, item, cut(DOUBLE[:-4]))
    assert (outcome.status, outcome.cause, len(session.asked)) == (RowStatus.EMPTY, "length", 2)
    outcome, _ = do(benchmark, item, cut(DOUBLE + "\nThis scri"))
    assert (outcome.status, outcome.truncated, outcome.hard) == (RowStatus.OK, True, 1.0)


def test_errors_are_fed_back_until_a_script_runs(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path, cases=2, mode="multi")
    outcome, session = do(benchmark, item, "Let me think.", FAILS, SILENT, DOUBLE)
    assert (outcome.status, outcome.hard, outcome.n_turns, outcome.no_action) == (RowStatus.OK, 1.0, 4, 1)
    told = [asked.messages[-1].content for asked in session.asked]
    assert "held no complete Python script" in told[1]
    assert "Worksheet Nowhere does not exist" in told[2]
    assert 'File "solution.py", line 3' in told[2]
    assert "no such file" in told[3]
    assert [turn.role for turn in outcome.conversation] == ["user", "assistant"] * 4
    assert outcome.extra["verdicts"] == ["pass", "pass"]


def test_a_wrong_result_is_no_error(tmp_path: Path) -> None:
    outcome, session = do(*one(tmp_path, mode="multi"), WRONG, DOUBLE)
    assert (outcome.hard, outcome.n_turns, len(session.asked)) == (0.0, 1, 1)
    assert "gold_feedback" not in outcome.extra


def test_turns_are_bounded_and_old_outputs_are_never_scored(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path, mode="multi", max_turns=2)
    right_but_failing = DOUBLE.replace("\n```", "\nraise ValueError('late')\n```")
    outcome, session = do(benchmark, item, right_but_failing, SILENT)
    assert (outcome.hard, outcome.n_turns, len(session.asked)) == (0.0, 2, 2)
    assert outcome.fail_reason is not None
    assert "no such file" in outcome.fail_reason


def test_replies_without_a_script_are_counted(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path, mode="multi", max_turns=3)
    for said in ("", "words", cut("```python\nx = (")):
        outcome, _ = do(benchmark, item, said)
        assert (outcome.status, outcome.hard, outcome.no_action, outcome.n_turns) == (RowStatus.OK, 0.0, 3, 3)
        assert outcome.fail_reason == "No reply held a Python script."


def test_gold_feedback_is_for_train_items_and_marks_rows(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path, mode="multi", gold_feedback="train")
    outcome, session = do(benchmark, item, WRONG, DOUBLE)
    assert (outcome.hard, outcome.n_turns, outcome.extra["gold_feedback"]) == (1.0, 2, "train")
    assert "its result is wrong" in session.asked[1].messages[-1].content
    assert "42" not in session.asked[1].messages[-1].content
    tested = benchmark.load().parts[Part.TEST][0]
    outcome, _ = do(benchmark, tested, WRONG, DOUBLE)
    assert (outcome.hard, outcome.n_turns) == (0.0, 1)
    assert benchmark.settings()["gold_feedback"] == "train"


def test_references_without_results_are_found_and_left_out(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path, cases=2)
    stem = tmp_path / "spreadsheet" / item.id / f"2_{item.id}"
    book(Path(f"{stem}_golden.xlsx"), {"A1": 22, "B1": "=A1*2"})
    benchmark = over(tmp_path, split="1shot", recalculate="off")
    split = benchmark.load()
    (finding,) = benchmark.check(split)
    assert (finding.level, finding.code) == ("warning", "not_evaluable")
    assert f"'{item.id}'" in finding.message
    item = split.parts[Part.TRAIN][0]
    for reply, score in ((DOUBLE, 1.0), (DONE.format(line="pass"), 0.0)):
        outcome, _ = do(benchmark, item, reply)
        assert (outcome.hard, outcome.soft, outcome.extra["not_evaluable"]) == (score, score, 1)
    book(Path(f"{stem}_golden.xlsx".replace("2_", "1_")), {"A1": 21, "B1": "=A1*2"})
    benchmark = over(tmp_path, split="1shot", recalculate="off")
    outcome, _ = do(benchmark, benchmark.load().parts[Part.TRAIN][0], DONE.format(line="pass"))
    assert (outcome.status, outcome.hard, outcome.extra["not_evaluable"]) == (RowStatus.OK, 0.0, 2)
    assert outcome.fail_reason is not None
    assert "formulas of the reference have no saved result" in outcome.fail_reason


def test_a_formula_in_the_result_is_explained(tmp_path: Path) -> None:
    outcome, _ = do(*one(tmp_path, recalculate="off"), DONE.format(line="book.active['B1'] = '=A1*2'"))
    assert outcome.hard == 0.0
    assert outcome.fail_reason is not None
    assert "Formulas written by a script have no result" in outcome.fail_reason


def test_a_failure_of_our_own_is_no_score(tmp_path: Path) -> None:
    benchmark, item = one(tmp_path)
    assert isinstance(benchmark, SpreadsheetBench)
    (tmp_path / "spreadsheet" / item.id / f"1_{item.id}_init.xlsx").unlink()
    outcome, session = do(benchmark, item, DOUBLE)
    assert (outcome.status, outcome.cause, outcome.hard) == (RowStatus.ERROR, "sandbox", None)
    assert not session.asked


def test_without_confinement_rows_and_the_check_say_so() -> None:
    benchmark = make("spreadsheetbench", sample=True, sandbox="off")
    split = benchmark.load()
    (finding,) = benchmark.check(split)
    assert (finding.level, finding.code) == ("warning", "unsandboxed")
    assert "env.sandbox=off" in finding.message
    item = split.parts[Part.TRAIN][1]
    outcome, _ = do(benchmark, item, benchmark.rehearse(item, True, 1))
    assert (outcome.hard, outcome.extra["sandbox"]) == (1.0, "unsandboxed")
    assert benchmark.settings()["sandbox"] == "unsandboxed"
    assert make("spreadsheetbench", sample=True).settings()["sandbox"] == "bubblewrap"
