"""Whether bubblewrap works here: the real thing is run once and looks around from inside.

Settings of the kernel and the presence of a program say little: containers, policies and limits on namespaces all
show only when a job is started.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from reflact.confine.bubblewrap import Descriptors, command, last_line
from reflact.confine.job import Job, Limits, Mount

_LIMIT_S = 10.0
# An `ok` file counts only if a file outside cannot be seen, there is no network and processes are numbered anew.
_LOOK = """
[ ! -e "$1" ] && [ -d /proc/1 ] && [ "$(grep -c : /proc/net/dev)" = 1 ] && grep -q '^ *lo:' /proc/net/dev \\
  && ! touch /usr/reflact-probe 2>/dev/null && touch "$2/ok"
"""


def programs() -> Iterator[Path]:
    """Yield the `bwrap` programs of this machine: the one on PATH, then the one that comes with the Codex CLI."""
    found = shutil.which("bwrap")
    if found is not None:
        yield Path(found)
    codex = importlib.util.find_spec("codex_cli_bin")
    for folder in () if codex is None else codex.submodule_search_locations or ():
        yield from sorted(Path(folder).rglob("codex-resources/bwrap"))


def problem_of(program: Path) -> str | None:
    """Run the program with the options of a job; return why it does not confine, None if it does."""
    with tempfile.TemporaryDirectory(prefix="reflact-") as place:
        inside, outside = Path(place) / "in", Path(place) / "outside"
        inside.mkdir()
        outside.write_text("not to be seen", encoding="ascii")
        job = Job(
            ("/bin/sh", "-c", _LOOK, "sh", str(outside), str(inside)),
            str(inside),
            Limits(_LIMIT_S),
            (Mount(inside, writable=True),),
        )
        return _problem(program, job, inside / "ok")


def _problem(program: Path, job: Job, ok: Path) -> str | None:
    with tempfile.TemporaryFile() as status, tempfile.TemporaryFile() as empty:
        fds = Descriptors(status.fileno(), os.dup(empty.fileno()), os.dup(empty.fileno()))
        try:
            done = subprocess.run(
                command(program, job, fds),
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIMIT_S,
                pass_fds=(fds.status, fds.passwd, fds.group),
                start_new_session=True,
                check=False,
            )
        except OSError as error:
            return f"{program} cannot be started: {error.strerror}"
        except subprocess.TimeoutExpired:
            return f"{program} did not end within {_LIMIT_S:g} s"
        finally:
            os.close(fds.passwd)
            os.close(fds.group)
    if done.returncode != 0:
        return f"{program}: {last_line(done.stderr)}"
    if not ok.is_file():
        return f"{program} ran, but what it runs sees more than it should"
    return None
