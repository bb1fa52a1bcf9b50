"""The benchmark that docs/benchmarks/adding-a-benchmark.md builds works as it stands there."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.commands import make_split, verify_split
from reflact.benchmarks.protocol import Benchmark
from reflact.config.schema import Config
from reflact.testing import BenchmarkConformance

from .support import write_json

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks" / "adding-a-benchmark.md"
PACKAGE = "my_capitals"
ITEMS = [{"id": f"c{n}", "country": f"Land {n}", "capital": f"Town {n}"} for n in range(12)]


@pytest.fixture(scope="module")
def capitals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("docs") / PACKAGE
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (folder / "prompts").mkdir(parents=True)
    (folder / "__init__.py").write_text("\n\n".join(blocks), encoding="utf-8")
    (folder / "initial.md").write_text("# Capitals\n", encoding="utf-8")
    (folder / "prompts" / "system.md").write_text("<!-- version: 1 -->\nYou know maps.", encoding="utf-8")
    (folder / "prompts" / "student.md").write_text("<!-- version: 1 -->\n$question", encoding="utf-8")
    for n, part in enumerate(("train", "val", "test")):
        write_json(folder / "sample" / f"{part}.json", ITEMS[4 * n : 4 * n + 4])
    sys.path.insert(0, str(folder.parent))
    yield importlib.import_module(PACKAGE)
    sys.path.remove(str(folder.parent))
    sys.modules.pop(PACKAGE)


class TestTheBenchmarkOfThePage(BenchmarkConformance):
    @pytest.fixture(autouse=True)
    def module(self, capitals: Any) -> None:
        self.capitals = capitals

    def make_benchmark(self) -> Benchmark:
        made: Benchmark = self.capitals.TestCapitals().make_benchmark()
        return made


def test_its_splits_can_be_made_and_verified(capitals: Any, tmp_path: Path) -> None:
    source = write_json(tmp_path / "all.json", ITEMS)
    benchmark = capitals.Capitals(Config())
    assert make_split(benchmark, source, tmp_path / "out", split="1-1-1").counts == {"train": 4, "val": 4, "test": 4}
    assert verify_split(benchmark, tmp_path / "out", source=source).problems == ()
