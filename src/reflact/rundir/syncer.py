"""Calls fsync for the files of a run, seldom enough to cost nothing and often enough to lose little."""

from __future__ import annotations

import threading
from typing import Protocol


class Syncable(Protocol):
    """A file that can be synced."""

    def sync(self) -> None:
        """Call fsync; does nothing on a closed file."""


class Syncer:
    """One thread a run that syncs what was written, at most every `interval_s` seconds.

    A kill of the process loses nothing that was appended, synced or not; a power failure loses the last interval.
    An fsync that fails in the thread is raised by the next `note`, `flush` or `close`: it is never lost.
    """

    def __init__(self, interval_s: float = 0.25) -> None:
        self._interval_s = interval_s
        self._dirty: dict[Syncable, None] = {}
        self._state = threading.Condition()
        self._syncing = threading.Lock()
        self._closed = False
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None

    def note(self, target: Syncable) -> None:
        """Have `target` synced soon.

        Raises:
            OSError: An earlier sync failed.
            ValueError: The syncer was closed.
        """
        with self._state:
            if self._closed:
                raise ValueError("the syncer is closed")
            self._raise_failure()
            if target in self._dirty:
                return
            self._dirty[target] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="reflact-sync", daemon=True)
                self._thread.start()
            self._state.notify_all()

    def flush(self) -> None:
        """Sync everything now (at a phase's end); what was noted before is on disk when this returns."""
        self._sync_dirty()
        with self._state:
            self._raise_failure()

    def close(self) -> None:
        """Sync everything and end the thread; a second call does nothing."""
        with self._state:
            self._closed = True
            self._state.notify_all()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        self.flush()

    def _run(self) -> None:
        while True:
            with self._state:
                self._state.wait_for(lambda: self._dirty or self._closed)
                # What comes within the interval shares one fsync; the end of the run does not wait for it.
                self._state.wait_for(lambda: self._closed, self._interval_s)
                if self._closed:
                    return
            self._sync_dirty()

    def _sync_dirty(self) -> None:
        with self._syncing:  # whoever flushes also waits for the sync that the thread is in
            with self._state:
                targets, self._dirty = list(self._dirty), {}
            for target in targets:
                try:
                    target.sync()
                except OSError as error:
                    with self._state:
                        self._failure = self._failure or error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
