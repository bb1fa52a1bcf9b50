from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from reflact.core.errors import ConfigError, Unavailable
from reflact.models import local_weights
from reflact.models.local_weights import FILE_NAME, find_weights, require_runtime


def installed(monkeypatch: pytest.MonkeyPatch, folder: Path, content: bytes | None) -> Path:
    """Pretend that the weights' distribution lies in `folder`."""
    path = folder / FILE_NAME
    if content is not None:
        path.write_bytes(content)
    distribution = SimpleNamespace(version="0.1.2", files=[Path(FILE_NAME)], locate_file=lambda file: folder / file)
    monkeypatch.setattr(metadata, "distribution", lambda name: distribution)
    return path


def test_own_file(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"GGUF and more")
    weights = find_weights(str(path))
    assert weights.path == path
    assert weights.sha256 == hashlib.sha256(b"GGUF and more").hexdigest()


def test_own_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"model\.local_path.*no file"):
        find_weights(str(tmp_path / "none.gguf"))


def test_own_file_of_another_kind(tmp_path: Path) -> None:
    path = tmp_path / "own.gguf"
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ConfigError, match="not a GGUF file"):
        find_weights(str(path))


def test_weights_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    with pytest.raises(Unavailable, match="reflact local install") as caught:
        find_weights("")
    assert caught.value.exit_code == 69


def test_distribution_without_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path, None)
    with pytest.raises(Unavailable, match=f"lacks {FILE_NAME}"):
        find_weights("")


def test_file_of_another_size(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path, b"GGUF")
    with pytest.raises(Unavailable, match="4 bytes instead of 98,362,432"):
        find_weights("")


def test_file_with_another_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(monkeypatch, tmp_path, b"GGUF")
    monkeypatch.setattr(local_weights, "SIZE", 4)
    with pytest.raises(Unavailable, match="sha256"):
        find_weights("")


def test_the_right_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = installed(monkeypatch, tmp_path, b"GGUF")
    monkeypatch.setattr(local_weights, "SIZE", 4)
    monkeypatch.setattr(local_weights, "SHA256", hashlib.sha256(b"GGUF").hexdigest())
    assert find_weights("").path == path


def test_runtime_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_weights, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match="reflact local install"):
        require_runtime()
