"""No confinement: a job runs as a plain child, within limits, and is ended whole."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from uuid import uuid4

from reflact.confine.cages import cage_root, caged
from reflact.confine.job import ConfinedResult, Job
from reflact.confine.marks import MARK, end_marked, ticks_now
from reflact.confine.rlimits import limited
from reflact.confine.supervise import supervise


class Unconfined:
    """Runs jobs that can read and write whatever the user can, and use the network.

    Args:
        clock: Monotonic seconds.
        new_mark: Makes a mark that no other job has.
    """

    name = "none"
    confined = False

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, new_mark: Callable[[], str] = lambda: uuid4().hex
    ) -> None:
        self._clock = clock
        self._new_mark = new_mark
        self._cages = cage_root()

    async def run(self, job: Job) -> ConfinedResult:
        """Run a job; see `Confinement.run`.

        Raises:
            ValueError: A mount's target is not its source, or there is a door: only a view of its own has those.
        """
        if job.door is not None:
            raise ValueError("without confinement a job has no network of its own, and so no door")
        moved = [mount.inside for mount in job.mounts if mount.inside != str(mount.source)]
        if moved:
            raise ValueError(f"without confinement {moved[0]} cannot be shown in another place than its own")
        mark, since = self._new_mark(), ticks_now()

        def kill(pid: int, alive: bool) -> None:
            if alive:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            end_marked(mark, since)

        whole = limited(job.argv, job.limits, count_processes=False)
        with caged(self._cages, job.limits.processes, whole) as argv:
            return await supervise(
                argv,
                job,
                env={**job.environment, MARK: mark},
                cwd=job.folder,
                kill=kill,
                clock=self._clock,
            )
