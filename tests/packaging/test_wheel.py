"""What is installed is all that is needed: the wheel works from any folder, and packages beside it extend it."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
PLUGIN = """\
class Toy:
    @staticmethod
    def config_defaults():
        return {"env.workers": 3, "benchmark.options": {"level": "leicht"}, "train.num_epochs": 2}

def connect(config, role):
    raise NotImplementedError
"""
PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "reflact-toy"
version = "1"

[project.entry-points."reflact.benchmarks"]
toy = "reflact_toy:Toy"

[project.entry-points."reflact.models"]
toy_model = "reflact_toy:connect"
"""


def build(project: Path, out: Path) -> Path:
    """Build a wheel without touching the network and return it."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(project)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = out.glob("*.whl")
    return wheel


def install(wheel: Path, target: Path) -> None:
    options = ["--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check", "--target", str(target)]
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", *options, str(wheel)], check=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="absent: hatchling (the extra `dev`)")
    return build(TOP, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("installed")
    install(wheel, target)
    return target


def ask(code: str, path: list[Path], folder: Path) -> str:
    """Run Python with folders first on its path and return what it prints."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def data_files() -> Iterator[str]:
    listed = ["git", "ls-files", "--", "src/reflact", "conf"]
    for name in subprocess.run(listed, cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines():
        if (TOP / name).exists():
            yield f"reflact/{name}" if name.startswith("conf/") else name.removeprefix("src/")


def test_the_wheel_holds_every_file_of_the_package_and_conf(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    assert {name for name in data_files() if name not in inside} == set()
    assert "reflact/conf/config.yaml" in inside and "reflact/py.typed" in inside
    assert "hydra_plugins/reflact_sweeper/sweeper.py" in inside
    # A namespace that other plug-ins share must not become a package of ours.
    assert "hydra_plugins/__init__.py" not in inside


def test_the_wheel_holds_nothing_else(wheel: Path) -> None:
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"reflact", "hydra_plugins", "reflact-0.1.0.dist-info"}


def test_an_installed_wheel_composes_from_its_own_files(installed: Path, tmp_path: Path) -> None:
    code = (
        "from reflact.config.paths import conf_dir; from reflact.config.compose import compose\n"
        "print(conf_dir()); print(compose(['ablation/lr=lr8']).optimizer.learning_rate)"
    )
    assert ask(code, [installed], tmp_path).split() == [str(installed / "reflact" / "conf"), "8"]
    assert list(tmp_path.iterdir()) == []


def test_an_installed_wheel_has_its_commands(wheel: Path) -> None:
    text = zipfile.ZipFile(wheel).read("reflact-0.1.0.dist-info/entry_points.txt").decode("utf-8")
    for name in ("reflact = ", "reflact-train = ", "reflact-eval = "):
        assert name in text


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="absent: hatchling (the extra `dev`)")
    project = tmp_path_factory.mktemp("project")
    (project / "reflact_toy.py").write_text(PLUGIN, encoding="utf-8")
    (project / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    target = tmp_path_factory.mktemp("plugins")
    install(build(project, tmp_path_factory.mktemp("toy")), target)
    return target


def test_an_installed_benchmark_is_an_option_with_its_defaults(plugin: Path, tmp_path: Path) -> None:
    code = (
        "from reflact.config.compose import compose\n"
        "c = compose(['benchmark=toy', 'train.num_epochs=9'])\n"
        "print(c.benchmark.name, c.benchmark.options['level'], c.env.workers, c.train.num_epochs)"
    )
    assert ask(code, [plugin], tmp_path) == "toy leicht 3 9"


def test_an_installed_model_is_a_harness(plugin: Path, tmp_path: Path) -> None:
    code = (
        "from reflact.config.compose import compose\n"
        "c = compose(['harness=toy_model', 'model.teacher_backend=toy_model'])\n"
        "print(c.model.student_backend, c.model.teacher_backend)"
    )
    assert ask(code, [plugin], tmp_path) == "toy_model toy_model"


def test_plugins_are_in_help_and_completion(plugin: Path, tmp_path: Path) -> None:
    shown = ask("from reflact.cli.help import text; print(text('reflact-train'))", [plugin], tmp_path)
    assert "| toy" in shown and "toy_model" in shown
    code = "from reflact.config.compose import Composer; print(Composer().options('benchmark'))"
    assert "'toy'" in ask(code, [plugin], tmp_path)


def test_a_broken_plugin_does_not_take_the_others_with_it(plugin: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    (broken / "reflact_broken-1.dist-info").mkdir(parents=True)
    (broken / "reflact_broken-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: reflact-broken\nVersion: 1\n", encoding="utf-8"
    )
    (broken / "reflact_broken-1.dist-info" / "entry_points.txt").write_text(
        "[reflact.benchmarks]\nbroken = reflact_broken:Broken\n", encoding="utf-8"
    )
    (broken / "reflact_broken.py").write_text("raise OSError('no data')\n", encoding="utf-8")
    code = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from reflact.config.compose import compose; print(compose(['benchmark=toy']).env.workers)"
    )
    assert ask(code, [broken, plugin], tmp_path) == "3"
