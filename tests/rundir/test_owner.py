from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from reflact.rundir.owner import Process, is_gone, this_process
from tests.rundir.children import Child


def test_this_process_is_there_and_survives_json() -> None:
    me = this_process()
    assert me.pid == os.getpid()
    assert is_gone(me) is False
    assert Process.from_json(json.loads(json.dumps(me.to_json()))) == me


def test_another_process_under_the_same_number_is_another_process() -> None:
    me = this_process()
    assert me.started is not None
    assert is_gone(replace(me, started=me.started - 1)) is True


def test_a_killed_process_is_gone_while_its_parent_has_not_looked() -> None:
    with Child("import sys; sys.stdin.readline()") as child:
        me = this_process()
        started = int(open(f"/proc/{child.pid}/stat").read().rpartition(")")[2].split()[19])  # noqa: PTH123, SIM115
        process = replace(me, pid=child.pid, started=started)
        assert is_gone(process) is False
        child.stop()
        assert is_gone(process) is False
        child.kill()
        assert is_gone(process) is True
    assert is_gone(process) is True


@pytest.mark.parametrize("change", [{"boot_id": "another"}, {"pid_namespace": 1}, {"boot_id": None}])
def test_numbers_of_other_machines_and_containers_mean_nothing(change: dict[str, object]) -> None:
    assert is_gone(replace(this_process(), **change)) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("pid", [0, -1])
def test_a_number_that_addresses_a_group_is_refused(pid: int) -> None:
    with pytest.raises(ValueError, match="process"):
        Process.from_json({**this_process().to_json(), "pid": pid})
