"""A sweep's tables: `tables/` in its root, compiled again while it runs and once more at its end."""

from __future__ import annotations

import fcntl
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from reflact.core.errors import ConfigError, ReflactError
from reflact.report.tables.compile import Tables, compile_tables, open_desk, write_tables

FOLDER = "tables"
_LOCK = ".lock"
_LOOK_S = 0.5
_PAUSE = 9.0
"""After each compilation that many times as long without one: together they take a tenth of a core at most."""


@dataclass(frozen=True, slots=True)
class TableBook:
    """What a sweep's tables are made of.

    Attributes:
        root: The sweep's root.
        known_roots: Other roots whose runs stand in the tables too.
        ignore: Rules that are declared harmless.
        imports: A CSV file with older results.
    """

    root: Path
    known_roots: Sequence[Path] = ()
    ignore: Sequence[str] = ()
    imports: Path | None = None

    def compile(self) -> Tables:
        """Compile the tables from what is there now; another process that is at it is waited for.

        Raises:
            ReflactError, OSError: They could not be made.
        """
        with self._locked(wait=True) as lock:
            assert lock is not None
            return self._compile(lock)

    def compile_if_due(self) -> bool:
        """Compile the tables unless somebody is at it or has just done it; returns whether it was done."""
        with self._locked(wait=False) as lock:
            if lock is None or not _due(lock):
                return False
            self._compile(lock)
            return True

    def _compile(self, lock: int) -> Tables:
        begun = time.monotonic()
        desk = open_desk([self.root, *self.known_roots], imports=self.imports, ignore=self.ignore)
        tables = compile_tables(desk)
        write_tables(tables, self.root / FOLDER)
        os.ftruncate(lock, 0)
        os.pwrite(lock, json.dumps([time.time(), time.monotonic() - begun]).encode("ascii"), 0)
        return tables

    @contextmanager
    def _locked(self, *, wait: bool) -> Iterator[int | None]:
        """Let one process at a time read the runs and write the tables, so that the last to write has read last."""
        folder = self.root / FOLDER
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise ConfigError(f"{folder} is a file; it is where the tables go, so move it away") from error
        fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield None
                return
            yield fd
        finally:
            os.close(fd)


def _due(lock: int) -> bool:
    """Whether the last compilation is long enough ago, measured by how long it took."""
    try:
        ended, took = json.loads(os.pread(lock, 200, 0))
    except ValueError:
        return True
    return not 0 <= time.time() - float(ended) < _PAUSE * float(took)


class TableKeeper:
    """Recompiles the tables in a thread of its own while a sweep runs, when more jobs have ended.

    What goes wrong there is said once and tried again; the compilation at the end of the sweep decides.

    Args:
        book: The tables.
        ended: Returns how many jobs have ended.
    """

    def __init__(self, book: TableBook, ended: Callable[[], int]) -> None:
        self._book = book
        self._ended = ended
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="reflact-tables", daemon=True)

    def __enter__(self) -> TableKeeper:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _keep(self) -> None:
        seen, told = 0, False
        while not self._over.wait(_LOOK_S):
            ended = self._ended()
            try:
                if ended != seen and self._book.compile_if_due():
                    seen = ended
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not end the thread
                seen = ended
                if not told:
                    told = True
                    say_failure(error)


def compiled(book: TableBook) -> bool:
    """Compile the tables; returns whether that went well. What was made or went wrong is said."""
    try:
        tables = book.compile()
    except Exception as error:  # noqa: BLE001 - it must not hide how the sweep itself ended
        say_failure(error)
        return False
    left_out = {str(line["run_id"]) for grid in tables.grids for line in grid.raw_invalid}
    why = f", with the reasons why runs are left out ({len(left_out)})" if left_out else ""
    sys.stderr.write(f"reflact: the tables are in {book.root / FOLDER / 'tables.md'}{why}\n")
    return True


def say_failure(error: Exception) -> None:
    """Say that the tables could not be compiled; with a traceback where that is a bug."""
    if not isinstance(error, ReflactError | OSError):
        traceback.print_exception(error)
    sys.stderr.write(f"reflact: the tables could not be compiled: {error}\n")
    sys.stderr.flush()
