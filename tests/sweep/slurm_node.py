"""A Slurm of one node on this machine, all of it in one folder: it stands beside any other Slurm and leaves nothing.

The daemons stay in the foreground as children of the tests, so that they end with them.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "sinfo")
_PATIENCE_S = 60.0
_CONF = """\
ClusterName=reflact-tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=30
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=2000 State=UNKNOWN
PartitionName=debug Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Say what is not there for a Slurm of one's own; `""` if everything is."""
    if os.geteuid() != 0:
        return "root, to start a Slurm of one node"
    lacking = [program for program in PROGRAMS if _program(program) is None]
    return f"{', '.join(lacking)} (apt-get install slurm-wlm munge)" if lacking else ""


class SlurmNode:
    """A running Slurm; `env` is what its commands need in their environment.

    Args:
        folder: An empty folder with a short path: a socket lies in it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._daemons: list[subprocess.Popen[bytes]] = []
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}

    def start(self) -> None:
        """Start the daemons and wait until the node takes jobs."""
        folder = self._folder
        for name in ("state", "spool"):
            (folder / name).mkdir()
        controller, daemon = _free_ports(2)
        host = socket.gethostname().split(".")[0]
        text = _CONF.format(host=host, folder=folder, controller=controller, daemon=daemon)
        (folder / "slurm.conf").write_text(text, encoding="utf-8")
        (folder / "munge.key").write_bytes(secrets.token_bytes(128))
        (folder / "munge.key").chmod(0o600)
        # Its default places belong to a user of its own; its socket is open to all, which the folder must allow.
        folder.chmod(0o755)
        places = [f"--{what}-file={folder}/munge.{what}" for what in ("key", "pid", "log", "seed")]
        self._daemon("munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *places)
        self._until(lambda: (folder / "munge.socket").exists(), "the socket of munged")
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D")
        self._until(lambda: self.run("sinfo", "-h", "-t", "idle", "-o", "%D") == "1", "an idle node")

    def stop(self) -> None:
        """End everything that was started, jobs first."""
        with suppress(subprocess.SubprocessError, OSError):
            self.run("scancel", "--quiet", "--user=root")
            self._until(lambda: not self.queued(), "the end of all jobs")
        for daemon in reversed(self._daemons):
            daemon.terminate()
        for daemon in self._daemons:
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def lose_controller(self) -> None:
        """End the process that knows of the jobs, for good; what runs goes on."""
        controller = self._daemons[1]
        controller.kill()
        controller.wait()

    def run(self, *words: str) -> str:
        """Run one of Slurm's commands; return what it prints, `""` if it fails."""
        done = subprocess.run(words, env={**os.environ, **self.env}, capture_output=True, timeout=60)
        return done.stdout.decode("utf-8").strip() if done.returncode == 0 else ""

    def queued(self) -> dict[str, str]:
        """Return the states of the jobs that have not ended, by their numbers."""
        lines = self.run("squeue", "-h", "-r", "-o", "%i %T").splitlines()
        return dict(line.split() for line in lines)

    def state(self, job: str) -> str:
        """Return the state of a job, also of one that has ended a moment ago."""
        text = self.run("scontrol", "show", "job", job, "--oneliner")
        return text.partition("JobState=")[2].partition(" ")[0]

    def _daemon(self, program: str, *words: str) -> None:
        path = _program(program)
        assert path is not None
        log = self._folder / f"{program}.out"
        with log.open("wb") as out:
            self._daemons.append(
                subprocess.Popen(
                    [path, *words],
                    env={**os.environ, **self.env},
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=out,
                    start_new_session=True,
                )
            )

    def _until(self, met: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not met():
            if time.monotonic() > deadline:
                logs = (
                    path.read_text("utf-8", "replace")[-1500:] for path in sorted(self._folder.glob("*.[lo][ou][gt]"))
                )
                raise RuntimeError(f"{what} never came:\n" + "\n".join(logs))
            time.sleep(0.2)


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
