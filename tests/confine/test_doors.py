from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from reflact.confine import ConfinementError, Door, Ending, Job, Limits, Mount
from reflact.confine.plain import Unconfined
from tests.confine.support import bubblewrap

_ASK = "exec 3<>/dev/tcp/127.0.0.1/8000; cat <&3; (exec 4<>/dev/tcp/127.0.0.1/8001) 2>&1 | tail -1"


def _job(folder: Path, opened: object, script: str = _ASK) -> Job:
    door = Door(8000, opened)  # type: ignore[arg-type]
    return Job(("/bin/bash", "-c", script), "/ws", Limits(10), (Mount(folder, "/ws", True),), door=door)


async def _greet(listener: socket.socket) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"come in\n")
        await writer.drain()
        writer.close()

    await asyncio.start_server(answer, sock=listener)


def test_a_job_finds_its_door_and_nothing_else(tmp_path: Path) -> None:
    confinement = bubblewrap()
    result = asyncio.run(confinement.run(_job(tmp_path, _greet)))
    lines = result.stdout.decode().splitlines()
    assert result.ok
    assert lines[0] == "come in"
    assert "refused" in lines[1]


def test_each_of_many_jobs_has_a_door_of_its_own(tmp_path: Path) -> None:
    confinement = bubblewrap()

    async def all_of_them() -> list[bytes]:
        results = await asyncio.gather(*(confinement.run(_job(tmp_path, _greet)) for _ in range(4)))
        return [result.stdout.splitlines()[0] for result in results]

    assert asyncio.run(all_of_them()) == [b"come in"] * 4


@pytest.mark.parametrize("after_s", [0.0, 0.2])
def test_a_door_that_does_not_open_ends_the_job_before_it_begins(tmp_path: Path, after_s: float) -> None:
    confinement = bubblewrap()

    async def broken(listener: socket.socket) -> None:
        await asyncio.sleep(after_s)
        listener.close()
        raise ConfinementError("jammed")

    with pytest.raises(ConfinementError, match="jammed"):
        asyncio.run(confinement.run(_job(tmp_path, broken, "touch /ws/started")))
    assert not (tmp_path / "started").exists()


def test_a_job_may_end_while_its_door_is_being_opened(tmp_path: Path) -> None:
    confinement = bubblewrap()

    async def slow(listener: socket.socket) -> None:
        listener.close()
        await asyncio.sleep(30)

    job = _job(tmp_path, slow)
    short = Job(job.argv, job.folder, Limits(0.3), job.mounts, door=job.door)
    result = asyncio.run(confinement.run(short))
    assert result.ending is Ending.TIME


def test_output_is_told_as_it_comes(tmp_path: Path) -> None:
    heard: list[bytes] = []
    job = Job(("/bin/sh", "-c", "echo a; echo b"), str(tmp_path), Limits(10), on_output=heard.append)
    asyncio.run(Unconfined().run(job))
    assert b"".join(heard) == b"a\nb\n"


def test_without_confinement_there_is_no_door(tmp_path: Path) -> None:
    job = Job(("/bin/true",), str(tmp_path), Limits(10), door=Door(8000, _greet))
    with pytest.raises(ValueError, match="no door"):
        asyncio.run(Unconfined().run(job))
