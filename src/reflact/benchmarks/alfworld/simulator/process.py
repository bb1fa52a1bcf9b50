"""One worker process, seen from the parent."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from reflact.benchmarks.alfworld.simulator.limits import Limits, SimulatorFailure, WorkerGone
from reflact.benchmarks.alfworld.simulator.messages import Reply, Request, read_reply, write_request

_CHUNK = 65536
_REAP_S = 5.0
_LAST_WORDS_S = 0.5
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "PYTHONPATH")


class Worker:
    """A process that answers one request at a time; it is used from one event loop at a time.

    Args:
        program: The command line of the program, without its two arguments.
        limits: Its bounds.
    """

    def __init__(self, program: Sequence[str], limits: Limits) -> None:
        self.limits = limits
        self.games = 0
        self.closed_games = 0
        self.resident = 0
        self._folder = Path(tempfile.mkdtemp(prefix="reflact-alfworld-"))
        self._process = self._start(program)
        self._asked = 0
        self._answered = self._retired = self._ended = False
        self._unread = b""
        self._turn = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def _start(self, program: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._folder / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [*program, str(os.getpid()), str(self.limits.address_space)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._folder,
                env=_environment(self._folder),
                start_new_session=True,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._from = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        return process

    @property
    def pid(self) -> int:
        """Number of the process, which is also that of its group."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it may be asked."""
        return not self._retired and self._process.poll() is None

    @property
    def ended(self) -> bool:
        """Whether nothing of it is left."""
        return self._ended

    async def ask(self, request: Request, seconds: float) -> Reply:
        """Send a request and wait for its reply.

        Args:
            request: The request.
            seconds: Time for the answer, from when it is this request's turn; a process that only now starts gets
                its time to start on top.

        Raises:
            WorkerGone: The process had ended before.
            SimulatorFailure: It ended meanwhile, or did not answer in time and was ended.
        """
        self._bind()
        async with self._turn:
            try:
                return await self._exchange(request, seconds)
            finally:
                if self._retired:
                    self.end()

    def tell(self, request: Request) -> None:
        """Send a request whose answer does not matter; never waits and never fails."""
        if self.alive and self._send(request) is None:
            self.retire()

    def retire(self) -> None:
        """Take no more requests, and end as soon as nobody waits for an answer."""
        self._retired = True
        if not self._turn.locked():
            self.end()

    def end(self) -> None:
        """End the process and everything that it started, and remove its files."""
        if self._ended:
            return
        self._ended = self._retired = True
        # Before the process is waited for: until then its number, and so its group's, belongs to nobody else.
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_REAP_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _bind(self) -> None:
        # A lock belongs to the loop in which somebody first waited for it, a benchmark may see several loops.
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._turn = loop, asyncio.Lock()

    async def _exchange(self, request: Request, seconds: float) -> Reply:
        if not self.alive:
            raise WorkerGone(f"worker {self.pid} has ended")
        number = self._send(request)
        if number is None:
            raise self._died("takes no requests")
        until = time.monotonic() + seconds + (0.0 if self._answered else self.limits.start_s)
        while (reply := await self._receive(until)).id != number:
            pass  # an answer that nobody waits for any more
        return reply

    def _send(self, request: Request) -> int | None:
        self._asked += 1
        line = write_request(self._asked, request)
        with suppress(BlockingIOError, BrokenPipeError):
            # Requests are far smaller than a pipe: a process that does not take a whole one has stopped.
            return self._asked if os.write(self._to, line) == len(line) else None
        return None

    async def _receive(self, until: float) -> Reply:
        while b"\n" not in self._unread:
            if not await _readable(self._from, until - time.monotonic()):
                self.end()
                raise SimulatorFailure("simulator_hung", f"worker {self.pid} did not answer in time and was ended")
            chunk = os.read(self._from, _CHUNK)
            if not chunk:
                raise self._died("ended")
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        try:
            reply = read_reply(line)
        except (ValueError, KeyError, TypeError):
            raise self._died(f"said {line[:80]!r}") from None
        self._answered, self.resident = True, reply.rss
        return reply

    def _died(self, how: str) -> SimulatorFailure:
        said = (self._folder / "stderr").read_bytes().decode("utf-8", "replace").strip()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_S)  # its pipe closes a moment before it has ended
        code = self._process.poll()
        self.end()
        ending = "it was ended" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        last = f": {said.splitlines()[-1][:300]}" if said else ""
        return SimulatorFailure("simulator_died", f"worker {self.pid} {how} ({ending}){last}")


async def _readable(file: int, seconds: float) -> bool:
    """Wait until a pipe can be read; False if the time is up."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(file, lambda: None if ready.done() else ready.set_result(None))
    try:
        await asyncio.wait((ready,), timeout=max(0.0, seconds))
        return ready.done()
    finally:
        loop.remove_reader(file)
        ready.cancel()


def _environment(folder: Path, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what the program gets of our environment: no keys, and a place of its own for temporary files.

    The order in which the engine lists things may follow hashes of texts, so their seed is fixed. Its import makes
    the folder that ALFWORLD_DATA names, so that is one that exists.
    """
    source = os.environ if given is None else given
    kept = {name: source[name] for name in _PASSED_ON if name in source}
    own = {"TMPDIR": str(folder), "HOME": str(folder), "ALFWORLD_DATA": str(folder), "PYTHONHASHSEED": "0"}
    return {**kept, **own, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
