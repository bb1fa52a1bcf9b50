from __future__ import annotations

import json
from pathlib import Path

from openpyxl import load_workbook

from reflact.benchmarks.spreadsheetbench.families import FAMILIES
from reflact.benchmarks.spreadsheetbench.rehearsal import RULES
from reflact.benchmarks.spreadsheetbench.sample_maker import SIZES, make
from reflact.core.names import Part

from ..support import make as benchmark_named

SHIPPED = Path(__file__).parents[3] / "src" / "reflact" / "benchmarks" / "spreadsheetbench" / "sample"


def cells(path: Path) -> dict[str, list[tuple[object, ...]]]:
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in load_workbook(path)}


def test_what_ships_is_what_the_maker_makes(tmp_path: Path) -> None:
    make(tmp_path)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert made == sorted(path.relative_to(SHIPPED) for path in SHIPPED.rglob("*") if path.is_file())
    for name in made:
        if name.suffix == ".xlsx":
            assert cells(tmp_path / name) == cells(SHIPPED / name)


def test_the_sample_is_small_and_every_family_is_in_every_part_or_nearly() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.rglob("*.xlsx")) < 500_000
    for part, size in SIZES.items():
        records = json.loads((SHIPPED / f"{part}.json").read_text(encoding="utf-8"))
        assert len(records) == size
        assert len({entry["rehearsal"] for entry in records}) >= min(size, len(FAMILIES)) - 1
    split = benchmark_named("spreadsheetbench", sample=True).load()
    assert {len(item.data["cases"]) for part in Part for item in split.parts[part]} == {1, 3}


def test_the_initial_skill_holds_no_hidden_rule() -> None:
    skill = benchmark_named("spreadsheetbench", sample=True).initial_skill()
    assert not [rule for rule in RULES if rule.text in skill]
