"""Items, game files, and what is refused before a run."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.alfworld import benchmark as module
from reflact.benchmarks.alfworld import installed
from reflact.benchmarks.commands import make_split, verify_split
from reflact.config.check import check
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, DataError, Unavailable
from reflact.core.names import Part

from ..support import write_json, write_split
from .support import benchmark, write_game

SIMPLE, LOOK = "pick_and_place_simple", "look_at_obj_in_light"


def item(part: str, number: int = 1, **changes: Any) -> dict[str, Any]:
    gamefile = f"json_2.1.1/{part}/{SIMPLE}-Mug-None-Desk-1/t{number}/game.tw-pddl"
    return {"id": f"{part}{number}", "gamefile": gamefile, "task_type": SIMPLE, **changes}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with games, one a part, and a split folder of them."""
    for part in Part:
        write_game((tmp_path / item(part.value)["gamefile"]).parent, f"put a mug in the {part.value}")
    write_split(tmp_path / "split", {part.value: [item(part.value)] for part in Part})
    return tmp_path


def official(root: Path, per_type: int = 2) -> Path:
    for split in ("train", "valid_seen", "valid_unseen"):
        for kind in (SIMPLE, LOOK):
            for number in range(per_type):
                folder = root / "json_2.1.1" / split / f"{kind}-Mug-None-Desk-1" / f"t{number}"
                write_game(folder, f"{kind} {split} {number}")
    return root


def test_games_are_found_below_the_folder_that_the_variable_names(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(root))
    made = benchmark(split_dir=str(root / "split"))
    split = made.load()
    (one,) = split.parts[Part.TRAIN]
    assert (one.question, one.task_type, one.gold) == ("put a mug in the train", SIMPLE, ())
    assert made.form.path_of(one) == root / item("train")["gamefile"]


def test_the_configured_folder_wins(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path / "nowhere"))
    assert benchmark(split_dir=str(root / "split"), data_root=str(root)).load().parts[Part.VAL]


def test_the_same_games_elsewhere_are_the_same_items(root: Path, tmp_path: Path) -> None:
    here = benchmark(split_dir=str(root / "split"), data_root=str(root)).load()
    moved = tmp_path / "moved"
    shutil.copytree(root / "json_2.1.1", moved / "json_2.1.1")
    records = {p.value: [item(p.value, gamefile=str(moved / item(p.value)["gamefile"]))] for p in Part}
    there = benchmark(split_dir=str(write_split(tmp_path / "absolute", records))).load()
    assert there.fingerprint == here.fingerprint
    write_game((moved / item("test")["gamefile"]).parent, "put a mug in the test", pddl_problem="(define other)")
    changed = benchmark(split_dir=str(tmp_path / "absolute")).load()
    assert changed.fingerprints[Part.TEST] != here.fingerprints[Part.TEST]


def test_relative_games_without_a_folder_are_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with pytest.raises(
        DataError, match=r"neither env.data_root nor ALFWORLD_DATA is set.*alfworld-download.*make-games"
    ):
        benchmark(split_dir=str(root / "split")).load()


def test_all_missing_games_are_named_at_once(root: Path, tmp_path: Path) -> None:
    records = {part.value: [item(part.value, n) for n in range(1, 5)] for part in Part}
    folder = write_split(tmp_path / "more", records)
    with pytest.raises(DataError) as caught:
        benchmark(split_dir=str(folder), data_root=str(root)).load()
    message = str(caught.value)
    assert f"9 of 12 game files are missing (relative names belong to {root})" in message
    assert message.count("\n  ") == 6 and "and 4 more" in message and "alfworld-download" in message


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task_type": "fly"}, "unknown task type 'fly'"),
        ({"gamefile": None}, "gamefile"),
        ({"id": None}, "id"),
    ],
)
def test_odd_items_are_refused(root: Path, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    parts = {part.value: [item(part.value)] for part in Part}
    parts["val"] = [item("val", **changes)]
    with pytest.raises(DataError, match=words):
        benchmark(split_dir=str(write_split(tmp_path / "odd", parts)), data_root=str(root)).load()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "JSON was expected"),
        ("[" * 100_000, "JSON was expected"),
        ('{"grammar": "x"}', "it needs the texts"),
    ],
)
def test_what_is_no_game_file_is_refused(root: Path, text: str, words: str) -> None:
    (root / item("val")["gamefile"]).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=words):
        benchmark(split_dir=str(root / "split"), data_root=str(root)).load()


def test_a_game_that_cannot_be_solved_is_refused(root: Path) -> None:
    write_game((root / item("val")["gamefile"]).parent, solvable=False)
    with pytest.raises(DataError, match="says that it cannot be solved"):
        benchmark(split_dir=str(root / "split"), data_root=str(root)).load()


def test_splits_are_drawn_from_the_official_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    source = official(tmp_path / "data", per_type=7)
    made = benchmark(data_root=str(source))
    report = make_split(made, source, tmp_path / "out")
    assert report.counts == {"train": 4, "val": 2, "test": 14}
    assert verify_split(benchmark(data_root=str(source)), tmp_path / "out", source=source).problems == ()
    assert not make_split(benchmark(), source, tmp_path / "out").written, "the same again"
    loaded = benchmark(data_root=str(source), split_dir=str(tmp_path / "out")).load()
    assert loaded.manifest["source"] == "generated" and loaded.manifest["pool"]["valid_unseen"] == 14
    assert loaded.manifest["task_types"]["train"] == {SIMPLE: 2, LOOK: 2}
    assert benchmark(data_root=str(source)).load().fingerprint == loaded.fingerprint, "cut in memory"


def test_an_id_manifest_wins(tmp_path: Path) -> None:
    source = official(tmp_path / "data")
    ids = {"train": "train", "val": "valid_seen", "test": "valid_unseen"}
    chosen = {part: [f"{split}/{LOOK}-Mug-None-Desk-1/t1"] for part, split in ids.items()}
    path = write_json(tmp_path / "ids.json", chosen)
    report = make_split(benchmark(data_root=str(source)), source, tmp_path / "out", ids=path)
    assert report.counts == {"train": 1, "val": 1, "test": 1}
    loaded = benchmark(data_root=str(source), split_dir=str(tmp_path / "out")).load()
    assert loaded.manifest["source"] == "id manifest" and loaded.parts[Part.TEST][0].task_type == LOOK


def test_unplayable_games_are_no_part_of_the_source(tmp_path: Path) -> None:
    source = official(tmp_path / "data")
    folder = source / "json_2.1.1" / "train"
    write_game(folder / f"{SIMPLE}-PotatoSliced-None-Desk-1" / "t1")
    write_game(folder / "pick_and_place_with_movable_recep-Pen-Mug-Desk-1" / "t1")
    write_game(folder / f"{SIMPLE}-Cup-None-Desk-1" / "t1", solvable=False)
    records, _ = benchmark().form.read_source(source)
    assert len(records) == 12


def test_an_incomplete_official_folder_says_what_is_missing(tmp_path: Path) -> None:
    source = official(tmp_path / "data")
    shutil.rmtree(source / "json_2.1.1" / "valid_seen")
    with pytest.raises(DataError, match=r"missing valid_seen\. Download them"):
        benchmark().form.read_source(source)
    with pytest.raises(DataError, match="missing train, valid_seen, valid_unseen"):
        benchmark().form.read_source(tmp_path / "nowhere")


def test_without_the_engine_a_run_is_refused_with_the_way_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "_PACKAGES", ("alfworld", "no_such_engine"))
    made = benchmark(split_dir=str(root / "split"), data_root=str(root))
    split = made.load()
    with pytest.raises(Unavailable, match=r"no_such_engine.*pip install 'reflact\[alfworld\]'.*make setup-alfworld"):
        made.check(split)
    with pytest.raises(Unavailable, match="reflact"):
        benchmark(sample=True).load()


def test_games_of_another_release_are_seen(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "require_engine", lambda: None)
    made = benchmark(split_dir=str(root / "split"), data_root=str(root))
    codes = {finding.code: finding.message for finding in made.check(made.load())}
    assert "do not know" in codes["other_commands"] and "'take from'" in codes["other_commands"]


@pytest.mark.parametrize("backend", ["codex_exec", "claude_code_exec"])
def test_agents_are_refused_before_anything_else(backend: str) -> None:
    config = Config()
    config.benchmark.name, config.model.student_backend = "alfworld", backend
    config.model.student = "sonnet"
    with pytest.raises(ConfigError, match=f"alfworld cannot be done with model.student_backend={backend}"):
        check(config)
