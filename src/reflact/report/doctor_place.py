"""Doctor: interpreter, packages, run directory, disk and memory."""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from reflact.config.schema import Config
from reflact.core.errors import ExitCode
from reflact.report.doctor import Check, failed, ok, warning
from reflact.rundir.refusal import holds, refusal
from reflact.rundir.view import view_run

PACKAGES = ("reflact", "hydra-core", "omegaconf", "openai", "azure-identity", "numpy", "rich")
GB = 1_000_000_000
LOW_DISK_GB, NO_DISK_GB = 2.0, 0.1
RUN_GB, SIMULATOR_GB, AGENT_GB = 0.25, 0.13, 0.3


def check_python() -> Iterator[Check]:
    """Versions, for the record and for bug reports."""
    missing, found = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    text = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}; {', '.join(found)}"
    if missing:
        yield failed("python", f"{text}; not installed: {', '.join(missing)}. Run: pip install reflact")
    else:
        yield ok("python", text)


def check_directory(config: Config) -> Iterator[Check]:
    """The run directory is free, its place can be written and has room. Nothing is written."""
    root = Path(config.env.out_root or "outputs").absolute()
    if config.env.out_root:
        try:
            view = view_run(root)
        except OSError as error:
            yield failed("directory", f"{root}: {error.strerror}; give another place", ExitCode.REFUSED)
            return
        resumable = view.ours and config.run.resume and view.claim.alive is False
        if view.names and not resumable:
            yield failed("directory", refusal(view), ExitCode.REFUSED)
            return
        if resumable:
            yield ok("directory", f"{root} holds {holds(view)}; it will be continued")
    above = root
    while not above.exists():
        above = above.parent
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        yield failed("directory", f"{above} cannot be written: give another place with env.out_root=...")
        return
    free = shutil.disk_usage(above).free / GB
    named = f"{root if config.env.out_root else f'{root}/<run id>/<time>'}, {free:.1f} GB free"
    if free < NO_DISK_GB:
        yield failed("directory", f"{named}: make room, or give another place with env.out_root=...")
    elif free < LOW_DISK_GB:
        yield warning("directory", f"{named}: little room, a long run writes gigabytes of conversations")
    else:
        yield ok("directory", named)


def check_memory(config: Config) -> Iterator[Check]:
    """Free memory against a rough need."""
    need, why = _needed_gb(config)
    free = available_gb()
    if free is None:
        yield warning("memory", f"the system does not say how much is free; about {need:.1f} GB are needed ({why})")
    elif free < need:
        yield warning("memory", f"{free:.1f} GB free, about {need:.1f} GB needed ({why}): lower the number in flight")
    else:
        yield ok("memory", f"{free:.1f} GB free, about {need:.1f} GB needed ({why})")


def _needed_gb(config: Config) -> tuple[float, str]:
    need, why = RUN_GB, "one run"
    if config.benchmark.name == "alfworld":
        need += SIMULATOR_GB * config.env.env_workers
        why += f", env.env_workers={config.env.env_workers}"
    if config.model.student_backend in ("codex_exec", "claude_code_exec"):
        need += AGENT_GB * config.env.workers
        why += f", env.workers={config.env.workers} agents"
    local = [role for role in ("student", "teacher") if getattr(config.model, f"{role}_backend") == "local"]
    if local:
        need += _weights_gb(config)
        why += ", local weights"
    return need, why


def _weights_gb(config: Config) -> float:
    path = Path(config.model.local_path) if config.model.local_path else None
    # Weights are mapped, and the cache of a long context adds about as much for the small models meant here.
    size = path.stat().st_size if path is not None and path.exists() else 0.3 * GB
    return 2 * size / GB


def available_gb(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = Path("/sys/fs/cgroup")) -> float | None:
    """Return the memory that can be had, a container's limit included; None where the system does not say."""
    free: list[float] = []
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                free.append(int(line.split()[1]) * 1024 / GB)
    except (OSError, ValueError, IndexError):
        pass
    try:
        limit = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        if limit != "max":
            used = int((cgroup / "memory.current").read_text(encoding="ascii"))
            free.append(max(0, int(limit) - used) / GB)
    except (OSError, ValueError):
        pass
    return min(free) if free else None
