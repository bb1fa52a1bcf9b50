from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from reflact.benchmarks.protocol import Benchmark
from reflact.testing import BenchmarkConformance

from .support import make


def copy_of_the_sample(name: str, folder: Path) -> Path:
    """Lay the packaged sample out as a split folder."""
    for part in ("train", "val", "test"):
        (folder / part).mkdir(parents=True)
        with as_file(files(f"reflact.benchmarks.{name}").joinpath("sample", f"{part}.json")) as path:
            shutil.copy(path, folder / part / "items.json")
    return folder


class TestSearchQA(BenchmarkConformance):
    def make_benchmark(self) -> Benchmark:
        return make("searchqa", sample=True)

    def make_moved_benchmark(self, folder: Path) -> Benchmark:
        return make("searchqa", split_dir=str(copy_of_the_sample("searchqa", folder)))


class TestLiveMathematicianBench(BenchmarkConformance):
    def make_benchmark(self) -> Benchmark:
        return make("livemathematicianbench", sample=True)

    def make_moved_benchmark(self, folder: Path) -> Benchmark:
        return make("livemathematicianbench", split_dir=str(copy_of_the_sample("livemathematicianbench", folder)))
