"""Eight processes at one directory at the same moment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.rundir.children import Child
from tests.rundir.trees import abandoned, names

N = 8
ROUNDS = 6


@pytest.fixture(scope="module")
def children() -> Iterator[list[Child]]:
    with ExitStack() as stack:
        yield [stack.enter_context(Child()) for _ in range(N)]


def race(children: list[Child], root: Path, *, resume: bool) -> dict[str, object]:
    """Let all take `root`; see that one won and the others name it; return the winner's answer."""
    for child in children:
        child.order("take", root=str(root), resume=resume, heartbeat_s=15)
    answers = [child.answer() for child in children]
    won = [answer for answer in answers if answer["ok"]]
    assert len(won) == 1
    lost = [answer for answer in answers if not answer["ok"]]
    assert {answer["code"] for answer in lost} == {73}
    assert all(f"pid {won[0]['pid']} " in answer["message"] for answer in lost)
    winner = children[answers.index(won[0])]
    assert winner.ask("check")["ok"]
    assert winner.ask("release")["ok"]
    return won[0]


@pytest.mark.parametrize("resume", [False, True])
def test_one_wins_a_missing_directory(tmp_path: Path, children: list[Child], resume: bool) -> None:
    for i in range(ROUNDS):
        root = tmp_path / f"new {i}" / "run"
        race(children, root, resume=resume)
        assert names(root / "claims") == ["0001.json", "0001.released"]


def test_one_wins_an_empty_directory(tmp_path: Path, children: list[Child]) -> None:
    for i in range(ROUNDS):
        root = tmp_path / f"empty {i}"
        root.mkdir()
        race(children, root, resume=False)
        assert names(root / "claims") == ["0001.json", "0001.released"]


def test_one_wins_a_stale_run(tmp_path: Path, children: list[Child]) -> None:
    for i in range(ROUNDS):
        root = abandoned(tmp_path / f"stale {i}", age_s=1000)
        assert race(children, root, resume=True)["number"] == 2
        assert names(root / "claims") == ["0001.json", "0002.json", "0002.released"]
