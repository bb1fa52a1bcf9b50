from __future__ import annotations

import errno
import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from reflact.core.errors import ExitCode, Refused, Stopped
from reflact.rundir import claim_files, claims, fsclock
from reflact.rundir.claim import Claim, inspect
from reflact.rundir.owner import this_process
from tests.rundir.children import Child
from tests.rundir.trees import abandoned, age_access_times, forge, names, portrait, take


def refused(root: Path, **more: object) -> str:
    """Be refused, see that not a byte and not a timestamp changed, and return the message."""
    age_access_times(root)
    before = portrait(root.parent)
    with pytest.raises(Refused) as caught:
        take(root, **more)  # type: ignore[arg-type]
    assert portrait(root.parent) == before
    assert caught.value.exit_code is ExitCode.REFUSED
    message = str(caught.value)
    assert "\n" not in message
    assert all(way in message for way in ("another directory", "run.resume=true", "reflact archive"))
    return message


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("exists", [False, True])
def test_a_missing_or_empty_directory_is_taken(tmp_path: Path, resume: bool, exists: bool) -> None:
    root = tmp_path / "a" / "run"
    if exists:
        root.mkdir(parents=True)
    with take(root, resume=resume) as claim:
        claim.check()
        record = json.loads((root / "claims" / "0001.json").read_bytes())
        stat = root.stat()
        assert record["directory"] == {"device": stat.st_dev, "inode": stat.st_ino}
        assert {name: record[name] for name in this_process().to_json()} == this_process().to_json()
        assert inspect(root).alive is True
    assert names(root) == ["claims"]


@pytest.mark.parametrize("resume", [False, True])
def test_a_live_run_is_refused_with_its_owner(tmp_path: Path, resume: bool) -> None:
    with Child() as child:
        child.take(tmp_path / "run")
        message = refused(tmp_path / "run", resume=resume)
    assert f"being written now by pid {child.pid} on host {os.uname().nodename}" in message


@pytest.mark.parametrize("resume", [False, True])
def test_what_is_not_a_run_is_refused(tmp_path: Path, resume: bool) -> None:
    root = tmp_path / "data"
    (root / "claims").mkdir(parents=True)
    (root / "claims" / "0001.json").write_text('{"claim": "of an insurance"}', encoding="utf-8")
    (root / "notes.txt").write_text("mine", encoding="utf-8")
    assert "claims, notes.txt, which is not a run of reflact" in refused(root, resume=resume)


def test_a_file_and_a_dangling_link_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "link", "file/below"):
        with pytest.raises(Refused, match="refused"):
            take(tmp_path / name)
    assert names(tmp_path) == ["file", "link"]


def test_a_killed_run_is_resumed_at_once_and_refused_without_resume(tmp_path: Path) -> None:
    root = tmp_path / "run"
    with Child() as child:
        child.take(root)
        child.kill()
        assert inspect(root).alive is False
        message = refused(root)
        assert f"unfinished run (stale: pid {child.pid}" in message
        assert "last write" in message
        first = (root / "claims" / "0001.json").read_bytes()
        with take(root, resume=True) as claim:
            assert claim.number == 2
    assert (root / "claims" / "0001.json").read_bytes() == first


def test_a_released_run_is_resumed_at_once(tmp_path: Path) -> None:
    root = tmp_path / "run"
    take(root).release()
    view = inspect(root)
    assert (view.alive, view.released) == (False, True)
    with take(root, resume=True) as claim:
        assert claim.number == 2
        assert inspect(root).alive is True


def test_a_run_on_another_machine_is_left_alone_before_its_timeout(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=200)
    assert inspect(root).alive is True
    assert "on host elsewhere" in refused(root, resume=True)
    forge(root, age_s=400)
    assert inspect(root).alive is False
    with take(root, resume=True) as claim:
        assert claim.number == 2


def test_an_impatient_timeout_does_not_steal_between_two_heartbeats(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=20)
    refused(root, resume=True, timeout_s=1)
    forge(root, age_s=50)
    take(root, resume=True, timeout_s=1).release()


def test_the_owners_own_timeout_counts_for_those_who_look(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=400, timeout_s=1000.0)
    assert inspect(root).alive is True
    assert inspect(root, timeout_s=300).alive is False


def test_a_machine_whose_clock_is_ahead_steals_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = abandoned(tmp_path / "run", age_s=10)
    monkeypatch.setattr(claims.time, "time", lambda: 10**10)
    assert inspect(root).alive is True
    with pytest.raises(Refused):
        take(root, resume=True)


def test_without_the_file_systems_time_a_doubtful_claim_counts_as_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = abandoned(tmp_path / "run", age_s=4000)
    with monkeypatch.context() as patch:
        patch.setattr(claims, "file_system_now", lambda *_, **__: None)
        assert inspect(root).alive is None
        assert "as far as can be told" in refused(root, resume=True)
        forge(root, age_s=100_000)
        assert inspect(root).alive is False
    forge(root, age_s=4000)
    monkeypatch.setattr(fsclock, "_unnamed", lambda _: None)
    monkeypatch.setattr(fsclock, "_same_device", lambda *_: False)
    take(root, resume=True).release()  # the last way: a probe inside, once this machine's clock says it is stale


def test_a_stopped_owner_that_comes_back_sees_the_take_over(tmp_path: Path) -> None:
    root = tmp_path / "run"
    with Child() as child:
        child.take(root, heartbeat_s=0.05)
        assert child.ask("check")["ok"]
        child.stop()
        os.utime(root / "claims" / "0001.json", (1, 1))
        with take(root, resume=True) as claim:
            child.go_on()
            answer = child.ask("check")
            assert answer["code"] == ExitCode.REFUSED
            assert f"pid {os.getpid()}" in answer["message"]
            child.ask("release")
            claim.check()
        assert names(root / "claims") == ["0001.json", "0002.json", "0002.released"]


def test_the_heartbeat_renews_the_modification_time_only(tmp_path: Path) -> None:
    root = tmp_path / "run"
    beaten = threading.Event()
    with take(root, heartbeat_s=0.01):
        path = root / "claims" / "0001.json"
        content = path.read_bytes()
        os.utime(path, (1, 1))
        while path.stat().st_mtime == 1:
            beaten.wait(0.005)
        assert path.read_bytes() == content
    assert not [thread for thread in threading.enumerate() if thread.name == "reflact-heartbeat"]


def test_a_copied_directory_is_not_claimed(tmp_path: Path) -> None:
    with take(tmp_path / "run") as claim:
        (tmp_path / "run" / "events.jsonl").write_text("", encoding="utf-8")
        copy = tmp_path / "copy"
        shutil.copytree(tmp_path / "run", copy)
        view = inspect(copy)
        assert (view.void, view.alive) == (True, False)
        assert "a copy of another directory" in refused(copy)
        with take(copy, resume=True) as second:
            assert second.number == 2
            claim.check()
            second.check()


def test_a_renamed_directory_keeps_its_owner_who_notices(tmp_path: Path) -> None:
    with take(tmp_path / "run") as claim:
        (tmp_path / "run").rename(tmp_path / "moved")
        assert inspect(tmp_path / "moved").alive is True
        with take(tmp_path / "run") as second:
            with pytest.raises(Refused, match="moved or removed"):
                claim.check()
            claim.release()
            second.check()
    assert names(tmp_path / "moved" / "claims") == ["0001.json"]


def test_a_claim_of_this_process_is_adopted_once(tmp_path: Path) -> None:
    root = tmp_path / "run"
    first = take(root)
    (root / ".hydra").mkdir()
    (root / "train.log").write_text("", encoding="utf-8")
    second = take(root, adopt=True)
    assert second.number == 1
    with pytest.raises(Refused, match=f"pid {os.getpid()}"):
        take(root, adopt=True)
    first.release()
    second.check()
    assert inspect(root).alive is True
    second.release()
    assert inspect(root).released
    with take(root, resume=True, adopt=True) as third:
        assert third.number == 2


def test_only_the_process_that_claimed_adopts(tmp_path: Path) -> None:
    with Child() as child:
        child.take(tmp_path / "run")
        with pytest.raises(Refused, match=f"pid {child.pid}"):
            take(tmp_path / "run", adopt=True)
    take(tmp_path / "new", adopt=True).release()


def test_what_hydra_wrote_before_can_be_left_out_of_account(tmp_path: Path) -> None:
    root = tmp_path / "run"
    (root / ".hydra").mkdir(parents=True)
    (root / "train.log").write_text("", encoding="utf-8")
    refused(root)
    with take(root, ignore=(".hydra", "train.log")) as claim:
        assert claim.number == 1
        with pytest.raises(Refused, match="being written"):
            take(root, ignore=(".hydra", "train.log"))


def test_a_process_that_died_between_folder_and_claim_is_no_obstacle(tmp_path: Path) -> None:
    root = tmp_path / "run"
    (root / "claims").mkdir(parents=True)
    assert "before it had begun" in refused(root)
    take(root, resume=True).release()


def test_half_a_claim_is_one_that_is_being_made_until_it_is_old(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run")
    path = root / "claims" / "0001.json"
    path.write_bytes(path.read_bytes()[:20])
    assert inspect(root).alive is None
    assert "claiming at this moment" in refused(root, resume=True)
    os.utime(path, (1, 1))
    assert take(root, resume=True).number == 2


def test_a_full_disk_leaves_the_directory_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(Stopped, match=r"No space left.*same command"):
        patch.setattr(claim_files, "write_all", full)
        take(tmp_path / "run")
    assert names(tmp_path / "run") == []
    take(tmp_path / "run").release()


def test_a_take_over_sweeps_what_the_former_owner_left(tmp_path: Path) -> None:
    root = abandoned(tmp_path / "run", age_s=400)
    (root / "steps").mkdir()
    (root / "steps" / ".reflact-tmp-0123").write_text("", encoding="utf-8")
    take(root, resume=True).release()
    assert names(root / "steps") == []


def test_a_forked_child_does_not_own_the_run(tmp_path: Path) -> None:
    claim = take(tmp_path / "run")
    pid = os.fork()
    if pid == 0:
        try:
            claim.release()
            claim.check()
        except RuntimeError:
            os._exit(7)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    claim.check()
    claim.release()
    with pytest.raises(RuntimeError, match="released"):
        claim.check()


def test_a_claim_that_is_lost_releases_quietly(tmp_path: Path) -> None:
    claim = Claim.take(tmp_path / "run", resume=False, timeout_s=300, heartbeat_s=0.01)
    shutil.rmtree(tmp_path / "run")
    with pytest.raises(Refused, match="moved or removed"):
        claim.check()
    claim.release()
    claim.release()
