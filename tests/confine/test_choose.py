from __future__ import annotations

from pathlib import Path

import pytest

from reflact.confine import choose
from reflact.confine.probe import problem_of
from reflact.core.errors import ExitCode, Unavailable

from .support import bubblewrap


def fake(folder: Path, script: str) -> Path:
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_off_never_looks() -> None:
    def look() -> list[Path]:
        raise AssertionError

    choice = choose("off", look)
    assert (choice.confinement.confined, choice.record, choice.reason) == (False, "unsandboxed", "env.sandbox=off")


def test_where_nothing_is_installed() -> None:
    choice = choose("auto", list)
    assert choice.record == "unsandboxed"
    assert "not installed" in choice.reason
    with pytest.raises(Unavailable, match=r"not installed.*apt-get install bubblewrap") as raised:
        choose("require", list)
    assert raised.value.exit_code is ExitCode.UNAVAILABLE


def test_the_next_program_is_tried() -> None:
    choice = choose("require", lambda: [Path("/a"), Path("/b")], lambda program: {"/a": "no"}.get(str(program)))
    assert (choice.record, choice.reason) == ("bubblewrap", "")


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions to create new namespace"),
        ("exit 0", "sees more than it should"),
        ("exit 3", "no reason given"),
        # Runs the program without any confinement, as a wrapper that ignores its options would.
        ('while [ "$1" != -- ]; do shift; done; shift; exec "$@"', "bwrap: no reason given"),
    ],
)
def test_a_program_that_does_not_confine_is_found_out(script: str, reason: str, tmp_path: Path) -> None:
    program = fake(tmp_path, script)
    assert reason in (problem_of(program) or "")
    assert choose("auto", lambda: [program]).record == "unsandboxed"


def test_a_program_that_is_none(tmp_path: Path) -> None:
    assert "cannot be started" in (problem_of(tmp_path / "bwrap") or "")


def test_the_real_one() -> None:
    assert bubblewrap().name == "bubblewrap"
