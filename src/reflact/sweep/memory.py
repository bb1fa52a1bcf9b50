"""How much memory is free here."""

from __future__ import annotations

from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")
_GB = 1024**3


def free_memory_gb(meminfo: Path = Path("/proc/meminfo"), cgroup: Path = _CGROUP) -> float | None:
    """Return the gigabytes that new processes may take, a container's limit included; None where nobody says."""
    found = [value for value in (_available(meminfo), _left_in_cgroup(cgroup)) if value is not None]
    return min(found) / _GB if found else None


def _available(meminfo: Path) -> int | None:
    try:
        lines = meminfo.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _left_in_cgroup(cgroup: Path) -> int | None:
    try:
        most = (cgroup / "memory.max").read_text(encoding="ascii").strip()
        used = int((cgroup / "memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
    return None if most == "max" else max(0, int(most) - used)
