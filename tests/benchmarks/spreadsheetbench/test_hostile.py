"""Scripts that mean harm: each scores 0, ends, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from uuid import uuid4

import pytest

from reflact.core.names import Part, RowStatus
from reflact.core.types import Outcome
from reflact.testing import scripted_session

from .support import data_folder, need_bubblewrap, over, record

BOMB = """
import zipfile
with zipfile.ZipFile(OUTPUT_PATH, "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open("xl/worksheets/sheet1.xml", "w") as part:
        for _ in range(500):
            part.write(b"<row>" * 200_000)
"""
INNER_BOMB = """
import zipfile
with zipfile.ZipFile(INPUT_PATH) as old, zipfile.ZipFile(OUTPUT_PATH, "w", zipfile.ZIP_DEFLATED) as new:
    for name in old.namelist():
        if name == "xl/worksheets/sheet1.xml":
            with new.open(name, "w") as part:
                part.write(b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>')
                part.write(b"<row><c><v>1</v></c><c><v>2</v></c></row>" * 150_000)
                part.write(b"</sheetData></worksheet>")
        else:
            new.writestr(name, old.read(name))
"""
SCRIPTS = {
    "endless loop": "while True: pass",
    "10 GB of memory": "x = bytearray(10 << 30)",
    "10 GB of output": "while True: print('x' * 1_000_000)",
    "10 GB file": "f = open('big', 'wb')\nfor _ in range(10_000): f.write(b'x' * 1_000_000)",
    "fork bomb": "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
    "its own folder": "import os, shutil\nfor n in os.listdir('.'): os.remove(n)\nshutil.rmtree(os.getcwd(), True)",
    "link to the reference": "import os\nos.symlink('{golden}', OUTPUT_PATH)",
    "link to a system file": "import os\nos.symlink('/etc/passwd', OUTPUT_PATH)",
    "pipe": "import os\nos.mkfifo(OUTPUT_PATH)",
    "folder": "import os\nos.mkdir(OUTPUT_PATH)",
    "zip bomb": BOMB,
    "nesting": "import os\nfor _ in range(2500):\n    os.mkdir('d'); os.chdir('d')",
    "reading the reference": "import shutil\nshutil.copy('{golden}', OUTPUT_PATH)",
    "network": "import socket\nsocket.create_connection(('127.0.0.1', {port}), 3)",
    "mounting": "import subprocess\nsubprocess.run(['mount', '-o', 'remount,rw', '/usr'], check=True)",
    "killing": "import os\nos.kill(1, 9)\nos.kill(-1, 9)",
}


def converse(root: Path, script: str, **env: object) -> Outcome:
    benchmark = over(root, **{"split": "1shot", "code_timeout": 3.0, "code_memory_mb": 512, **env})
    item = benchmark.load().parts[Part.TRAIN][0]
    return asyncio.run(benchmark.converse(item, scripted_session([f"```python\n{script}\n```"])))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    need_bubblewrap()
    return data_folder(tmp_path / "data", [record(name) for name in "abc"])


@pytest.mark.parametrize("kind", SCRIPTS)
def test_harm_is_kept_in(kind: str, root: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*.xlsx")}
    (golden,) = (path for path in before if path.name.startswith("1_") and path.name == "1_a_golden.xlsx")
    with socket.create_server(("127.0.0.1", 0)) as server:
        script = SCRIPTS[kind].replace("{golden}", str(golden)).replace("{port}", str(server.getsockname()[1]))
        outcome = converse(root, script)
    assert (outcome.status, outcome.hard, outcome.soft) == (RowStatus.OK, 0.0, 0.0)
    assert outcome.fail_reason
    assert {path: path.read_bytes() for path in root.rglob("*.xlsx")} == before


def test_a_workbook_too_large_to_be_opened_is_a_failure_of_the_script(root: Path) -> None:
    outcome = converse(root, INNER_BOMB, code_timeout=30.0, code_memory_mb=96)
    assert (outcome.status, outcome.hard) == (RowStatus.OK, 0.0)
    assert outcome.extra["verdicts"] == ["unreadable"]


def test_what_is_seen_is_neither_the_machine_s_nor_the_caller_s(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "planted-secret")
    code = (
        "import os\nfound = open('/proc/1/environ').read() + str(dict(os.environ)) + open('/etc/passwd').read()\n"
        "for top, folders, names in os.walk('/'):\n"
        "    folders[:] = [name for name in folders if name not in ('proc', 'usr', 'site-packages')]\n"
        "    found += ' '.join(name for name in names if name.endswith(('golden.xlsx', '_init.xlsx')))\n"
        "raise ValueError(found)"
    )
    outcome = converse(root, code, code_timeout=20.0)
    assert outcome.fail_reason is not None
    assert "ValueError" in outcome.fail_reason
    assert "student:x:1000" in outcome.fail_reason
    assert not [word for word in ("planted", "golden.xlsx", "_init.xlsx", "root:") if word in outcome.fail_reason]


def test_grandchildren_end_with_their_script(root: Path) -> None:
    word = f"9{uuid4().int % 10**9:09d}"
    outcome = converse(root, f"import subprocess\nsubprocess.Popen(['setsid', 'sleep', '{word}'])")
    assert outcome.hard == 0.0
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)]
    assert not [line for line in lines if word.encode() in line.split(b"\0")]
