from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reflact.benchmarks.protocol import Benchmark
from reflact.testing import BenchmarkConformance

from .support import need_bubblewrap, over, three


@pytest.fixture(autouse=True)
def _confined() -> None:
    need_bubblewrap()


class _OverThreeItems(BenchmarkConformance):
    max_items = 1
    mode = "single"

    @pytest.fixture(autouse=True)
    def _data(self, tmp_path: Path) -> None:
        self.root = tmp_path / "data"
        three(self.root)

    def make_benchmark(self) -> Benchmark:
        return over(self.root, split="1shot", mode=self.mode, max_turns=2)

    def make_moved_benchmark(self, folder: Path) -> Benchmark:
        shutil.copytree(self.root, folder / "moved")
        return over(folder / "moved", split="1shot", mode=self.mode, max_turns=2)


class TestSingle(_OverThreeItems):
    """One reply an item."""


@pytest.mark.heavy
class TestMulti(_OverThreeItems):
    """Errors fed back."""

    multi_turn = True
    mode = "multi"
