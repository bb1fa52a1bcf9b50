"""Directories with names that people and file systems come up with, under any locale."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from reflact.core.errors import Refused
from reflact.rundir.archive import archive
from reflact.rundir.atomic import write_json
from reflact.rundir.view import find_runs, view_run
from tests.rundir.trees import take

NAMES = [
    b"with blanks ",
    b"two\nlines",
    b"not utf-8 \xff\xe9",
    b"a=1,b=[2]",
    "李明".encode(),
    b"-rf",
    b"'quote\"",
    b"x" * 250,
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_claimed_refused_found_and_archived(tmp_path: Path, name: bytes) -> None:
    root = tmp_path / os.fsdecode(name)
    with take(root) as claim:
        write_json(root / "config.json", {"out_root": str(root)})
        claim.check()
        with pytest.raises(Refused) as caught:
            take(root)
    str(caught.value).encode("utf-8")
    assert "\n" not in str(caught.value)
    assert find_runs(tmp_path) == [root]
    moved = archive(root, "name 李明", time.time)
    assert find_runs(tmp_path) == []
    assert view_run(moved).names == ("claims", "config.json")


def test_the_locale_changes_nothing(tmp_path: Path) -> None:
    code = """
import os, sys, time
from pathlib import Path
from reflact.core.events import Warned
from reflact.rundir.archive import archive
from reflact.rundir.atomic import write_json, write_text
from reflact.rundir.claim import Claim
from reflact.rundir.events import EventLog
from reflact.rundir.redact import Redactor
from reflact.rundir.syncer import Syncer

root = Path(os.fsdecode(sys.argv[1].encode("utf-8", "surrogateescape")))
claim = Claim.take(root, resume=False, timeout_s=300, heartbeat_s=15)
write_text(root / "best_skill.md", "\\u674e\\u660e")
write_json(root / "config.json", {"name": "\\u674e\\u660e", "root": str(root)})
syncer = Syncer()
log = EventLog(root / "events.jsonl", syncer, Redactor([]), time.time)
log(Warned("code", "\\u674e\\u660e"))
log.close(); syncer.close()
try:
    Claim.take(root, resume=False, timeout_s=300, heartbeat_s=15)
except Exception as error:
    print(error)
claim.release()
"""
    env = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    root = tmp_path / "李明"
    done = subprocess.run([sys.executable, "-c", code, str(root)], env=env, capture_output=True, check=True)
    assert b"being written now by pid" in done.stdout
    assert (root / "best_skill.md").read_bytes() == "李明".encode()
    assert '"name": "李明"'.encode() in (root / "config.json").read_bytes()
    assert "李明".encode() in (root / "events.jsonl").read_bytes()
