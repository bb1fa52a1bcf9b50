"""ALFWorld items in files: `{id, gamefile, task_type}`, and the official folder as their source."""

from __future__ import annotations

from pathlib import Path

from reflact.benchmarks.alfworld.dataset import item_of, read_dataset
from reflact.benchmarks.alfworld.games import GameFile, read_game
from reflact.benchmarks.alfworld.places import VARIABLE, WAYS, resolve
from reflact.benchmarks.alfworld.tasks import TASK_TYPES
from reflact.benchmarks.fields import Fields
from reflact.benchmarks.records import Record
from reflact.core.errors import DataError
from reflact.core.types import Item

_SHOWN = 5


class ALFWorldFormat:
    """Reads items and remembers where their games are.

    An item's data say which game it is, not where: the same games elsewhere are the same items.

    Args:
        root: Folder to which relative game files belong; None if there is none.
    """

    name = "alfworld"
    package = "reflact.benchmarks.alfworld"

    def __init__(self, root: Path | None) -> None:
        self._root = root
        self.paths: dict[str, Path] = {}
        self.shapes: set[frozenset[str]] = set()
        self._missing: list[Path] = []

    def parse(self, fields: Fields) -> Record:
        """Read an item of a split folder. Missing games are collected for `refuse_missing`, to name all at once."""
        identifier, gamefile = fields.label("id"), fields.text("gamefile")
        task_type = fields.text("task_type")
        if task_type not in TASK_TYPES:
            raise fields.error(f"unknown task type {task_type!r}: it is one of {', '.join(TASK_TYPES)}")
        path = resolve(gamefile, self._root)
        if not path.is_file():
            self._missing.append(path)
            return Record(Item(identifier, task_type, task_type=task_type), dict(fields.record), str(fields))
        game = read_game(path)
        if not game.solvable:
            raise fields.error(f"the game {path} says that it cannot be solved")
        self._remember(identifier, game)
        return Record(item_of(identifier, task_type, game), dict(fields.record), str(fields))

    def read_source(self, path: Path) -> tuple[list[Record], tuple[Path, ...]]:
        """Read the folder that `alfworld-download` fills, or one of `reflact data make-games`.

        No files are named in the manifest: items say by content which games they are.
        """
        root = path.expanduser().absolute()
        if self._root is None:  # the split that is drawn can then be read back
            self._root = root
        records = read_dataset(root)
        self.paths.update({record.item.id: root / str(record.data["gamefile"]) for record in records})
        return records, ()

    def refuse_missing(self) -> None:
        """Raise `DataError` if the games of items that were read are not there."""
        if not self._missing:
            return
        missing, total = len(self._missing), len(self._missing) + len(self.paths)
        shown = "".join(f"\n  {path}" for path in self._missing[:_SHOWN])
        more = f"\n  and {missing - _SHOWN} more" if missing > _SHOWN else ""
        root = f"relative names belong to {self._root}" if self._root else f"{VARIABLE} is not set"
        raise DataError(f"{missing} of {total} game files are missing ({root}):{shown}{more}\n{WAYS}")

    def path_of(self, item: Item) -> Path:
        """Return where an item's game is.

        Raises:
            DataError: The item was not read here.
        """
        if item.id not in self.paths:
            raise DataError(f"the game of item {item.id!r} is not known: load the split first")
        return self.paths[item.id]

    def _remember(self, identifier: str, game: GameFile) -> None:
        self.paths[identifier] = game.path
        self.shapes.add(game.shapes)
