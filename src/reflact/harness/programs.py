"""Finding the agent programs: an explicit path, then PATH, then what comes with the Python packages."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Unavailable

_VERSION_S = 30.0
_INSTALL = "pip install 'reflact[agents]' brings one"


@dataclass(frozen=True, slots=True)
class Program:
    """An agent program.

    Attributes:
        path: The program itself, no wrapper.
        folder: The folder that it needs beside itself; None if it stands alone.
    """

    path: Path
    folder: Path | None = None


def find_codex(config: Config) -> Program:
    """Find the Codex CLI.

    Raises:
        ConfigError: `model.codex_exec_path` is not a program.
        Unavailable: There is none.
    """
    return _codex(_find("codex", config.model.codex_exec_path, "model.codex_exec_path", bundled_codex))


def find_claude(config: Config) -> Program:
    """Find the Claude Code CLI.

    Raises:
        ConfigError: `model.claude_code_exec_path` is not a program.
        Unavailable: There is none.
    """
    key = "model.claude_code_exec_path"
    return _claude(_find("claude", config.model.claude_code_exec_path, key, bundled_claude))


def bundled_codex() -> Program | None:
    """Return the Codex CLI that comes with its Python SDK, None if that is not installed."""
    path = _in_package("codex_cli_bin", "bin/codex")
    return None if path is None else _codex(path)


def bundled_claude() -> Program | None:
    """Return the Claude Code CLI that comes with its Python SDK, None if that is not installed."""
    path = _in_package("claude_agent_sdk", "_bundled/claude")
    return None if path is None else Program(path)


def version_of(program: Program) -> str:
    """Return what the program says is its version.

    Raises:
        Unavailable: It does not run here.
    """
    try:
        said = subprocess.run(
            [program.path, "--version"],
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{program.path} cannot be run: {error}") from error
    lines = said.stdout.decode(errors="replace").split("\n")
    if said.returncode != 0 or not lines[0].strip():
        reason = said.stderr.decode(errors="replace").strip()[-300:]
        raise Unavailable(f"{program.path} --version failed with exit code {said.returncode}: {reason}")
    return lines[0].strip()[:100]


def _find(name: str, explicit: str, key: str, bundled: Callable[[], Program | None]) -> Path:
    if explicit:
        path = shutil.which(explicit)
        if path is None:
            raise ConfigError(f"{key}={explicit}: there is no such program")
        return Path(path).resolve()
    on_path = shutil.which(name)
    if on_path is not None:
        return Path(on_path).resolve()
    found = bundled()
    if found is None:
        raise Unavailable(f"there is no `{name}` on PATH: {_INSTALL}, or name one with {key}")
    return found.path


def _in_package(package: str, name: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    for folder in () if spec is None else spec.submodule_search_locations or ():
        if (Path(folder) / name).is_file():
            return (Path(folder) / name).resolve()
    return None


def _codex(path: Path) -> Program:
    if path.suffix == ".js":  # npm's wrapper; the program is in another package beside or below it
        package = path.parent.parent
        for place in (package / "node_modules", package.parent, package.parent.parent):
            for native in sorted(place.glob("**/vendor/*/bin/codex")):
                return Program(native, native.parent.parent)
        raise Unavailable(f"{path} is npm's wrapper of Codex, and the program itself is not installed beside it")
    folder = path.parent.parent
    own = path.parent.name == "bin" and (folder / "codex-resources").is_dir()
    return Program(path, folder if own else None)


def _claude(path: Path) -> Program:
    package = path.parent.parent
    if path.parent.name == "bin" and package.name == "claude-code":
        # What npm puts on PATH is the program only if it was allowed to run the package's installation script.
        for place in (package / "node_modules" / package.parent.name, package.parent):
            for native in sorted(place.glob("claude-code-linux-*/claude")):
                return Program(native)
    return Program(path)
