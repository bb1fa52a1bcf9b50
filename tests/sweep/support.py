"""Making plans without starting anything."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from hydra.types import RunMode
from omegaconf import OmegaConf

from reflact.config.axes import load_axes
from reflact.config.compose import Composer
from reflact.config.operation import SweepConfig
from reflact.sweep.grids import read_grids
from reflact.sweep.planned import Planned, PointState
from reflact.sweep.planner import Planner
from reflact.sweep.points import Expander, Given, Point

BENCHMARKS = ("searchqa", "spreadsheetbench", "livemathematicianbench", "alfworld", "docvqa")


@cache
def shared_composer() -> Composer:
    return Composer()


def points(name: str, benchmarks: Sequence[str] | None = None, overrides: Sequence[str] = ()) -> list[Point]:
    composer, axes = shared_composer(), load_axes()
    node = composer.raw([f"+sweep={name}"], mode=RunMode.MULTIRUN)
    plan = OmegaConf.to_container(node.sweep.plan)
    given = Given(tuple(overrides), None if benchmarks is None else tuple(benchmarks))
    expander = Expander(axes, given, lambda lines: composer.compose(lines).model.student)
    return expander.points(list(read_grids(plan, axes)))


def plan(
    name: str,
    benchmarks: Sequence[str] | None = None,
    overrides: Sequence[str] = (),
    code: str = "code",
    **settings: object,
) -> list[Planned]:
    planner = Planner(shared_composer(), SweepConfig(**settings), [], code)
    return planner.plan(points(name, benchmarks, overrides), Path("root"))


def runs(planned: Sequence[Planned]) -> list[str]:
    return [entry.point.run_id for entry in planned if entry.state is PointState.RUN]


def aliases(planned: Sequence[Planned]) -> dict[str, str | None]:
    return {entry.point.run_id: entry.same_as for entry in planned if entry.state is PointState.ALIAS}


def source_skills(folder: Path) -> str:
    for name in BENCHMARKS:
        (folder / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")
    return str(folder)
