"""What `reflact data make-games` does, as a function."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.alfworld.making.files import MadeGame, contents, plan_games, write_files
from reflact.benchmarks.alfworld.making.proving import Proof, prove
from reflact.benchmarks.alfworld.simulator.pool import Pool
from reflact.core.errors import ConfigError, DataError, Refused

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class GamesReport:
    """Games that were made.

    Attributes:
        root: The folder that `env.data_root` can name.
        games: How many.
        steps: Commands of all walkthroughs.
        written: They were written now; False if exactly these were there.
    """

    root: Path
    games: int
    steps: int
    written: bool


def make_games(
    root: Path,
    counts: Mapping[str, int],
    *,
    seed: int = 42,
    extra_places: int = 0,
    workers: int = 2,
    pool: Pool | None = None,
) -> GamesReport:
    """Make games, prove each in the real engine, and write them to a folder of their own.

    Args:
        root: The folder; games that are there already must be exactly these.
        counts: Games of each task type by official split (`train`, `valid_seen`, `valid_unseen`).
        seed: Seed of all rooms.
        extra_places: Places beyond the usual ones in every room.
        workers: Processes that prove games.
        pool: Where they are proved, if not in `workers` processes of the real engine.

    Raises:
        ConfigError: No games are asked for.
        Refused: The folder holds something else, or cannot be made; nothing was changed.
        DataError: A made game cannot be won; nothing was kept.
        Unavailable: The engine is not installed.
    """
    if not any(counts.values()):
        raise ConfigError("no games are asked for: at least one of train, seen and unseen must be above 0")
    games = list(plan_games(counts, seed, extra_places))
    files = contents(games)
    written = not _holds(root, files)
    if written:
        _write(root, files)
    players = Pool(workers) if pool is None else pool
    try:
        proofs = asyncio.run(prove([root / game.gamefile for game in games], players))
        _require_proofs(root, proofs, games)
    except BaseException:
        # Also when interrupted: a game that is there has been won.
        if written:
            shutil.rmtree(root)
        raise
    finally:
        players.close()
    return GamesReport(root, len(games), sum(proof.steps for proof in proofs), written)


def _holds(root: Path, files: Mapping[str, str]) -> bool:
    """Whether a folder holds exactly these files; False if there is none, or an empty one."""
    if not root.exists() or (root.is_dir() and not any(root.iterdir())):
        return False
    there = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    if there == set(files) and all((root / name).read_bytes() == text.encode() for name, text in files.items()):
        return True
    raise Refused(f"{root} exists and does not hold these games; nothing was changed. Choose another folder")


def _write(root: Path, files: Mapping[str, str]) -> None:
    try:
        write_files(root, files)
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{root} cannot be made ({error.filename}: {error.strerror}). Choose another folder") from None


def _require_proofs(root: Path, proofs: list[Proof], games: list[MadeGame]) -> None:
    failed = [proof for proof in proofs if proof.problem is not None]
    if failed:
        shown = "; ".join(f"{proof.path.relative_to(root)}: {proof.problem}" for proof in failed[:_SHOWN])
        raise DataError(f"{len(failed)} of {len(games)} made games cannot be won as planned: {shown}")
