"""Where the games are."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from reflact.config.study import EnvConfig
from reflact.core.errors import DataError

VARIABLE = "ALFWORLD_DATA"
DATASET = "json_2.1.1"
TRAIN, SEEN, UNSEEN = "train", "valid_seen", "valid_unseen"
OFFICIAL = (TRAIN, SEEN, UNSEEN)
WAYS = (
    "Download them with `alfworld-download`, which comes with alfworld, and set ALFWORLD_DATA (or env.data_root) to "
    "the folder that holds json_2.1.1; or make small games with `reflact data make-games FOLDER`; or try the games "
    "that ship with reflact: env.sample=true"
)


def data_root(env: EnvConfig, environ: Mapping[str, str] | None = None) -> Path | None:
    """Return the folder of the games, absolute: `env.data_root`, else `$ALFWORLD_DATA`; None if neither is set."""
    variables = os.environ if environ is None else environ
    named = env.data_root if env.data_root else variables.get(VARIABLE, "")
    return Path(named).expanduser().absolute() if named else None


def dataset_folder(root: Path) -> Path:
    """Return the folder that holds the official splits: `<root>/json_2.1.1`, or the folder itself.

    Raises:
        DataError: It is missing or incomplete; the message lists what is missing.
    """
    folder = root / DATASET if (root / DATASET).is_dir() or not (root / TRAIN).is_dir() else root
    missing = [name for name in OFFICIAL if not (folder / name).is_dir()]
    if missing:
        raise DataError(f"{folder} does not hold ALFWorld's games: missing {', '.join(missing)}. {WAYS}")
    return folder


def resolve(gamefile: str, root: Path | None) -> Path:
    """Return the absolute path of a game file.

    Raises:
        DataError: It is relative, and no folder is set.
    """
    path = Path(gamefile).expanduser()
    if path.is_absolute():
        return path
    if root is None:
        raise DataError(
            f"the game file {gamefile} is relative, and neither env.data_root nor {VARIABLE} is set to say to which "
            f"folder. {WAYS}"
        )
    return root / path
