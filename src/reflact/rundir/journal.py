"""A stage's result, kept under the hash of its inputs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path, PurePosixPath

from reflact.core.types import Json
from reflact.rundir.atomic import write_bytes
from reflact.rundir.encoding import json_bytes


class Journal:
    """Results of one folder: `<name>.json` holds the result and the key of the inputs that it was made from.

    What is there under the same key is never made again, so a resumed run pays only for what was in flight.
    """

    def __init__(self, folder: Path, check: Callable[[], None]) -> None:
        """Keep results in `folder`; `check` raises if this process may not write there any more."""
        self._folder = folder
        self._check = check

    def sub(self, folder: str) -> Journal:
        """Return the journal of a folder inside this one."""
        return Journal(self._folder / _relative(folder), self._check)

    async def once(self, name: str, key: str, make: Callable[[], Awaitable[dict[str, Json]]]) -> dict[str, Json]:
        """Return the result kept under `name` and `key`; make and keep it if there is none.

        The result of `make` passes through JSON before it is returned, so that what a run sees does not depend on
        whether it was resumed. A result under another key, or a broken file, is made anew and replaced.

        Args:
            name: The file's name without `.json`; may hold folders (`patches/failure_000`).
            key: Digest of everything that the result depends on.
            make: Makes the result, a JSON object without a field `key`.

        Raises:
            ValueError: The result has a field `key`.
            Refused: Another process owns the run now; nothing was written.
        """
        path = self._folder / _relative(name + ".json")
        kept = _read(path)
        if kept is None or kept.get("key") != key:
            made = await make()
            if "key" in made:
                raise ValueError(f"the result of {name} has a field 'key'")
            data = json_bytes({"key": key, **made}, indent=2)
            self._check()
            # In a thread, since an fsync on a shared file system takes longer than a model's tokens do.
            await asyncio.to_thread(write_bytes, path, data)
            kept = json.loads(data)
        return {field: value for field, value in kept.items() if field != "key"}


def _read(path: Path) -> dict[str, Json] | None:
    try:
        value = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _relative(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError(f"not a name inside a folder: {name!r}")
    return str(path)
