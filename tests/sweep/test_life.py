"""Whether a process lives that is on another machine."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from reflact.rundir.owner import Process, this_process
from reflact.sweep.life import SILENCE_S, give_sign, has_died
from tests.sweep.test_queue import gone, make

ELSEWHERE = replace(this_process(), boot_id="another machine's")


def silent(path: Path) -> Path:
    before = time.time() - SILENCE_S - 60
    os.utime(path, (before, before))
    return path


@pytest.mark.parametrize(("process", "dead"), [(ELSEWHERE, True), (this_process(), False)])
def test_silence_counts_only_where_nothing_else_tells(tmp_path: Path, process: Process, dead: bool) -> None:
    sign = tmp_path / "sign"
    sign.touch()
    assert not has_died(process, sign)
    assert has_died(process, silent(sign)) == dead
    give_sign(sign)
    assert not has_died(process, sign)


def test_a_process_that_ended_here_is_dead_whatever_its_sign_says(tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    sign.touch()
    assert has_died(gone(), sign)
    assert not has_died(ELSEWHERE, tmp_path / "missing"), "nothing is known"


def test_a_worker_on_another_machine_keeps_its_job_while_it_gives_signs(tmp_path: Path) -> None:
    queue = make(tmp_path, "docvqa")
    job, _ = queue.take(ELSEWHERE, "12_3")
    assert job is not None and queue.ticket(job) == "12_3"
    assert queue.working() == [job] and queue.abandoned() == []
    silent(queue.folder / "0000.taken.json")
    assert queue.abandoned() == [job]
    queue.still_working(job)
    assert queue.abandoned() == []
