"""Running a child within its limits: start, read, look, end.

The child is started from the event loop's own thread: bubblewrap's `--die-with-parent` means the thread, not the
process, so that a child started from a worker thread would end with that thread.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reflact.confine.job import ConfinedResult, ConfinementError, Ending, Job, Limits
from reflact.confine.looking import descendants, private_memory, usage

_CHUNK = 64 * 1024
_LOOK_S = 0.05
_LAST_WORDS_S = 5.0

Kill = Callable[[int, bool], None]
"""Ends everything that belongs to the child with this process id; the second argument says whether the child itself
has not been seen to end. Is called more than once."""


@dataclass(slots=True)
class Child:
    """A started child and what is known of it.

    Attributes:
        process: The child.
        limits: What it may take.
        folders: Where it may write.
        kill: Ends it.
        own: Processes among its descendants that are ours, not the job's.
        on_output: Is given its standard output as it comes.
    """

    process: asyncio.subprocess.Process
    limits: Limits
    folders: Sequence[Path]
    kill: Kill
    own: int
    ended_by: Ending | None = None
    peak_bytes: int = 0
    on_output: Callable[[bytes], None] | None = None
    _kept: dict[str, bytearray] = field(default_factory=dict)

    def end(self, why: Ending) -> None:
        """End the child; the first reason counts."""
        if self.ended_by is None and self.process.returncode is None:
            self.ended_by = why
        self._kill()

    async def follow(self, stdin: bytes) -> None:
        """Come back when the child has ended, by itself or because of a limit."""
        readers = [
            asyncio.create_task(self._read("stdout", self.process.stdout)),
            asyncio.create_task(self._read("stderr", self.process.stderr)),
            asyncio.create_task(self._write(stdin)),
        ]
        try:
            try:
                async with asyncio.timeout(self.limits.wall_s):
                    await self._ended(look=True)
            except TimeoutError:
                self.end(Ending.TIME)
            finally:
                await self.ended()
            await asyncio.wait(readers, timeout=_LAST_WORDS_S)
        finally:
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)

    async def ended(self) -> None:
        """End the child and what outlives it; come back when it has ended."""
        self._kill()
        await self._ended(look=False)

    def kept(self, name: str) -> bytes:
        """Return the last bytes of a stream."""
        return bytes(self._kept.get(name, b""))

    def _kill(self) -> None:
        self.kill(self.process.pid, self.process.returncode is None)

    async def _ended(self, *, look: bool) -> None:
        """Wait until the child has ended; what it started need not have."""
        waiting = asyncio.create_task(self.process.wait())
        try:
            # Some versions of asyncio hold `wait` back until the pipes are closed, which a grandchild may never do.
            while self.process.returncode is None and not waiting.done():
                await asyncio.wait([waiting], timeout=_LOOK_S)
                if look and self.process.returncode is None:
                    self._look()
        finally:
            waiting.cancel()

    def _look(self) -> None:
        limits = self.limits
        most = limits.processes + self.own
        pids = descendants(self.process.pid, most)
        if len(pids) > most:
            self.end(Ending.PROCESSES)
            return
        memory = private_memory(pids)
        self.peak_bytes = max(self.peak_bytes, memory)
        if limits.memory_bytes is not None and memory > limits.memory_bytes:
            self.end(Ending.MEMORY)
            return
        size, entries = usage(self.folders, limits.folder_bytes, limits.entries)
        if entries > limits.entries or (limits.folder_bytes is not None and size > limits.folder_bytes):
            self.end(Ending.DISK)

    async def _read(self, name: str, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        kept, total = self._kept.setdefault(name, bytearray()), 0
        while chunk := await stream.read(_CHUNK):
            if name == "stdout" and self.on_output is not None:
                self.on_output(chunk)
            total += len(chunk)
            kept += chunk
            del kept[: -self.limits.kept_bytes]
            if total > self.limits.output_bytes:
                self.end(Ending.OUTPUT)

    async def _write(self, data: bytes) -> None:
        stream = self.process.stdin
        if stream is None:
            return
        # A program need not read what it is given.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            stream.write(data)
            await stream.drain()
        stream.close()


async def supervise(
    argv: Sequence[str],
    job: Job,
    *,
    env: Mapping[str, str],
    cwd: str,
    kill: Kill,
    clock: Callable[[], float],
    pass_fds: Sequence[int] = (),
    own: int = 0,
) -> ConfinedResult:
    """Run a command within a job's limits; see `Confinement.run`.

    Args:
        argv: The whole command.
        job: Limits, writable mounts and standard input are taken from it.
        env: Environment of the command.
        cwd: Where it starts.
        kill: Ends what the command started.
        clock: Monotonic seconds.
        pass_fds: Descriptors that the command inherits.
        own: Processes of the command that are not the job's.
    """
    started = clock()
    starting = asyncio.create_task(
        asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE if job.stdin else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )
    )
    writable = [mount.source for mount in job.mounts if mount.writable]

    def child_of(process: asyncio.subprocess.Process) -> Child:
        return Child(process, job.limits, writable, kill, own, on_output=job.on_output)

    try:
        process = await asyncio.shield(starting)
    except OSError as error:
        raise ConfinementError(f"{argv[0]} cannot be started: {error}") from error
    except asyncio.CancelledError:
        # What has been started by now may have started others: it is ended like any child.
        with contextlib.suppress(OSError):
            await child_of(await starting).ended()
        raise
    child = child_of(process)
    await child.follow(job.stdin)
    assert process.returncode is not None
    code = None if child.ended_by is not None else _shell_code(process.returncode)
    wall_s = clock() - started
    ending = child.ended_by or Ending.EXITED
    return ConfinedResult(ending, code, child.kept("stdout"), child.kept("stderr"), wall_s, child.peak_bytes)


def _shell_code(code: int) -> int:
    return 128 - code if code < 0 else code
