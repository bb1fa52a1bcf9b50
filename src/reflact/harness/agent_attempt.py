"""One start of an agent program, from an empty workspace to what it left."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from reflact.confine import ConfinedResult, Confinement, Door, Ending, Job, Mount, this_python
from reflact.core.errors import Unavailable
from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import DUMMY_KEY, KEY_FILE, KEY_S, SCRATCH_BYTES, Access, AgentCli, Launch, agent_limits
from reflact.harness.agent_report import Lines, Report
from reflact.harness.workspace import Workspace
from reflact.models.work_budget import WorkBudget
from reflact.relay import Relay, Visit
from reflact.relay.wires import Wire

PORT = 8000
_MOST_ANSWER_BYTES = 1024 * 1024
_LOOK_S = 0.05
# Where names of the real network are found, for programs that may use it.
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")


class End(StrEnum):
    """Why an attempt ended."""

    EXITED = "exited"
    STOPPED = "stopped"
    TIME = "exec_timeout"
    IDLE = "idle_timeout"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attempt gave.

    Attributes:
        end: Why it ended.
        report: What its events say.
        result: How the process ended; None if it was ended by us.
        file: The demanded file, or in words why it is not there.
        visit: Its use of the relay; also there, unused, without one.
        owed: It ended while the service owed it an answer.
    """

    end: End
    report: Report
    result: ConfinedResult | None
    file: bytes | str
    visit: Visit
    owed: bool = False


@dataclass(slots=True)
class _Pulse:
    """When an agent last gave a sign of life; while it only waits for a limit it cannot give any."""

    clock: Callable[[], float]
    budget: WorkBudget
    _worked_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.beat()

    def beat(self) -> None:
        self._worked_s = self.budget.worked_s

    async def stops(self, after_s: float) -> None:
        """Come back when there was none for that many working seconds."""
        while self.budget.worked_s - self._worked_s < after_s:  # noqa: ASYNC110 - silence makes no event
            await asyncio.sleep(min(after_s / 4, _LOOK_S * 4))


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts a program.

    Attributes:
        cli: The program.
        confinement: Runs it.
        relay: Where it reaches the model; None in the direct mode.
        direct: How it reaches the model without a relay.
        wire: What it speaks.
        idle_s: Working seconds without a sign of life after which it is ended.
        clock: Monotonic seconds.
        network: What it runs may use the network of the machine, so that it has none of its own.
        renew_s: Seconds after which a token in a program's home is looked at.
    """

    cli: AgentCli
    confinement: Confinement
    relay: Relay | None
    direct: Callable[[], Awaitable[Access]] | None
    wire: Wire
    idle_s: float
    clock: Callable[[], float]
    network: bool = False
    renew_s: float = KEY_S / 2

    async def run(self, place: Workspace, assignment: Assignment, visit: Visit, budget: WorkBudget) -> Attempt:
        """Run the program to its end, its time limit or its last request.

        Raises:
            ConfinementError: It could not be started.
        """
        place.put(assignment.files)
        lines = Lines(self.cli.events())
        pulse = _Pulse(self.clock, budget)
        visit.alive = pulse.beat

        def heard(chunk: bytes) -> None:
            pulse.beat()
            lines.feed(chunk)

        async with self._access(visit, place) as (access, door):
            launch = self.cli.launch(place, assignment, access)
            job = replace(self._job(place, assignment, launch), door=door, on_output=heard)
            end, result, owed = await self._watched(job, pulse, visit, budget)
        lines.finish()
        wanted = assignment.answer_file
        file = "" if wanted is None else place.take(wanted, _MOST_ANSWER_BYTES)
        return Attempt(end, lines.events.report, result, file, visit, owed)

    async def _watched(
        self, job: Job, pulse: _Pulse, visit: Visit, budget: WorkBudget
    ) -> tuple[End, ConfinedResult | None, bool]:
        running = asyncio.create_task(self.confinement.run(job))
        over = asyncio.create_task(visit.over.wait())
        idle = asyncio.create_task(pulse.stops(self.idle_s))
        end = End.STOPPED
        try:
            async with budget.enforced() as scope:
                await asyncio.wait([running, over, idle], return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            if not scope.expired():
                raise
            end = End.TIME
        finally:
            owed = visit.open > 0
            finished = running.done() and not running.cancelled()
            if idle.done() and not over.done() and not finished:
                end = End.IDLE
            for task in (running, over, idle):
                task.cancel()
            # What was started has ended when this has: the cancelled run kills it first.
            await asyncio.wait([running, over, idle])
        if not finished:
            return end, None, owed
        result = running.result()
        return (End.EXITED if result.ending is Ending.EXITED else End.LIMIT), result, owed

    @asynccontextmanager
    async def _access(self, visit: Visit, place: Workspace) -> AsyncIterator[tuple[Access, Door | None]]:
        """Yield how the program reaches the model, and the door that leads to the relay."""
        if self.relay is None:
            assert self.direct is not None
            access = await self.direct()
            renewing = asyncio.create_task(self._renewed(place, access))
            try:
                yield access, None
            finally:
                renewing.cancel()
            return
        relay, servers = self.relay, list[asyncio.Server]()

        async def opened(listener: socket.socket) -> None:
            servers.append(await relay.serve(listener))

        own_network = self.confinement.confined and not self.network
        port = PORT if own_network else await relay.shared_port()
        relay.admit(visit)
        try:
            url = f"http://127.0.0.1:{port}/{visit.nonce}"
            header = "authorization" if self.wire is Wire.RESPONSES else "x-api-key"
            suffix = "/v1" if self.wire is Wire.RESPONSES else ""
            yield Access(url + suffix, DUMMY_KEY, header), Door(PORT, opened) if own_network else None
        finally:
            await relay.dismiss(visit)
            for server in servers:
                server.close()

    async def _renewed(self, place: Workspace, access: Access) -> None:
        """Keep the token that a program reads a current one."""
        assert self.direct is not None
        while access.fleeting:
            await asyncio.sleep(self.renew_s)
            with suppress(Unavailable):  # the old one may still do; if not, the service says so
                place.renew_home(KEY_FILE, (await self.direct()).key)

    def _job(self, place: Workspace, assignment: Assignment, launch: Launch) -> Job:
        mounts = [
            *launch.mounts,
            Mount(place.work, place.work_inside, writable=True),
            Mount(place.home, place.home_inside, writable=True),
        ]
        env = dict(launch.env)
        hidden = launch.hidden
        if assignment.python:
            python = this_python()
            known = {mount.inside for mount in mounts}
            mounts += [mount for mount in python.mounts if mount.inside not in known]
            env = {**env, **python.env, "PATH": f"{Path(python.argv[0]).parent}:/usr/local/bin:/usr/bin:/bin"}
            hidden = python.hidden
        network = self.network or self.relay is None
        if network and self.confinement.confined:
            mounts += [Mount(path) for path in map(Path, _NETWORK) if path.is_file()]
        return Job(
            launch.argv,
            place.work_inside,
            agent_limits(),
            tuple(mounts),
            hidden=hidden,
            env=env,
            stdin=launch.stdin,
            scratch_bytes=SCRATCH_BYTES,
            network=network,
        )
