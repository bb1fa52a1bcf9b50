"""Places for output that cannot be, closed streams, files that cannot be opened: one line, and nothing is harmed."""

from __future__ import annotations

import errno
import os
import shlex
import stat
import subprocess
from pathlib import Path

import pytest

from reflact.cli.errors import guarded
from reflact.core.errors import ConfigError, ExitCode
from reflact.core.names import StopCause
from reflact.plots.kinds import plot
from reflact.rundir.full import disk_stop
from tests.cli.commands import line, run, tree
from tests.report.tables.made import Made

WRITERS = {
    "report": ("report", "runs", "--out"),
    "tables": ("tables", "runs", "--out"),
    "export": ("export", "runs/LR-docvqa-8", "--out"),
}


@pytest.mark.parametrize(
    ("out", "what"),
    [("pipe.svg", "is a device or a pipe"), ("missing/a.svg", "there is no folder"),
     ("runs/LR-docvqa-8/a.svg", "inside a run directory"), ("folder.svg", "is a folder")],
)  # fmt: skip
def test_a_figure_is_drawn_only_where_a_file_can_be(folder: Path, out: str, what: str) -> None:
    pytest.importorskip("matplotlib", reason="absent: matplotlib (the extra `plots`)")
    os.mkfifo(folder / "pipe.svg")
    (folder / "folder.svg").mkdir()
    before = tree(folder / "runs")
    with pytest.raises(ConfigError, match=f"--out .*{out}.*{what}"):
        plot("learning", [folder / "runs"], folder / out)
    assert stat.S_ISFIFO((folder / "pipe.svg").stat().st_mode) and tree(folder / "runs") == before


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a study of one run, `runs/LR-docvqa-8`."""
    path = Made(tmp_path / "runs", "LR-docvqa-8").write()
    (path / "best_skill.md").write_text("# Skill\n\n- Read.\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("command", WRITERS)
def test_a_pipe_or_device_is_not_replaced_by_a_file(folder: Path, command: str) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("pipe")
    for out in ("pipe", "link"):
        done = run(folder, "reflact", *WRITERS[command], out)
        assert done.code == 2 and done.err.count("\n") == 1 and f"--out {out}" in done.err, done.err
        assert stat.S_ISFIFO((folder / out).stat().st_mode)
    assert (folder / "link").is_symlink()


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.parametrize(
    "out", ["x" * 300 + "/x", "file/x", "/proc/nowhere/x", "loop/x"], ids=["long", "file", "proc", "loop"]
)
def test_a_place_that_cannot_be_is_told_in_one_line(folder: Path, command: str, out: str) -> None:
    (folder / "file").write_text("mine", encoding="utf-8")
    (folder / "loop").symlink_to("loop")
    before = tree(folder / "runs")
    done = run(folder, "reflact", *WRITERS[command], out)
    assert done.code == 2 and done.err.count("\n") == 1 and f"--out {out}" in done.err, done.err
    assert (folder / "file").read_text(encoding="utf-8") == "mine" and tree(folder / "runs") == before


def test_a_report_is_written_where_a_link_leads(folder: Path) -> None:
    (folder / "shared").mkdir()
    (folder / "report.html").symlink_to("shared/report.html")
    done = run(folder, "reflact", *WRITERS["report"], "report.html")
    assert done.code == 0, done.err
    assert (folder / "report.html").is_symlink() and (folder / "shared/report.html").read_bytes().startswith(b"<!")


@pytest.mark.parametrize("root", ["y" * 300, "runs/LR-docvqa-8/config.json/x"])
@pytest.mark.parametrize("command", ["status", "diff"])
def test_a_root_that_cannot_be_looked_at_is_named(folder: Path, command: str, root: str) -> None:
    done = run(folder, "reflact", command, root, *(["runs/LR-docvqa-8"] if command == "diff" else []))
    assert done.code == 2 and done.err.count("\n") == 1 and root[:40] in done.err, done.err


@pytest.mark.parametrize("closed", [">&-", "<&- >&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_make_no_failure_and_no_wrong_line_in_a_file(tmp_path: Path, closed: str) -> None:
    command = shlex.join(line("reflact-train", "harness=rehearsal", "train.num_epochs=1", "env.out_root=run"))
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], cwd=tmp_path, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    for rows in (tmp_path / "run").rglob("*.jsonl"):
        assert all(row.startswith(b"{") for row in rows.read_bytes().splitlines()), rows


def test_too_many_open_files_stop_a_run_so_that_it_can_go_on() -> None:
    stop = disk_stop(OSError(errno.EMFILE, "Too many open files", "run/results.jsonl"))
    assert stop is not None and stop.cause is StopCause.ERRORS and stop.exit_code is ExitCode.STOPPED
    assert all(word in str(stop) for word in ("run/results.jsonl", "ulimit -n", "env.workers", "run.resume=true"))


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(errno.EMFILE, 69, "ulimit -n"), (errno.EACCES, 2, "a\\nfile: "), (errno.ELOOP, 2, "a\\nfile: ")],
)
def test_what_cannot_be_opened_is_no_bug(capsys: pytest.CaptureFixture[str], number: int, code: int, said: str) -> None:
    def work() -> None:
        raise OSError(number, os.strerror(number), "a\nfile")

    with pytest.raises(SystemExit) as ended:
        guarded("reflact", work)
    told = capsys.readouterr().err
    assert ended.value.code == code and said in told and told.count("\n") == 1, told
