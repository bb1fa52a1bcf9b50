"""What every benchmark must keep, with a program in the engine's place: all replies, none of its seconds."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reflact.benchmarks.alfworld.tasks import TASK_TYPES
from reflact.benchmarks.protocol import Benchmark
from reflact.testing import BenchmarkConformance

from ..support import write_split
from . import support


class TestALFWorld(BenchmarkConformance):
    multi_turn = True
    max_items = 2

    @pytest.fixture(autouse=True)
    def games(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("reflact.benchmarks.alfworld.benchmark.require_engine", lambda: None)
        self.root = tmp_path_factory.mktemp("games")
        records = {}
        for part in ("train", "val", "test"):
            for kind in TASK_TYPES:
                support.write_game(self.root / part / kind, f"{kind} in {part}")
            records[part] = [
                {"id": f"{part}-{kind}", "gamefile": f"{part}/{kind}/game.tw-pddl", "task_type": kind}
                for kind in TASK_TYPES
            ]
        write_split(self.root / "split", records)

    def benchmark_in(self, root: Path) -> Benchmark:
        return support.benchmark(support.fake_pool(), data_root=str(root), split_dir=str(root / "split"), max_turns=8)

    def make_benchmark(self) -> Benchmark:
        return self.benchmark_in(self.root)

    def make_moved_benchmark(self, folder: Path) -> Benchmark:
        shutil.copytree(self.root, folder / "moved")
        return self.benchmark_in(folder / "moved")
