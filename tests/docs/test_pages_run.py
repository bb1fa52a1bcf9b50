"""What a page tells a newcomer to type is typed here, block after block, in an empty home and an empty folder.

Comments in front of a block say what is special about it:

- `not run: REASON`: it is left out here; its commands are parsed and composed all the same (`test_commands.py`);
- `exit code N`: how its last command ends, where that is not 0;
- `run after: COMMAND`: what the reader is supposed to have done before;
- `run with a scripted server ...`: `HOST:PORT` is one of ours, and `env.sample=true` is added.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import reflact
from reflact.benchmarks.searchqa import SearchQA
from reflact.testing import ServerProcess
from tests.docs.markdown import SHELL, TOP, Block, blocks

PAGES = [TOP / "README.md", TOP / "docs/tutorial.md", *sorted((TOP / "docs/howto").glob("*.md"))]
PROGRAMS = Path(sys.executable).parent
REASONS = ("needs ", "installs", "downloads ", "the tests themselves", "completion needs ", "stands for ")
SERVER = "run with a scripted server"


def runnable(page: Path) -> list[Block]:
    """The blocks that a reader runs; one of Python is fed to it."""
    return [block for block in blocks(page) if block.language in (*SHELL, "python")]


LEFT_OUT = [block for page in PAGES for block in runnable(page) if block.note("not run") is not None]


@pytest.mark.parametrize("block", LEFT_OUT, ids=lambda block: block.place)
def test_what_is_left_out_says_why(block: Block) -> None:
    reason = block.note("not run")
    assert reason and reason.startswith(REASONS)


def test_most_blocks_are_run() -> None:
    every = [block for page in PAGES for block in runnable(page)]
    assert len(LEFT_OUT) < len(every) / 2


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """HOST and PORT of a scripted server that knows SearchQA's sample items."""
    benchmark = SearchQA(reflact.compose(["benchmark=searchqa", "env.sample=true"]))
    items = [item for part in benchmark.load().parts.values() for item in part]
    brain = {
        "answers": {item.question: item.gold[0] for item in items},
        "rules": [{"text": rule.text, "gain": rule.gain} for rule in benchmark.rules()],
        "base": 0.2,
    }
    with ServerProcess({"brain": brain}) as process:
        yield process.base_url.removeprefix("http://").removesuffix("/v1")


def prepared(folder: Path) -> dict[str, str]:
    """Make a folder a newcomer's: nothing in it but the environment that is told of; return the variables."""
    (folder / "home").mkdir()
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / ".venv/bin/activate").write_text(f'export PATH="{PROGRAMS}:$PATH"\n', encoding="utf-8")
    variables = {"HOME": str(folder / "home"), "PATH": f"{PROGRAMS}:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    return variables | {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}


def script(block: Block, server: str) -> str:
    if block.language == "python":
        return f"python - <<'END'\n{block.text}END\n"
    text = block.text
    if block.note(SERVER) is not None:
        text = "\n".join(f"{command} env.sample=true" for command in block.commands)
        text = text.replace("HOST:PORT", server).replace("MODEL", "brain")
    before = [note.removeprefix("run after:").strip() for note in block.notes if note.startswith("run after:")]
    return "\n".join(["set -e", *before, text])


@pytest.mark.heavy
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(block.note("not run") is None for block in runnable(page))],
    ids=lambda page: str(page.relative_to(TOP)),
)
def test_the_commands_of_a_page_do_what_it_says(page: Path, tmp_path: Path, server: str) -> None:
    variables = prepared(tmp_path)
    for block in runnable(page):
        if block.note("not run") is not None:
            continue
        expected = int(block.note("exit code") or 0)
        done = subprocess.run(
            ["bash", "-c", script(block, server)],
            cwd=tmp_path,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == expected, (
            f"{block.place}:\n{block.text}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
        assert "Traceback" not in done.stderr, f"{block.place}: {done.stderr}"
    # Nothing is written outside of what the page names: results, and what is declared as cache.
    assert {path.name for path in tmp_path.iterdir()} <= {"home", ".venv", "outputs", "skills", "tables", "multirun"}
    assert {path.name for path in (tmp_path / "home").iterdir()} <= {".cache"}


def test_pages_of_this_kind_are_found() -> None:
    assert len(PAGES) > 8 and sum(bool(runnable(page)) for page in PAGES) > 8
