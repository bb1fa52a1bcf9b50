"""ALFWorld's own folder of games: `json_2.1.1/{train,valid_seen,valid_unseen}/<task>/<trial>/game.tw-pddl`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from reflact.benchmarks.alfworld.games import FILE_NAME, GameFile, read_game, task_type_of
from reflact.benchmarks.alfworld.places import OFFICIAL, WAYS, dataset_folder
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError
from reflact.core.types import Item

OFFICIAL_SPLIT = "official_split"
# Tasks whose objects are containers that are carried, or sliced: ALFWorld leaves them out of the text games.
_LEFT_OUT = ("movable", "Sliced")


def read_dataset(root: Path) -> list[Record]:
    """Read all playable games, split by split, in the order of their paths.

    Raises:
        DataError: The folder is incomplete, or a game file is malformed.
    """
    folder = dataset_folder(root)
    records = [record for name in OFFICIAL for record in _split(folder, name, root)]
    empty = [name for name in OFFICIAL if not any(record.data[OFFICIAL_SPLIT] == name for record in records)]
    if empty:
        raise DataError(f"{folder} holds no playable games in {', '.join(empty)}. {WAYS}")
    return records


def _split(folder: Path, name: str, root: Path) -> Iterator[Record]:
    for path in sorted((folder / name).glob(f"*/*/{FILE_NAME}")):
        inside = path.relative_to(folder)
        if any(word in str(inside) for word in _LEFT_OUT):
            continue
        task_type = task_type_of(path)
        game = read_game(path)
        if task_type is None or not game.solvable:
            continue
        data = {
            "id": inside.parent.as_posix(),
            "gamefile": path.relative_to(root).as_posix(),
            "task_type": task_type,
            OFFICIAL_SPLIT: name,
        }
        yield Record(item_of(data["id"], task_type, game), data, str(path))


def item_of(identifier: str, task_type: str, game: GameFile) -> Item:
    """Return the item of a game; its data say which game it is by content, so that moved games stay the same."""
    question = game.task if game.task else f"{task_type} ({game.path.parent.parent.name})"
    return Item(id=identifier, question=question, task_type=task_type, data={"game_sha256": game.sha256})
