"""Ending marked processes, also those that are just becoming another program."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path
from uuid import uuid4

import pytest

from reflact.confine import Job, Limits, Mount
from reflact.confine.marks import MARK, end_marked, ticks_now
from reflact.confine.plain import Unconfined
from tests.confine.support import processes_with

_LONG = "600"
_PATIENCE_S = 60.0


def test_processes_that_have_just_been_started_are_found() -> None:
    for _ in range(25):
        mark, since = uuid4().hex, ticks_now()
        environment = {MARK: mark, "PATH": "/usr/bin:/bin"}
        # Each becomes another program twice more, and leaves its session on the way.
        commands = [["setsid", "--fork", "sh", "-c", f"exec sleep {_LONG}"], ["sh", "-c", f"exec sleep {_LONG}"]]
        started = [subprocess.Popen(command, env=environment) for command in commands]
        assert end_marked(mark, since) == 0
        for process in started:
            process.wait(_PATIENCE_S)
        assert end_marked(mark, since) == 0


def test_nobody_else_is_ended_or_waited_for() -> None:
    since = ticks_now()
    others = [subprocess.Popen(["sleep", _LONG], env=env) for env in ({}, {MARK: "another"})]
    try:
        began = time.monotonic()
        assert end_marked(uuid4().hex, since) == 0
        assert time.monotonic() - began < _PATIENCE_S
        assert [process.poll() for process in others] == [None, None]
    finally:
        for process in others:
            process.kill()
            process.wait(_PATIENCE_S)


@pytest.mark.parametrize("turns", range(6))
def test_a_job_that_is_cancelled_while_it_starts_leaves_nothing(turns: int, tmp_path: Path) -> None:
    word = str(800_000 + os.getpid())
    script = f"setsid sh -c 'trap \"\" TERM INT HUP; sleep $0' {word} & sleep {word}"

    async def go() -> None:
        job = Job(("/bin/sh", "-c", script), str(tmp_path), Limits(_PATIENCE_S), (Mount(tmp_path, writable=True),))
        running = asyncio.create_task(Unconfined().run(job))
        for _ in range(turns):
            await asyncio.sleep(0)
        # The loop stands still, as under load, while what was started starts others.
        give_up = time.monotonic() + 1.0
        while not processes_with(word) and time.monotonic() < give_up:
            time.sleep(0.01)  # noqa: ASYNC251 - standing still is what is tried
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(go())
    assert processes_with(word) == []
