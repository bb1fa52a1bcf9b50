"""Which code made a result."""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

import reflact

_SUFFIXES = frozenset({".py", ".md", ".yaml"})


def code_version(package: Path | None = None) -> str:
    """Return the package's version and a short hash of its sources: `0.1.0+3f2a9c41d0e7`.

    The hash covers names and bytes of all `.py`, `.md` and `.yaml` files of the package, so that it is the same for
    equal sources wherever they are installed. `conf/` is left out: in a wheel it is inside the package, in a checkout
    beside it, and what it sets is in the run's configuration anyway. Takes some milliseconds; callers keep the result.

    Args:
        package: Folder of the sources; by default this package's.
    """
    root = Path(reflact.__file__).parent if package is None else package
    sources = sorted(
        (path.relative_to(root).as_posix(), path)
        for path in root.rglob("*")
        if path.suffix in _SUFFIXES and path.is_file() and path.relative_to(root).parts[0] != "conf"
    )
    total = hashlib.sha256()
    for name, path in sources:
        data = path.read_bytes()
        total.update(f"{name}\0{len(data)}\0".encode())
        total.update(data)
    return f"{metadata.version('reflact')}+{total.hexdigest()[:12]}"
