"""Evaluations that several runs of a sweep share, in the sweep's root: who makes one, and the rows once it is made.

<root>/baselines/<key>/makers/NNNN.json   who is making it; the highest number counts
<root>/baselines/<key>/rows/              the finished evaluation: results.jsonl, conversations.jsonl, source.json
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reflact.core.usage import Usage
from reflact.rundir.atomic import sync_folder, write_json
from reflact.rundir.claims import inspect
from reflact.rundir.fsclock import file_system_now
from reflact.rundir.jsonl import JsonlWriter, Syncer, read_jsonl
from reflact.rundir.layout import EvaluationFolder, RunLayout

FOLDER = "baselines"
STALLED_S = 1800.0
"""A maker that has written no event for so long is taken for stuck: longer than any wait for a server."""


@dataclass(frozen=True, slots=True)
class Maker:
    """A run that makes an evaluation for all.

    Attributes:
        run_id: Its id.
        root: Its directory.
        claim: Number of its claim: a resumed run is another maker.
    """

    run_id: str
    root: str
    claim: int


class SharedRows:
    """One evaluation.

    Args:
        sweep: The sweep's root.
        key: Everything that decides what its rows would be.
        me: This run.
    """

    def __init__(self, sweep: Path, key: str, me: Maker) -> None:
        self._folder = sweep / FOLDER / key[:32]
        self._me = me

    @property
    def made(self) -> bool:
        """Whether the rows are there."""
        return (self._folder / "rows" / "source.json").exists()

    def claim(self) -> bool:
        """Become the maker, if nobody else is one; returns whether this run is it."""
        number, maker = self._maker()
        if maker == self._me:
            return True
        if number and (maker is None or _works(maker)):
            return False
        return self._enter(number + 1)

    def maker(self) -> str:
        """Return the id of the run that makes the rows; `""` if there is none."""
        maker = self._maker()[1]
        return "" if maker is None else maker.run_id

    def publish(self, folder: EvaluationFolder) -> None:
        """Offer the rows of a finished evaluation to all; does nothing if they are there."""
        if self.made:
            return
        draft = self._folder / f".{secrets.token_hex(8)}"
        draft.mkdir(parents=True)
        try:
            for path in (folder.results, folder.conversations):
                shutil.copyfile(path, draft / path.name)
            write_json(draft / "source.json", {"run_id": self._me.run_id, "path": self._me.root, "folder": folder.name})
            draft.rename(self._folder / "rows")
            sync_folder(self._folder)
        except OSError:
            shutil.rmtree(draft, ignore_errors=True)
            if not self.made:  # else another run was as fast
                raise

    def copy(self, folder: EvaluationFolder, keys: set[str], syncer: Syncer) -> str:
        """Add the rows under some evaluation keys to a run's own folder, and say there where they are from.

        Returns:
            The id of the run that made them.
        """
        for path in (folder.conversations, folder.results):
            writer = JsonlWriter(path, syncer)
            try:
                for _, line in read_jsonl(self._folder / "rows" / path.name):
                    if line["key"] in keys:
                        writer.append(line)
            finally:
                writer.close()
        source = json.loads((self._folder / "rows" / "source.json").read_text(encoding="utf-8"))
        write_json(folder.source, source)
        return str(source["run_id"])

    def _maker(self) -> tuple[int, Maker | None]:
        """Return the highest maker's number and who it is; None while its file is being written."""
        numbers = [int(path.stem) for path in (self._folder / "makers").glob("[0-9]*.json")]
        if not numbers:
            return 0, None
        number = max(numbers)
        try:
            data = json.loads((self._folder / "makers" / f"{number:04d}.json").read_text(encoding="utf-8"))
        except ValueError:
            return number, None
        return number, Maker(**data)

    def _enter(self, number: int) -> bool:
        """Make this run the maker with that number; of several that try, one wins."""
        folder = self._folder / "makers"
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".{secrets.token_hex(8)}"
        me = {"run_id": self._me.run_id, "root": self._me.root, "claim": self._me.claim}
        draft.write_text(json.dumps(me), encoding="utf-8")
        try:
            os.link(draft, folder / f"{number:04d}.json")
        except FileExistsError:
            return False
        finally:
            draft.unlink()
        return True


def _works(maker: Maker) -> bool:
    """Whether a maker is alive and not stuck."""
    root = Path(maker.root)
    if not root.is_dir():
        return False
    claim = inspect(root)
    if claim.number != maker.claim or claim.alive is False:
        return False
    now = file_system_now(root)
    try:
        written = RunLayout(root).events.stat().st_mtime
    except FileNotFoundError:
        return True
    return now is None or now - written < STALLED_S


def source_of(folder: EvaluationFolder) -> dict[str, Any] | None:
    """Return where the rows of an evaluation folder were copied from; None if the run made them itself."""
    try:
        source: dict[str, Any] = json.loads(folder.source.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    return source


def usage_of(folders: Sequence[EvaluationFolder]) -> dict[str, Any] | None:
    """Return what copied rows have cost their maker, in the form of `summary.json`; None if nothing was copied."""
    phases: dict[str, Any] = {}
    for folder in folders:
        if source_of(folder) is None:
            continue
        # A copy that was interrupted is made again, so that a row may stand there twice.
        last = {(row["key"], row["id"], row["repeat"]): row["usage"] for _, row in read_jsonl(folder.results)}
        phases[folder.path.name] = sum(map(Usage.from_json, last.values()), Usage()).to_json()
    return {"student": {"baseline": phases}} if phases else None
