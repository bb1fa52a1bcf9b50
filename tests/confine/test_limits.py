"""Jobs that take too much: all of them end soon, and nothing of them is left."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from uuid import uuid4

import pytest

from reflact.confine import Confinement, Ending, Job, Limits, Mount
from reflact.confine.plain import Unconfined

from .support import MIB, bubblewrap, processes_with, run


@pytest.fixture(params=["bubblewrap", "none"])
def means(request: pytest.FixtureRequest) -> Confinement:
    return bubblewrap() if request.param == "bubblewrap" else Unconfined()


TOO_MUCH = {
    "time": ("while True: pass", {"wall_s": 0.5}, Ending.TIME),
    "output": ("while True: print('x' * 100_000)", {"output_bytes": MIB}, Ending.OUTPUT),
    "errors": ("import sys\nwhile True: sys.stderr.write('x' * 100_000)", {"output_bytes": MIB}, Ending.OUTPUT),
    "disk": (
        "n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'wb').write(b'x' * 1_000_000)",
        {"folder_bytes": 20 * MIB},
        Ending.DISK,
    ),
    "entries": ("n = 0\nwhile True:\n    n += 1\n    open(f'f{n}', 'wb')", {"entries": 200}, Ending.DISK),
    "depth": ("import os\nwhile True:\n    os.mkdir('d'); os.chdir('d')", {"entries": 2_000}, Ending.DISK),
    "processes": (
        "import os, time\nfor n in range(40):\n    if not os.fork():\n        break\ntime.sleep(60)",
        {"processes": 12},
        Ending.PROCESSES,
    ),
    "memory": (
        "import os, time\nfor n in range(5):\n    if not os.fork():\n        x = b'x' * 60_000_000\n        break\n"
        "time.sleep(60)",
        {"memory_bytes": 200 * MIB},
        Ending.MEMORY,
    ),
}


@pytest.mark.parametrize("kind", TOO_MUCH)
def test_too_much_ends_the_job(means: Confinement, kind: str, tmp_path: Path) -> None:
    code, limits, ending = TOO_MUCH[kind]
    if kind == "processes":
        # The kernel may refuse the process that is one too many before it is seen; the program then fails by itself.
        limits = {**limits, "wall_s": 2.0}
    started = time.monotonic()
    result = run(means, tmp_path, code, **limits)
    assert result.ending in ((ending, Ending.EXITED) if kind == "processes" else (ending,)), result
    assert time.monotonic() - started < 10
    assert len(result.stdout) + len(result.stderr) <= 2 * Limits(1).kept_bytes
    assert not processes_with(str(tmp_path / "program.py"))


REFUSED = {
    "memory": ("x = bytearray(10 << 30)", b"MemoryError"),
    "file": ("open('f', 'wb').write(b'x' * (2 << 20))", b"File too large"),
    "files": ("files = [open('program.py') for _ in range(5000)]", b"Too many open files"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_the_kernel_refuses_what_one_process_may_not_have(means: Confinement, kind: str, tmp_path: Path) -> None:
    code, said = REFUSED[kind]
    result = run(means, tmp_path, code, file_bytes=MIB)
    assert (result.ending, result.code) == (Ending.EXITED, 1)
    assert said in result.stderr


def test_a_fork_bomb_goes_off_in_the_sandbox_only(tmp_path: Path) -> None:
    code = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    result = run(bubblewrap(), tmp_path, code, wall_s=2.0)
    assert result.ending in (Ending.PROCESSES, Ending.TIME)
    assert not processes_with(str(tmp_path / "program.py"))


ORPHANS = """
import subprocess, sys
subprocess.Popen(["setsid", "sleep", sys.argv[1]])
subprocess.run(["sh", "-c", f"(setsid nohup sleep {sys.argv[1]} &) ; exit 0"])
"""


@pytest.mark.parametrize("rest", ["", "while True: pass"], ids=["normal end", "time limit"])
def test_grandchildren_that_left_their_session_are_ended(means: Confinement, rest: str, tmp_path: Path) -> None:
    word = f"9{uuid4().int % 10**9:09d}"
    result = run(means, tmp_path, ORPHANS + rest, argv=(word,), wall_s=1.0)
    assert result.ending is (Ending.TIME if rest else Ending.EXITED)
    assert not processes_with(word)


def test_a_cancelled_job_is_gone(means: Confinement, tmp_path: Path) -> None:
    word = f"9{uuid4().int % 10**9:09d}"
    script = f"setsid sleep {word} & touch started; sleep {word}"
    job = Job(("/bin/sh", "-c", script), str(tmp_path), Limits(60.0), (Mount(tmp_path, writable=True),))

    async def cancel() -> None:
        task = asyncio.create_task(means.run(job))
        while not (tmp_path / "started").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert not processes_with(word)


def test_many_at_once_do_not_disturb_each_other(means: Confinement, tmp_path: Path) -> None:
    async def one(number: int) -> bytes:
        job = Job(("/bin/sh", "-c", f"sleep 0.1; echo {number}"), str(tmp_path), Limits(20.0), (Mount(tmp_path),))
        return (await means.run(job)).stdout

    async def all_of_them() -> list[bytes]:
        return await asyncio.gather(*map(one, range(12)))

    assert asyncio.run(all_of_them()) == [f"{number}\n".encode() for number in range(12)]


def test_without_confinement_nothing_can_stand_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="another place"):
        asyncio.run(Unconfined().run(Job(("/bin/true",), "/", Limits(1.0), (Mount(tmp_path, "/ws"),))))
