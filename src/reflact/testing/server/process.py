"""A scripted server in a process of its own, so that it does not share an interpreter with what it serves."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_END_S = 10.0


class ServerProcess:
    """Runs `python -m reflact.testing.server` while its context is open.

    with ServerProcess({"default": "42"}, latency_s=0.1) as server:
        client = OpenAI(base_url=server.base_url, api_key="none")
    """

    def __init__(
        self, script: Mapping[str, Any] | None = None, *, latency_s: float = 0.0, require_auth: str = ""
    ) -> None:
        """Prepare a server; see `docs/testing.md` for what a script may hold."""
        self._script = script or {}
        self._options = ["--latency", str(latency_s), *(["--require-auth", require_auth] if require_auth else [])]
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    @property
    def base_url(self) -> str:
        """The base URL of OpenAI-compatible clients."""
        return f"{self.url}/v1"

    @property
    def azure_endpoint(self) -> str:
        """The endpoint of Azure clients."""
        return self.url

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="reflact-server-")
        folder = Path(self._folder.name)
        (folder / "script.json").write_text(json.dumps(self._script), "utf-8")
        files = ["--script", str(folder / "script.json"), "--log", str(folder / "log.jsonl")]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "reflact.testing.server", *files, *self._options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip()
        if not self.url:
            self.__exit__(None, None, None)
            raise OSError("the scripted server did not start; its message is on standard error")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_END_S)
            if self._process.stdout is not None:
                self._process.stdout.close()
        if self._folder is not None:
            self._folder.cleanup()

    def log(self) -> list[dict[str, Any]]:
        """Return the requests that have ended, one object each."""
        assert self._folder is not None, "the log is there only while the context is open"
        path = Path(self._folder.name) / "log.jsonl"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
