"""Runs in memory: these tests make thousands of fsync calls, each of which waits for a busy disk."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rundir.trees import MEMORY


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="reflact-test-", dir=MEMORY) as folder:
        yield Path(folder).resolve()
