"""Made games as files, laid out as ALFWorld lays out its own."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from reflact.benchmarks.alfworld.games import FILE_NAME
from reflact.benchmarks.alfworld.installed import domain_text, grammar_text
from reflact.benchmarks.alfworld.making.kinds import type_name
from reflact.benchmarks.alfworld.making.problem import problem, sentence
from reflact.benchmarks.alfworld.making.rooms import Room, make_room
from reflact.benchmarks.alfworld.making.walkthrough import walkthrough
from reflact.benchmarks.alfworld.places import DATASET, OFFICIAL
from reflact.benchmarks.alfworld.tasks import TASK_TYPES

_PLACEHOLDER = "UNKNOWN GOAL"


@dataclass(frozen=True, slots=True)
class MadeGame:
    """A game that is yet to be written.

    Attributes:
        folder: Its folder, relative to the root.
        room: The room.
        name: The trial's name.
    """

    folder: PurePosixPath
    room: Room
    name: str

    @property
    def gamefile(self) -> str:
        """The game file, relative to the root."""
        return str(self.folder / FILE_NAME)


def plan_games(counts: Mapping[str, int], seed: int, extra_places: int = 0) -> Iterator[MadeGame]:
    """Yield games for each official split: so many of every task type; the same arguments give the same games.

    Args:
        counts: Games of each task type by official split.
        seed: Seed of all rooms.
        extra_places: See `make_room`.
    """
    for split in OFFICIAL:
        for task_type in TASK_TYPES:
            for number in range(1, counts[split] + 1):
                room = make_room(task_type, f"{seed}:{split}:{number}", extra_places)
                yield _placed(split, room, f"made_{seed}_{number:03d}")


def _placed(split: str, room: Room, name: str) -> MadeGame:
    goal = type_name(room.lamp if room.lamp else room.place)
    task = f"{room.task_type}-{type_name(room.target)}-None-{goal}-900"
    return MadeGame(PurePosixPath(DATASET, split, task, name), room, name)


def contents(games: Sequence[MadeGame]) -> dict[str, str]:
    """Return the files of games by path relative to the root.

    Raises:
        Unavailable: The engine is not installed, which every game file holds two texts of.
    """
    domain, grammar = domain_text(), grammar_text()
    files: dict[str, str] = {}
    for game in games:
        text = problem(game.room, game.name)
        task, commands = sentence(game.room), walkthrough(game.room)
        whole = {
            "pddl_domain": domain,
            "grammar": grammar.replace(_PLACEHOLDER, task),
            "pddl_problem": text,
            "solvable": True,
            "walkthrough": commands,
        }
        files[game.gamefile] = json.dumps(whole)
        files[str(game.folder / "initial_state.pddl")] = text
        files[str(game.folder / "traj_data.json")] = json.dumps(_description(game, task, commands))
    return files


def _description(game: MadeGame, task: str, commands: Sequence[str]) -> dict[str, object]:
    room = game.room
    return {
        "task_id": game.name,
        "task_type": room.task_type,
        "pddl_params": {
            "object_target": type_name(room.target),
            "parent_target": type_name(room.place) if room.place else "",
            "toggle_target": type_name(room.lamp) if room.lamp else "",
            "mrecep_target": "",
            "object_sliced": False,
        },
        "scene": {"floor_plan": "made", "scene_num": 900},
        "turk_annotations": {"anns": [{"task_desc": task, "high_descs": list(commands)}]},
        "plan": {"high_pddl": []},
    }


def write_files(root: Path, files: Mapping[str, str]) -> None:
    """Write a whole folder, or nothing: it is made beside its place and renamed.

    Raises:
        OSError: The place is taken by a folder that is not empty, or cannot be written.
    """
    root.parent.mkdir(parents=True, exist_ok=True)
    draft = root.parent / f".{root.name}.{os.getpid()}.tmp"
    try:
        for name, text in files.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        draft.rename(root)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
