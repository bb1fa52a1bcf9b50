"""Made games: the same by seed, and won in the real engine."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reflact.benchmarks.alfworld.games import read_game, task_type_of
from reflact.benchmarks.alfworld.making import command
from reflact.benchmarks.alfworld.making import files as files_module
from reflact.benchmarks.alfworld.making.command import make_games
from reflact.benchmarks.alfworld.making.files import contents, plan_games
from reflact.benchmarks.alfworld.making.kinds import OPENABLE
from reflact.benchmarks.alfworld.making.problem import problem
from reflact.benchmarks.alfworld.making.rooms import Entity, make_room
from reflact.benchmarks.alfworld.making.sample import COUNTS, SEED, cache_folder, sample_root
from reflact.benchmarks.alfworld.making.walkthrough import names, walkthrough
from reflact.benchmarks.alfworld.tasks import TASK_TYPES
from reflact.cli.data import app
from reflact.core.errors import ConfigError, DataError, Refused

from .support import fake_pool, needs_engine

ONE = {"train": 1, "valid_seen": 1, "valid_unseen": 1}
SAMPLE = Path(files_module.__file__).parents[1] / "sample"


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in for the texts of the engine."""
    monkeypatch.setattr(files_module, "domain_text", lambda: "(define (domain alfred))")
    monkeypatch.setattr(files_module, "grammar_text", lambda: '"Your task is to: UNKNOWN GOAL."')


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_a_room_follows_from_its_seed(task_type: str) -> None:
    assert make_room(task_type, "a") == make_room(task_type, "a")
    assert len({problem(make_room(task_type, str(key)), "p") for key in range(20)}) > 15


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_no_task_is_done_from_the_start(task_type: str) -> None:
    for key in range(50):
        room = make_room(task_type, str(key))
        found = room.where(room.target)
        assert len(found) == (2 if task_type == "pick_two_obj_and_place" else 1)
        assert all(place.kind != room.place for _, place in found)
        if room.lamp:
            ((_, stand),) = room.where(room.lamp)
            assert stand.kind not in OPENABLE


def test_names_count_down_in_the_order_of_ids() -> None:
    drawers = [Entity("drawer", number) for number in (1, 2, 10)]
    assert [names(drawers)[drawer] for drawer in drawers] == ["drawer 3", "drawer 2", "drawer 1"]
    assert Entity("sinkbasin", 1).id == "sink_bar_01_bar_sinkbasin"


def test_a_walkthrough_opens_what_is_closed_once_and_never_goes_where_it_is() -> None:
    for task_type in TASK_TYPES:
        for key in range(30):
            commands = walkthrough(make_room(task_type, str(key)))
            opened = [command for command in commands if command.startswith("open ")]
            assert len(set(opened)) == len(opened)
            places = [command for command in commands if command.startswith("go to ")]
            assert all(a != b for a, b in pairwise(places))


def test_files_are_laid_out_like_the_official_ones(texts: None, tmp_path: Path) -> None:
    games = list(plan_games(ONE, seed=3))
    assert len(games) == 18
    made = contents(games)
    assert made == contents(list(plan_games(ONE, seed=3))) != contents(list(plan_games(ONE, seed=4)))
    files_module.write_files(tmp_path / "data", made)
    for game in games:
        path = tmp_path / "data" / game.gamefile
        read = read_game(path)
        assert (read.solvable, task_type_of(path)) == (True, game.room.task_type)
        assert list(read.walkthrough) == walkthrough(game.room) and "UNKNOWN" not in read.task


def test_a_folder_with_something_else_is_refused(texts: None, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(Refused, match="nothing was changed"):
        make_games(tmp_path, ONE, pool=fake_pool())
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]


def test_games_that_cannot_be_won_are_not_kept(texts: None, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"18 of 18 made games cannot be won as planned: .* is not possible"):
        make_games(tmp_path / "data", ONE, pool=fake_pool())
    assert not (tmp_path / "data").exists()


def test_games_are_not_kept_if_the_proof_is_interrupted(
    texts: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def interrupted(paths: list[Path], pool: object) -> None:
        assert all(path.is_file() for path in paths)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "prove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        make_games(tmp_path / "data", ONE, pool=fake_pool())
    assert list(tmp_path.iterdir()) == []


def test_no_games_and_a_place_below_a_file_are_refused(texts: None, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no games are asked for"):
        make_games(tmp_path / "data", dict.fromkeys(ONE, 0), pool=fake_pool())
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    for below in ("file/data", "file/deep/data"):
        with pytest.raises(Refused, match=r"data cannot be made \(.*file"):
            make_games(tmp_path / below, ONE, pool=fake_pool())
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_package_names_the_samples_games() -> None:
    listed = [
        record["gamefile"]
        for part in ("train", "val", "test")
        for record in json.loads((SAMPLE / f"{part}.json").read_text(encoding="utf-8"))
    ]
    assert listed == [game.gamefile for game in plan_games(COUNTS, SEED)]


def test_the_sample_is_made_once_in_the_cache(texts: None, tmp_path: Path) -> None:
    root = sample_root(tmp_path)
    times = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    assert sample_root(tmp_path) == root and root.parent == tmp_path
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == times
    assert [path.name for path in tmp_path.iterdir()] == [root.name]


def test_a_cache_that_cannot_be_written_is_named(texts: None, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="set XDG_CACHE_HOME"):
        sample_root(tmp_path / "file")
    assert cache_folder({"XDG_CACHE_HOME": "/c"}) == Path("/c/reflact")
    assert cache_folder({}) == Path.home() / ".cache" / "reflact"


@needs_engine
def test_the_command_makes_games_of_all_types_and_wins_each(tmp_path: Path) -> None:
    arguments = ["make-games", str(tmp_path / "a"), "--train", "1", "--seen", "0", "--unseen", "0", "--seed", "5"]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0 and "6 games written, each won in the engine" in done.output
    assert {task_type_of(path) for path in (tmp_path / "a").rglob("game.tw-pddl")} == set(TASK_TYPES)
