"""Jobs leave behind what pytest cannot remove by itself: closed folders, and nesting without end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reflact.confine import remove_tree


@pytest.fixture(autouse=True)
def _removed(tmp_path: Path) -> Iterator[None]:
    yield
    remove_tree(tmp_path)
