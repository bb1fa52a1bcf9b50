"""The sample: a few small games, made where they are first needed, because every game file holds texts of the engine.

The package ships which items the parts have (`sample/*.json`); rooms follow from a fixed seed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from reflact.benchmarks.alfworld.making.files import contents, plan_games, write_files
from reflact.benchmarks.alfworld.places import SEEN, TRAIN, UNSEEN
from reflact.core.errors import DataError
from reflact.core.hashing import digest

SEED = 20
COUNTS = {TRAIN: 2, SEEN: 2, UNSEEN: 2}


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder for what can be made again: `$XDG_CACHE_HOME/reflact`, else `~/.cache/reflact`."""
    variables = os.environ if environ is None else environ
    base = variables.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "reflact"


def sample_root(cache: Path | None = None) -> Path:
    """Return the folder of the sample's games, made if it is not there.

    Its name follows from the content, so that another version of reflact or of the engine makes its own.

    Raises:
        Unavailable: The engine is not installed.
        DataError: The folder cannot be written.
    """
    files = contents(list(plan_games(COUNTS, SEED)))
    root = (cache_folder() if cache is None else cache) / f"alfworld-sample-{digest(files)[:16]}"
    if root.is_dir():
        return root
    try:
        write_files(root, files)
    except OSError as error:
        if root.is_dir():  # another process was faster
            return root
        raise DataError(
            f"the sample's games cannot be written to {root} ({error.strerror}): "
            "set XDG_CACHE_HOME to a folder that can"
        ) from error
    return root
