"""Taking, keeping and giving up a run directory. `design/ownership-of-a-run.md` says why it works like this."""

from __future__ import annotations

import errno
import logging
import os
import threading
import time
from collections.abc import Collection
from pathlib import Path
from types import TracebackType

from reflact.core.errors import ConfigError, Refused, Stopped
from reflact.rundir.atomic import sweep_temporary
from reflact.rundir.claim_files import create_claim, make_mark
from reflact.rundir.claims import ClaimView, claim_file, inspect
from reflact.rundir.full import disk_stop
from reflact.rundir.layout import RunLayout
from reflact.rundir.owner import this_process
from reflact.rundir.refusal import refusal, shown
from reflact.rundir.view import RunView, view_run

__all__ = ["Claim", "ClaimView", "inspect"]

_SETTLE_TRIES = 30

log = logging.getLogger(__name__)


class Claim:
    """This process's ownership of a run directory; a context manager that releases it.

    A forked child does not own the run: there `check` raises and `release` does nothing.
    """

    def __init__(self, root: Path, number: int, fd: int, heartbeat_s: float, *, adopted: bool = False) -> None:
        """Begin heartbeats for the claim file that `fd` is open on; `Claim.take` is the way to get a claim."""
        self.root = root
        self.number = number
        self._fd = fd
        self._heartbeat_s = heartbeat_s
        self._adopted = adopted
        self._pid = os.getpid()
        self._identity = _identity(os.fstat(fd))
        self._lost: str | None = None
        self._file = os.fspath(claim_file(root, number))
        self._next = os.fspath(claim_file(root, number + 1))
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="reflact-heartbeat", daemon=True)
        self._thread.start()

    @classmethod
    def take(
        cls,
        root: Path,
        *,
        resume: bool,
        timeout_s: float,
        heartbeat_s: float,
        adopt: bool = False,
        ignore: Collection[str] = (),
    ) -> Claim:
        """Claim a directory for this process.

        Args:
            root: The directory; made if it is missing.
            resume: Continue the run in it, if it holds one and nobody writes it.
            timeout_s: Seconds without a heartbeat after which another process's claim is stale.
            heartbeat_s: Seconds between this process's heartbeats.
            adopt: If this same process has claimed the directory before, return that claim, once.
            ignore: Names that do not make the directory a used one (what Hydra put there before this call).

        Raises:
            Refused: The directory is not ours to take; nothing in it was changed.
            ConfigError: The directory cannot be made or written.
            Stopped: The disk takes nothing more.
        """
        root = Path(os.path.abspath(root))  # noqa: PTH100 - `resolve` would follow links
        try:
            adopted = _adopt(root, heartbeat_s) if adopt else None
            if adopted is not None:
                return adopted
            number = _free_number(root, resume=resume, timeout_s=timeout_s, ignore=ignore)
            fd = create_claim(root, number, timeout_s, heartbeat_s)
        except FileExistsError:
            raise Refused(refusal(_settled_view(root))) from None
        except OSError as error:
            raise _unclaimed(root, error) from error
        claim = cls(root, number, fd, heartbeat_s)
        try:
            sweep_temporary(root)
        except BaseException:
            claim.release()
            raise
        return claim

    def check(self) -> None:
        """Make sure that the run is still this process's; to be called before every write.

        Looks for two names each time, which costs some microseconds: however long this process was stopped, and at
        whatever point, it sees a take-over before it writes again.

        Raises:
            Refused: Another process has taken over, or the directory was moved away.
        """
        if os.getpid() != self._pid:
            raise RuntimeError("a forked child does not own its parent's run")
        if self._ending.is_set():
            raise RuntimeError("the claim was released")
        if self._lost is None:
            self._look()
        if self._lost is not None:
            raise Refused(self._lost)

    def release(self) -> None:
        """Give the run up: end the heartbeat and leave a mark that the owner ended well. Never raises."""
        if os.getpid() != self._pid or self._ending.is_set():
            return
        self._ending.set()
        self._thread.join()
        os.close(self._fd)
        if self._lost is not None or self._handed_over():
            return
        try:
            self._look()
            if self._lost is None:
                make_mark(claim_file(self.root, self.number, "released"))
        except OSError as error:
            # Without the mark the run counts as stale as soon as this process has ended, so nothing is lost.
            log.warning("%s: could not mark the run as released: %s", shown(self.root), error)

    def __enter__(self) -> Claim:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _look(self) -> None:
        if _stat(self._next) is not None:
            owner = inspect(self.root).owner
            by = f"pid {owner.pid} on host {shown(owner.host)}" if owner else "another process"
            self._lost = f"{shown(self.root)}: {by} has taken this run over; this process stops writing it"
            return
        stat = _stat(self._file)
        if stat is None or _identity(stat) != self._identity:
            self._lost = f"{shown(self.root)}: the run was moved or removed; this process stops writing it"

    def _handed_over(self) -> bool:
        """Whether another `Claim` of this process has adopted this claim."""
        return not self._adopted and claim_file(self.root, self.number, "adopted").exists()

    def _beat(self) -> None:
        while not self._ending.wait(self._heartbeat_s):
            if self._handed_over():
                return
            try:
                os.utime(self._fd)
            except OSError as error:
                # A missed beat is no loss of the run; if they all are missed, `check` sees the next owner.
                log.warning("%s: heartbeat failed: %s", shown(self.root), error)


def _free_number(root: Path, *, resume: bool, timeout_s: float, ignore: Collection[str]) -> int:
    """Return the number of the claim to make; refuse if the directory is not to be taken.

    Raises:
        FileExistsError: Another process claimed it at the same moment.
    """
    try:
        view = view_run(root, timeout_s)
    except OSError as error:
        raise Refused(f"{shown(root)} was refused: {error.strerror}") from error
    if not set(view.names) - set(ignore):
        _make(root)
        RunLayout(root).claims.mkdir()  # of all that start here at once, one gets past this line
        return 1
    if not (resume and view.ours):
        raise Refused(refusal(_settled_view(root)))
    claim = view.claim
    if claim.alive is None and claim.owner is not None and (claim.age_s or 0.0) > timeout_s:
        claim = inspect(root, timeout_s, inside=True)
    if claim.alive is not False:
        raise Refused(refusal(_settled_view(root)))
    return claim.number + 1


def _unclaimed(root: Path, error: OSError) -> Stopped | ConfigError:
    begun = RunLayout(root).claims.is_dir()
    wrong_place = error.errno == errno.EROFS and not begun  # another directory helps, waiting does not
    stop = None if wrong_place else disk_stop(error, shown(root), resume=begun)
    return stop or ConfigError(f"{shown(root)}: the directory cannot be claimed: {error.strerror}")


def _adopt(root: Path, heartbeat_s: float) -> Claim | None:
    view = inspect(root)
    if view.owner != this_process() or view.released or view.void:
        return None
    try:
        make_mark(claim_file(root, view.number, "adopted"))
    except FileExistsError:
        return None
    fd = os.open(claim_file(root, view.number), os.O_RDWR | os.O_CLOEXEC)
    return Claim(root, view.number, fd, heartbeat_s, adopted=True)


def _make(root: Path) -> None:
    try:
        root.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{shown(root)} was refused: it, or a folder above it, is not a directory") from error


def _settled_view(root: Path) -> RunView:
    """Return what the directory is; wait a moment for a claim that is being written, so that its owner can be named."""
    view = view_run(root)
    for _ in range(_SETTLE_TRIES):
        if not view.ours or view.claim.owner is not None:
            break
        time.sleep(0.01)
        view = view_run(root)
    return view


def _identity(stat: os.stat_result) -> tuple[int, int]:
    return stat.st_dev, stat.st_ino


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - before every write, so without the cost of a path object
    except (FileNotFoundError, NotADirectoryError):
        return None
