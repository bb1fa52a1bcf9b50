from __future__ import annotations

import errno
import threading

import pytest

from reflact.rundir.syncer import Syncer


class File:
    def __init__(self, failure: OSError | None = None) -> None:
        self.synced = threading.Semaphore(0)
        self.count = 0
        self.failure = failure

    def sync(self) -> None:
        self.count += 1
        self.synced.release()
        if self.failure is not None:
            raise self.failure


def test_writes_within_the_interval_share_one_sync() -> None:
    syncer, file = Syncer(interval_s=0.05), File()
    for _ in range(100):
        syncer.note(file)
    assert file.synced.acquire(timeout=10)
    syncer.close()
    assert file.count == 1


def test_flush_syncs_now() -> None:
    syncer, file = Syncer(interval_s=3600), File()
    syncer.note(file)
    syncer.flush()
    assert file.count == 1
    syncer.flush()
    assert file.count == 1
    syncer.close()


def test_close_syncs_what_is_left_without_waiting_and_ends_the_thread() -> None:
    syncer, file = Syncer(interval_s=3600), File()
    syncer.note(file)
    before = threading.active_count()
    syncer.close()
    assert file.count == 1
    assert threading.active_count() == before - 1
    syncer.close()
    with pytest.raises(ValueError, match="closed"):
        syncer.note(file)


def test_a_failure_in_the_thread_reaches_the_run() -> None:
    syncer, file = Syncer(interval_s=0.01), File(OSError(errno.EIO, "broken disk"))
    syncer.note(file)
    assert file.synced.acquire(timeout=10)
    with pytest.raises(OSError, match="broken disk"):
        syncer.close()


def test_a_flush_waits_for_the_sync_that_is_under_way() -> None:
    begun, go_on = threading.Event(), threading.Event()
    done: list[str] = []

    class Slow:
        def sync(self) -> None:
            begun.set()
            assert go_on.wait(timeout=10)
            done.append("synced")

    syncer = Syncer(interval_s=0.001)
    syncer.note(Slow())
    assert begun.wait(timeout=10)
    flush = threading.Thread(target=lambda: (syncer.flush(), done.append("flushed")))
    flush.start()
    go_on.set()
    flush.join()
    assert done == ["synced", "flushed"]
    syncer.close()


def test_one_broken_file_does_not_keep_the_others_from_the_disk() -> None:
    syncer, broken, whole = Syncer(interval_s=3600), File(OSError(errno.EIO, "broken disk")), File()
    syncer.note(broken)
    syncer.note(whole)
    with pytest.raises(OSError, match="broken disk"):
        syncer.flush()
    assert whole.count == 1
    syncer.close()
