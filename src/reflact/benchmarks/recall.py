"""What programs answered in a rehearsal, kept for the other runs of the same sweep.

A simulated student does the same few things in every run: the same commands in the same made games, the same scripts
on the same made workbooks. What the engine or the script answers is a function of these alone, so that each is really
done once a sweep and read from then on. Real students, real items and single runs leave nothing behind.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from reflact.config.schema import Config
from reflact.core.hashing import digest
from reflact.core.types import Json
from reflact.rundir.atomic import write_json
from reflact.rundir.code_version import code_version

FOLDER = ".rehearsed"
"""Below a sweep's root; hidden, so that nobody looks for runs in it."""


class Recall:
    """Values by key, in memory and in a folder that several processes share.

    Args:
        folder: The folder.
        settings: What every value depends on beside its key.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Json]) -> None:
        self._folder = folder
        self._settings = dict(settings)
        self._values: dict[str, Json] = {}

    @classmethod
    def of_run(cls, config: Config, settings: Mapping[str, Json]) -> Recall | None:
        """Return what a rehearsal's runs share; None for a run that is no part of one.

        Args:
            config: The run's configuration.
            settings: Limits and versions of programs; the code's own version is added.
        """
        env, root = config.env, config.sweep.root
        if not (root and env.sample and config.model.student_backend == "rehearsal"):
            return None
        versions = {"code": code_version(), "python": platform.python_version()}
        return cls(Path(root) / FOLDER / config.benchmark.name, {**settings, **versions})

    def get(self, key: Json, *, again: bool = False) -> Json:
        """Return a value, None if there is none.

        Args:
            key: What it belongs to.
            again: Look into the folder although a value is in memory: another process may have replaced it.
        """
        name = self._name(key)
        if again or name not in self._values:
            # A file that is not there or was damaged is a value that has to be made again.
            with suppress(OSError, ValueError):
                self._values[name] = json.loads(self._path(name).read_bytes())
        return self._values.get(name)

    def put(self, key: Json, value: Json, *, lasting: bool = True) -> None:
        """Keep a value; one that is not lasting is for this process alone."""
        name = self._name(key)
        self._values[name] = value
        if lasting:
            # It is only kept to save time: what really stops a run (a full disk) will do so at the run's own files.
            with suppress(OSError):
                write_json(self._path(name), value, indent=None)

    def _name(self, key: Json) -> str:
        return digest([self._settings, key])

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.json"
