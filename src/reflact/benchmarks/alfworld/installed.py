"""The engine's package: whether it is there, and the two texts of it that every game file holds.

Nothing of it is imported here: only worker processes do that.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from reflact.core.errors import Unavailable

_PACKAGES = ("alfworld", "textworld", "fast_downward")


def missing_packages() -> tuple[str, ...]:
    """Return the packages of the engine that cannot be imported."""
    return tuple(name for name in _PACKAGES if find_spec(name) is None)


def engine_versions() -> dict[str, str]:
    """Return the versions of the engine's two packages, of those that are installed."""
    found = {}
    for name in ("alfworld", "textworld"):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def require_engine() -> None:
    """Make sure that the engine can be started.

    Raises:
        Unavailable: It is not installed; the message says how to install it.
    """
    missing = missing_packages()
    if missing:
        raise Unavailable(
            f"ALFWorld games are played by its own engine, which is not installed (missing: {', '.join(missing)}): "
            "pip install 'reflact[alfworld]', or, in a copy of the repository, make setup-alfworld. Either compiles "
            "for some minutes and needs gcc, g++, make and cmake"
        )


def domain_text() -> str:
    """Return the rules of the world (PDDL) from the installed package.

    Raises:
        Unavailable: The engine is not installed.
    """
    return _data("alfred.pddl")


def grammar_text() -> str:
    """Return the commands and sentences of the world from the installed package.

    Raises:
        Unavailable: The engine is not installed.
    """
    return _data("alfred.twl2")


def _data(name: str) -> str:
    require_engine()
    spec = find_spec("alfworld")
    assert spec is not None
    assert spec.origin is not None
    path = Path(spec.origin).parent / "data" / name
    if not path.is_file():
        raise Unavailable(f"the installed alfworld has no {path}: install the version that reflact[alfworld] asks for")
    return path.read_text(encoding="utf-8")
