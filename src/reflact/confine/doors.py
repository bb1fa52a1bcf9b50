"""Listening inside a job's own network from outside of it.

The program must not start before somebody listens, so bubblewrap waits on a descriptor meanwhile. The socket is made
by a process of its own, since the kernel lets no process with threads enter a user namespace; after that it is an
ordinary socket of this process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from reflact.confine.job import ConfinementError, Door

_LIMIT_S = 15.0
_PAUSE_S = 0.002
_CHUNK = 64 * 1024
_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
# Bubblewrap nests two user namespaces; the one that owns the network is asked for, not the process's own.
_HELPER = f"""
import ctypes, fcntl, os, socket, sys
pid, port, link = int(sys.argv[1]), int(sys.argv[2]), socket.socket(fileno=int(sys.argv[3]))
libc = ctypes.CDLL(None, use_errno=True)
def enter(handle, kind):
    if libc.setns(handle, kind):
        sys.exit("setns: " + os.strerror(ctypes.get_errno()))
network = os.open("/proc/%d/ns/net" % pid, os.O_RDONLY)
owner = fcntl.ioctl(network, {_NS_GET_USERNS})
if os.stat("/proc/self/ns/user").st_ino != os.fstat(owner).st_ino:
    enter(owner, {_CLONE_NEWUSER})
enter(network, {_CLONE_NEWNET})
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen(64)
socket.send_fds(link, [b"x"], [listener.fileno()])
"""


class Doorman:
    """Opens a job's door while bubblewrap waits; without a door it does nothing.

    Args:
        door: The door.
        status: Where bubblewrap's report can be read.
        block: What bubblewrap waits for.
        release: Where a byte lets it go on.
    """

    def __init__(self, door: Door | None, status: int, block: int | None, release: int | None) -> None:
        self.block = block
        self.told = b""
        self._door = door
        self._status = status
        self._release = release
        self._opening: asyncio.Task[None] | None = None
        self._body: asyncio.Task[object] | None = None
        self._let_in = False

    async def __aenter__(self) -> Self:
        if self._door is not None:
            self._body = asyncio.current_task()
            self._opening = asyncio.create_task(self._open(self._door))
            self._opening.add_done_callback(self._opened)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        opening = self._opening
        if opening is None:
            return
        if not opening.done():
            opening.cancel()  # the job has ended before its door was open, and its own end says more
        await asyncio.wait([opening])
        failed = None if opening.cancelled() else opening.exception()
        if failed is not None:
            if kind is asyncio.CancelledError and self._body is not None:
                self._body.uncancel()
            raise failed

    def _opened(self, opening: asyncio.Task[None]) -> None:
        # A program that waits for a door that will never open is ended by ending who waits for the program.
        if not opening.cancelled() and opening.exception() is not None and self._body is not None:
            self._body.cancel()

    async def _open(self, door: Door) -> None:
        assert self._release is not None
        try:
            async with asyncio.timeout(_LIMIT_S):
                await door.opened(await _listen(await self._child(), door.port))
        except TimeoutError:
            raise ConfinementError(f"the door into the job's network did not open within {_LIMIT_S:g} s") from None
        os.write(self._release, b"g")
        self._let_in = True

    def end(self) -> None:
        """End a program that still waits; it does not yet end with bubblewrap itself."""
        if self._door is None or self._let_in:
            return
        child = self._reported()
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)

    async def _child(self) -> int:
        """Return the process id of bubblewrap's child, which lives in the job's network."""
        while (child := self._reported()) is None:  # noqa: ASYNC110 - nothing in this process says when
            await asyncio.sleep(_PAUSE_S)
        return child

    def _reported(self) -> int | None:
        os.set_blocking(self._status, False)
        with contextlib.suppress(BlockingIOError):
            self.told += os.read(self._status, _CHUNK)
        for line in self.told.splitlines():
            with contextlib.suppress(ValueError):
                return int(json.loads(line)["child-pid"])
        return None


@contextmanager
def doorman(door: Door | None, status: int) -> Iterator[Doorman]:
    """Yield what opens a door; see `Doorman`."""
    if door is None:
        yield Doorman(None, status, None, None)
        return
    block, release = os.pipe()
    try:
        yield Doorman(door, status, block, release)
    finally:
        os.close(block)
        os.close(release)


async def _listen(pid: int, port: int) -> socket.socket:
    """Return a socket that listens on a port of the network that a process lives in.

    Raises:
        ConfinementError: It could not be had.
    """
    here, there = socket.socketpair()
    with here, there:
        helper = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-c", _HELPER, str(pid), str(port), str(there.fileno())),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            pass_fds=(there.fileno(),),
            env={},
        )
        try:
            _, said = await helper.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                helper.kill()
            raise
        if helper.returncode != 0:
            reason = said.decode(errors="replace").strip() or f"exit code {helper.returncode}"
            raise ConfinementError(f"no door into the job's network: {reason}")
        _, found, _, _ = socket.recv_fds(here, 1, 1)
    listener = socket.socket(fileno=found[0])
    listener.setblocking(False)
    return listener
