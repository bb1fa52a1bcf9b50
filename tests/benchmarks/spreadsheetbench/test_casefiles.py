from __future__ import annotations

from pathlib import Path

import pytest

from reflact.benchmarks.spreadsheetbench.casefiles import find_cases, problem_of


def fill(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_bytes(name.encode())
    return folder


@pytest.mark.parametrize(
    ("names", "pairs"),
    [
        (["1_7_input.xlsx", "1_7_answer.xlsx"], [("1_7_input.xlsx", "1_7_answer.xlsx")]),
        (["1_7_init.xlsx", "1_7_golden.xlsx"], [("1_7_init.xlsx", "1_7_golden.xlsx")]),
        (["initial.xlsx", "golden.xlsx"], [("initial.xlsx", "golden.xlsx")]),
        (["1_7_init .xlsx", "1_7_golden  .xlsx"], [("1_7_init .xlsx", "1_7_golden  .xlsx")]),
        (["1_7_init.xlsx", "1_43930_golden.xlsx"], [("1_7_init.xlsx", "1_43930_golden.xlsx")]),
        (
            ["1_7_init.xlsx", "1_8_golden.xlsx", "1_7_golden.xlsx"],
            [("1_7_init.xlsx", "1_7_golden.xlsx")],
        ),
        (["1_7_Input.XLSX", "1_7_ANSWER.xlsx"], [("1_7_Input.XLSX", "1_7_ANSWER.xlsx")]),
        (["1_7_init.xlsx", "golden.xlsx"], [("1_7_init.xlsx", "golden.xlsx")]),
        (
            ["1_7_init.xlsx", "1_7_golden.xlsx", "~$1_7_init.xlsx", "prompt.txt", "notes.xlsx"],
            [("1_7_init.xlsx", "1_7_golden.xlsx")],
        ),
    ],
)
def test_every_naming(names: list[str], pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    cases = find_cases(fill(tmp_path / "x", *names), "7")
    assert [(case.input, case.golden) for case in cases] == pairs


def test_cases_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    names = [f"{n}_59-1_{kind}.xlsx" for n in (10, 2, 1) for kind in ("input", "answer")]
    cases = find_cases(fill(tmp_path / "x", *names), "59-1")
    assert [case.input.partition("_")[0] for case in cases] == ["1", "2", "10"]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "holds no workbooks of a known name .found: nothing"),
        (["a.xlsx"], "no workbooks of a known name .found: 'a.xlsx'"),
        (["1_7_init.xlsx"], "0 reference workbooks of case 1"),
        (["1_7_golden.xlsx"], "0 input workbooks of case 1"),
        (["1_7_init.xlsx", "1_7_input.xlsx", "1_7_golden.xlsx"], "2 input workbooks of case 1"),
        (["1_7_init.xlsx", "1_7_golden.xlsx", "2_7_init.xlsx"], "0 reference workbooks of case 2"),
    ],
)
def test_what_is_no_pair_is_refused(names: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        find_cases(fill(tmp_path / "x", *names), "7")
    with pytest.raises(ValueError, match="there is no folder"):
        find_cases(tmp_path / "y", "7")


def test_known_files_are_recognised_by_their_content(tmp_path: Path) -> None:
    (case,) = find_cases(fill(tmp_path / "x", "initial.xlsx", "golden.xlsx"), "7")
    assert problem_of(tmp_path / "x", case) == ""
    (tmp_path / "x" / "golden.xlsx").write_bytes(b"corrected")
    assert "golden.xlsx is not the file that the split was made with" in problem_of(tmp_path / "x", case)
    (tmp_path / "x" / "golden.xlsx").unlink()
    assert "there is no file" in problem_of(tmp_path / "x", case)
