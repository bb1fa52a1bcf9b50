"""A command that only looks starts at once."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from reflact.cli.help import text
from reflact.cli.main import COMMANDS, Command
from tests.cli.commands import run

HEAVY = ("openai", "numpy", "scipy", "pandas", "rich.console", "jsonschema", "azure", "httpx", "xllamacpp", "joblib")
LOOKS = [
    ("train", ["--help"]),
    ("train", ["--cfg", "job"]),
    ("evaluate", ["--help"]),
    ("main", ["--help"]),
    ("main", ["keys", "learning_rate"]),
    ("main", ["archive", "--help"]),
]


@pytest.mark.parametrize(("module", "arguments"), LOOKS, ids=[" ".join([m, *a]) for m, a in LOOKS])
def test_nothing_heavy_is_imported(tmp_path: Path, module: str, arguments: list[str]) -> None:
    script = (
        f"import sys; sys.argv = ['x', *{arguments!r}]\n"
        f"from reflact.cli.{module} import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"sys.stderr.write(','.join(name for name in {HEAVY!r} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize("program", ["reflact-train", "reflact-eval"])
def test_the_help_fits_on_a_screen(program: str) -> None:
    lines = text(program).splitlines()
    assert len(lines) <= 26 and max(map(len, lines)) <= 80
    assert any("harness=rehearsal" in line for line in lines)


def test_the_help_lists_options_of_a_folder_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "benchmark").mkdir()
    (tmp_path / "benchmark" / "mine.yaml").touch()
    assert "mine" in text("reflact-train", ["--config-dir", str(tmp_path)])
    assert "mine" in text("reflact-train", [f"--config-dir={tmp_path}"])


def test_the_package_itself_imports_nothing(tmp_path: Path) -> None:
    script = "import reflact, sys; print([name for name in sys.modules if name.startswith('reflact.')])"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if find_spec(command.module)], ids=lambda c: c.name
)
def test_every_command_explains_itself(tmp_path: Path, command: Command) -> None:
    result = run(tmp_path, "reflact", command.name, "--help")
    assert result.code == 0 and f"Usage: reflact {command.name}" in result.out


def test_an_unknown_command_is_a_usage_error(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact", "statsu")
    assert result.code == 2 and "status" in result.err and "Traceback" not in result.err
