from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from reflact.core.errors import Refused
from reflact.rundir.journal import Journal


class Maker:
    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self.calls = 0

    async def __call__(self) -> dict[str, Any]:
        self.calls += 1
        return self.value


def once(journal: Journal, name: str, key: str, make: Maker) -> dict[str, Any]:
    return asyncio.run(journal.once(name, key, make))


def allowed() -> None:
    """The run is ours."""


def test_a_result_is_made_once(tmp_path: Path) -> None:
    make = Maker({"edits": [1, 2]})
    assert once(Journal(tmp_path, allowed), "patches/failure_000", "k", make) == {"edits": [1, 2]}
    assert once(Journal(tmp_path, allowed), "patches/failure_000", "k", make) == {"edits": [1, 2]}
    assert make.calls == 1
    assert json.loads((tmp_path / "patches/failure_000.json").read_bytes()) == {"key": "k", "edits": [1, 2]}


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b'{"x": 1}', b'{"key": "other", "x": 1}', b"\xff"])
def test_another_key_or_a_broken_file_is_replaced(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "merged_patch.json").write_bytes(content)
    make = Maker({"x": 2})
    assert once(Journal(tmp_path, allowed), "merged_patch", "k", make) == {"x": 2}
    assert json.loads((tmp_path / "merged_patch.json").read_bytes()) == {"key": "k", "x": 2}


def test_the_first_answer_equals_the_kept_one(tmp_path: Path) -> None:
    make = Maker({"pair": (1, 2), "by_step": {1: "a"}, "text": "李明\udce9"})
    first = once(Journal(tmp_path, allowed), "a", "k", make)
    assert first == once(Journal(tmp_path, allowed), "a", "k", make)
    assert first == {"pair": [1, 2], "by_step": {"1": "a"}, "text": "李明\udce9"}


def test_a_former_owner_writes_nothing(tmp_path: Path) -> None:
    def taken() -> None:
        raise Refused("taken over")

    with pytest.raises(Refused):
        once(Journal(tmp_path, taken), "a", "k", Maker({}))
    assert list(tmp_path.iterdir()) == []


def test_a_failure_keeps_nothing(tmp_path: Path) -> None:
    async def fail() -> dict[str, Any]:
        raise RuntimeError("no answer")

    with pytest.raises(RuntimeError):
        asyncio.run(Journal(tmp_path, allowed).once("a", "k", fail))
    assert list(tmp_path.iterdir()) == []


def test_results_at_the_same_time_do_not_disturb_each_other(tmp_path: Path) -> None:
    async def all_at_once() -> list[dict[str, Any]]:
        journal = Journal(tmp_path, allowed).sub("patches")
        return await asyncio.gather(*(journal.once(f"p_{i:03d}", str(i), Maker({"i": i})) for i in range(40)))

    assert asyncio.run(all_at_once()) == [{"i": i} for i in range(40)]
    assert len(list((tmp_path / "patches").iterdir())) == 40


@pytest.mark.parametrize("name", ["/etc/passwd", "../up", "a/../../up"])
def test_a_name_stays_inside_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="inside"):
        once(Journal(tmp_path / "step", allowed), name, "k", Maker({}))


def test_a_result_has_no_key_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="key"):
        once(Journal(tmp_path, allowed), "a", "k", Maker({"key": 1}))
