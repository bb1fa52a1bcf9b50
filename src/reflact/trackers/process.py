"""The line to a tracker's process: bounded, never waited for, and cut at a deadline."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from reflact.report.text import clean

ROOM = 4096
"""Records that wait for a tracker; more are lost and counted."""
_TAIL = 4096
_KEPT = frozenset({
    "PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR", "PYTHONPATH", "VIRTUAL_ENV", "NETRC",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
})  # fmt: skip
_OWN = {"mlflow": ("MLFLOW_", "AWS_", "AZURE_STORAGE_", "GOOGLE_", "DATABRICKS_"), "wandb": ("WANDB_",)}


def environment(name: str, source: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return what a tracker's process may see: what programs need, and the variables that are meant for it.

    Keys of models are none of these. Caches and settings of the libraries go into the run's own folder.
    """
    prefixes = _OWN.get(name, (f"{name.upper().replace('-', '_')}_",))
    kept = {key: value for key, value in source.items() if key in _KEPT or key.startswith(("LC_", *prefixes))}
    places = {key: str(folder / "cache") for key in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    # Nobody asked these libraries to report on their own use; a variable of the user's decides otherwise.
    quiet = {"DO_NOT_TRACK": "1", "MLFLOW_DISABLE_TELEMETRY": "true", "WANDB_ERROR_REPORTING": "false"}
    return {**quiet, **places, **kept, "PYTHONUTF8": "1"}


class Link:
    """One tracker's process, and the thread that feeds it."""

    def __init__(self, name: str, folder: Path, close_timeout_s: float, say: Callable[[str], None]) -> None:
        """Start the process.

        Args:
            name: The tracker.
            folder: The folder of this run and tracker; made if it is missing.
            close_timeout_s: Seconds that the process has to finish.
            say: Is told once if the tracker fails.

        Raises:
            OSError: The process cannot be started.
        """
        self.name = name
        self.lost = 0
        self._log = folder / "log.txt"
        self._timeout_s = close_timeout_s
        self._say = say
        self._said = threading.Lock()
        self._records: queue.Queue[dict[str, Any] | None] = queue.Queue(ROOM)
        self._closing = threading.Event()
        folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "reflact.trackers.child", name, str(close_timeout_s)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder,
                env=environment(name, os.environ, folder), start_new_session=True,
            )  # fmt: skip
        self._thread = threading.Thread(target=self._pump, name=f"reflact-tracker-{name}", daemon=True)
        self._thread.start()

    def put(self, record: dict[str, Any]) -> None:
        """Pass a record on; one that has no room any more is lost."""
        try:
            self._records.put_nowait(record)
        except queue.Full:
            self.lost += 1

    def put_last(self) -> None:
        """Say that there will be no more records."""
        self._closing.set()
        with suppress(queue.Full):
            self._records.put_nowait(None)

    def close(self, deadline: float) -> None:
        """Let the tracker finish until `deadline` (of `time.monotonic`), then end it. Never raises."""
        self.put_last()
        left = deadline - time.monotonic()
        self._thread.join(max(0.0, left))
        try:
            code: int | None = self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            code = None
        # Also what a tracker's library left behind.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._thread.join()
        if code is None:
            self._fail(f"did not finish within {self._timeout_s:g} s and was ended")
        elif code != 0:
            self._fail(self._last_words())
        elif self.lost:
            self._fail(f"was too slow: {self.lost} records are missing there")

    def _pump(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as pipe:
            while True:
                record = self._next()
                if record is None:
                    return
                if not _write(pipe, record):
                    break
        # It ended before the run did, which is the time to say so.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        if self._process.poll() not in (None, 0):
            self._fail(self._last_words())

    def _next(self) -> dict[str, Any] | None:
        while True:
            try:
                return self._records.get(timeout=0.5)
            except queue.Empty:
                if self._closing.is_set():
                    return None

    def _fail(self, why: str) -> None:
        if self._said.acquire(blocking=False):
            self._say(f"the tracker {self.name} failed: {why}. The run is not affected; {self._log} may say more")

    def _last_words(self) -> str:
        try:
            with self._log.open("rb") as file:
                file.seek(max(0, self._log.stat().st_size - _TAIL))
                lines = file.read().decode("utf-8", "replace").splitlines()
        except OSError:
            lines = []
        return clean(next((line for line in reversed(lines) if line.strip()), "it ended without a word"), 300)


def _write(pipe: IO[bytes], record: dict[str, Any]) -> bool:
    try:
        pipe.write(json.dumps(record, default=str).encode("utf-8") + b"\n")
        pipe.flush()
    except OSError:
        return False
    return True
