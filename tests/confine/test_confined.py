"""What a confined job can see and reach."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from pathlib import Path

import pytest

from reflact.confine import Confinement, ConfinementError, Ending, Job, Limits, Mount
from reflact.confine.bubblewrap import Bubblewrap

from .support import bubblewrap, run

LOOK = """
import json, os, sys
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
outside = sys.argv[1]
print(json.dumps({
    "root": sorted(os.listdir("/")),
    "passwd": tried(lambda: open("/etc/passwd").read()),
    "shadow": tried(lambda: open("/etc/shadow").read()),
    "outside": tried(lambda: open(outside).read()),
    "written": tried(lambda: open("/usr/x", "w")),
    "tmp": tried(lambda: open("/tmp/x", "w")),
    "dev": tried(lambda: open("/dev/x", "w")),
    "env": dict(os.environ),
    "first": open("/proc/1/environ").read(),
    "uid": os.getuid(),
    "processes": [int(name) for name in os.listdir("/proc") if name.isdigit()],
    "cap": [line for line in open("/proc/self/status") if line.startswith("CapEff")],
    "fds": [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")],
    "source": os.path.exists(sys.argv[2]),
}))
"""


@pytest.fixture
def confinement() -> Confinement:
    return bubblewrap()


def test_a_job_sees_its_folder_and_the_system_only(
    confinement: Confinement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "planted-secret")
    secret, folder = tmp_path / "secret", tmp_path / "work"
    secret.write_text("gold")
    folder.mkdir()
    handle = os.open(secret, os.O_RDONLY)
    os.set_inheritable(handle, True)
    import reflact.confine

    result = run(confinement, folder, LOOK, argv=(str(secret), reflact.confine.__path__[0]))
    os.close(handle)
    assert result.ok, result.stderr
    seen = json.loads(result.stdout)
    assert not set(seen["root"]) & {"root", "home", "work", "srv", "var", "mnt", "boot", "sys", "run"} - {
        Path(part).parts[1]
        for part in (str(tmp_path), *map(str, (Path(os.sys.base_prefix), Path(os.sys.prefix))))  # type: ignore[attr-defined]
    }
    shell = "bash" if Path("/bin/bash").exists() else "sh"
    assert seen["passwd"] == f"student:x:1000:1000::{folder}:/bin/{shell}\n"
    assert {seen[key] for key in ("shadow", "outside")} == {"FileNotFoundError"}
    assert not {seen[key] for key in ("written", "dev", "tmp")} - {"OSError", "PermissionError"}
    assert "planted-secret" not in json.dumps(seen)
    assert seen["first"] in ("", "PWD=/\0")
    assert (seen["uid"], seen["cap"]) == (1000, ["CapEff:\t0000000000000000\n"])
    assert len(seen["processes"]) <= 3
    assert str(secret) not in seen["fds"]
    assert seen["source"] is False
    assert set(seen["env"]) >= {"HOME", "TMPDIR", "PATH", "LANG"}


def test_there_is_no_network(confinement: Confinement, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
        result = run(confinement, tmp_path, code)
    assert (result.ending, result.code) == (Ending.EXITED, 1)
    assert b"ConnectionRefusedError" in result.stderr


def test_read_only_mounts_stay_as_they_are_and_may_stand_elsewhere(confinement: Confinement, tmp_path: Path) -> None:
    given, work = tmp_path / "given", tmp_path / "work"
    given.mkdir()
    work.mkdir()
    (given / "a").write_text("A")
    shell = "cat /ws/given/a && echo B > /ws/given/a; echo C > /ws/c"
    mounts = (Mount(work, "/ws", writable=True), Mount(given, "/ws2"), Mount(given, "/given"))
    job = Job(("/bin/sh", "-c", shell.replace("/ws/given", "/given")), "/ws", Limits(5.0), mounts)
    result = asyncio.run(confinement.run(job))
    assert result.stdout == b"A"
    assert b"Read-only" in result.stderr
    assert (given / "a").read_text() == "A"
    assert (work / "c").read_text() == "C\n"
    assert (work / "c").owner() == work.owner()


def test_folders_are_hidden_inside_what_is_shown(confinement: Confinement, tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    (shown / "gold").mkdir(parents=True)
    (shown / "gold" / "answer").write_text("42")
    mounts = (Mount(shown), Mount(tmp_path / "shown", "/w", writable=False))
    job = Job(("/bin/ls", "-A", str(shown), str(shown / "gold")), "/", Limits(5.0), mounts[:1], (shown / "gold",))
    result = asyncio.run(confinement.run(job))
    assert result.ok
    assert b"answer" not in result.stdout
    assert b"gold" in result.stdout


def test_codes_and_signals_are_told(confinement: Confinement, tmp_path: Path) -> None:
    assert run(confinement, tmp_path, "raise SystemExit(7)").code == 7
    assert run(confinement, tmp_path, "import os; os.kill(os.getpid(), 11)").code == 128 + 11


def test_standard_input_arrives_and_need_not_be_read(confinement: Confinement, tmp_path: Path) -> None:
    data = bytes(range(256)) * 4096
    for command, out in (("wc -c", b"1048576\n"), ("echo none", b"none\n")):
        mounts = (Mount(tmp_path, writable=True),)
        job = Job(("/bin/sh", "-c", command), str(tmp_path), Limits(5.0), mounts, stdin=data)
        assert asyncio.run(confinement.run(job)).stdout == out


def test_what_cannot_be_started_is_an_error_of_the_means(confinement: Confinement, tmp_path: Path) -> None:
    job = Job(("/bin/true",), "/nowhere", Limits(5.0))
    with pytest.raises(ConfinementError, match="nowhere"):
        asyncio.run(confinement.run(job))
    with pytest.raises(ConfinementError, match=r"no-bwrap"):
        asyncio.run(Bubblewrap(tmp_path / "no-bwrap").run(job))
