"""The named plans: their counts, their ids, which points are one run."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from reflact.config.identity import effective
from reflact.config.operation import SweepConfig
from reflact.config.run_id import axis_id
from reflact.core.errors import ConfigError, Unavailable
from reflact.sweep.normal import normal_form
from reflact.sweep.planned import PointState
from reflact.sweep.planner import Planner
from reflact.sweep.show import plan_text
from reflact.sweep.sizes import DataShelf, published_sizes
from tests.sweep.support import BENCHMARKS, aliases, plan, points, runs, shared_composer, source_skills

HARNESS_RUNS = Path(__file__).parents[3] / "shared" / "spec" / "harness-runs.tsv"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("tables", 140),
        ("tables_all", 160),
        ("ablation_fill", 72),
        ("batch_table", 20),
        ("longpair", 8),
        ("lrctrl", 8),
        ("harness_step1", 18),
        ("harness_step2", 18),
        ("harness_step3", 66),
        ("no_skill", 5),
        ("harness_default", 16),
        ("paper", 283),
        ("[ablation_fill,batch_table]", 92),
    ],
)
def test_a_plan_has_its_points(name: str, count: int) -> None:
    assert len(points(name)) == count


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_tables_of_one_benchmark(benchmark: str) -> None:
    expected = {"searchqa": 27, "docvqa": 27, "spreadsheetbench": 26, "livemathematicianbench": 24, "alfworld": 24}
    planned = plan("tables", [benchmark])
    assert len(planned) == 28 and len(runs(planned)) == expected[benchmark]
    assert aliases(planned)[f"SCHED-{benchmark}-constant"] == f"LR-{benchmark}-4"
    small = benchmark in ("livemathematicianbench", "alfworld")
    if small:
        assert aliases(planned)[f"BATCH-{benchmark}-full"] == f"DEFAULT-{benchmark}-5.5"
    assert (f"SCHED-{benchmark}-linear" in aliases(planned)) == (small or benchmark == "spreadsheetbench")


def test_equal_points_run_once_and_the_first_one_where_the_default_is_not_in_the_plan() -> None:
    assert len(runs(plan("ablation_fill"))) == 67
    batches = plan("batch_table")
    assert len(runs(batches)) == 18
    assert aliases(batches) == {
        f"BATCH-{name}-full": f"BATCH-{name}-56" for name in ("livemathematicianbench", "alfworld")
    }
    assert len(runs(plan("batch_table", keep_duplicates=True))) == 20


def test_ids_are_those_of_single_runs() -> None:
    composer = shared_composer()
    for point in points("tables_all", ["docvqa"]):
        config = composer.compose(point.overrides)
        assert axis_id(config, composer.compose(["benchmark=docvqa"])) == point.run_id


def test_harness_runs_are_the_listed_ones_id_by_id() -> None:
    if not HARNESS_RUNS.exists():
        pytest.skip(f"absent: {HARNESS_RUNS}")
    composer, shelf = shared_composer(), DataShelf()

    def form(lines: list[str]) -> dict[str, object]:
        config = composer.compose(lines)
        facts = shelf.facts(config)
        return {**normal_form(config, facts.sizes, "skill", "train"), "split": facts.split}

    with HARNESS_RUNS.open(encoding="utf-8", newline="") as file:
        listed = [row[:3] for row in list(csv.reader(file, delimiter="\t"))[1:]]
    assert len(listed) == 102
    steps = ("harness_step1", "harness_step2", "harness_step3")
    ours = {(name, point.run_id): point for name in steps for point in points(name)}
    assert set(ours) == {(name, run_id) for name, run_id, _ in listed}
    for name, run_id, overrides in listed:
        point = ours[name, run_id]
        assert point.source_skill
        split = ["env.split=10pct"] if "benchmark=docvqa" in overrides else []
        assert form(list(point.overrides)) == form([*overrides.split(), *split]), run_id
        workers = [line for line in point.overrides if line.startswith("env.workers")]
        assert workers == [line for line in overrides.split() if line.startswith("env.workers")]


def test_a_harness_plan_needs_one_source_skill_a_benchmark(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"source skill of searchqa.*sweep.source_skills"):
        plan("harness_step1")
    assert len(runs(plan("harness_step1", source_skills=source_skills(tmp_path)))) == 17
    assert len(runs(plan("harness_step1", rehearse=True))) == 17


def test_a_plan_with_other_points_too_leaves_out_those_that_lack_their_skill(tmp_path: Path) -> None:
    planned = plan("harness_default")
    assert [name for name in runs(planned) if "BESTSKILL" in name] == []
    assert len(runs(planned)) == 8
    assert all("source skill" in entry.why for entry in planned if "BESTSKILL" in entry.point.run_id)
    assert len(runs(plan("harness_default", source_skills=source_skills(tmp_path)))) == 16


def test_no_skill_is_an_evaluation_on_test() -> None:
    (entry,) = plan("no_skill", ["docvqa"])
    assert entry.point.run_id == "skill-none-docvqa-5.5" and entry.point.command == "evaluate"
    assert entry.estimate is not None and entry.estimate.calls == 3744


def test_only_and_exclude_take_ids_that_exist() -> None:
    assert runs(plan("tables", ["docvqa"], only=["LR-docvqa-8"])) == ["LR-docvqa-8"]
    assert "LR-docvqa-8" not in runs(plan("longpair", exclude=["LONGPAIR-docvqa-changed"]))
    with pytest.raises(ConfigError, match=r"LR-docvqa-9.*did you mean LR-docvqa"):
        plan("tables", ["docvqa"], only=["LR-docvqa-9"])


def test_an_alias_that_is_asked_for_alone_is_run() -> None:
    assert runs(plan("tables", ["docvqa"], only=["SCHED-docvqa-constant"])) == ["SCHED-docvqa-constant"]


def test_the_command_line_narrows_and_fixes() -> None:
    planned = plan("tables", ["docvqa"], ["optimizer.learning_rate=8"])
    fixed = {entry.point.run_id: entry.why for entry in planned if entry.point.fixed}
    assert fixed["LR-docvqa-4"] == "the command line sets optimizer.learning_rate=8" and "LR-docvqa-8" not in fixed
    joint = [point.run_id for point in points("batch_table", ["docvqa"], ["ablation/lr=lr8"])]
    assert joint[0] == "LR-docvqa-8+BATCH-docvqa-8"
    assert points("tables", ["docvqa"], ["model.student=other"])[0].run_id == "DEFAULT-docvqa-other"


def test_a_benchmark_that_is_not_in_the_plan_is_an_error_unless_the_plan_is_open() -> None:
    assert len(points("tables", ["orders"])) == 28
    with pytest.raises(ConfigError, match="no point for benchmark=orders"):
        points("longpair", ["orders"])


@pytest.mark.parametrize("index", [0, 7, 20])
def test_a_planned_configuration_is_what_hydra_composes(index: int) -> None:
    entry = plan("tables", ["spreadsheetbench"])[index]
    from reflact.config.compose import typed

    assert entry.config is not None
    composed = typed(shared_composer().raw(entry.point.overrides))
    assert effective(entry.config) == effective(composed) and entry.config == composed


def test_sizes_are_the_published_ones_where_there_are_no_data() -> None:
    def sizes(*overrides: str) -> list[int] | None:
        found = published_sizes(shared_composer().compose(overrides))
        return None if found is None else list(found.values())

    assert sizes("benchmark=searchqa") == [400, 200, 1400]
    assert sizes("benchmark=docvqa", "env.split=10pct") == [107, 53, 374]
    assert sizes("benchmark=alfworld", "env.split=4-1-5") == [82, 18, 103]
    assert sizes("benchmark=livemathematicianbench", "env.split_dir=x/1-1-8_seed42") == [18, 18, 141]
    assert sizes("benchmark=orders") is None
    (entry, *_) = plan("longpair", ["docvqa"])
    assert entry.facts is not None and "no split folder" in entry.facts.missing


def test_what_older_results_tell_is_not_planned_again(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text(
        "group,benchmark,value,best_test,best_selection\n"
        "DEFAULT,livemathematicianbench,5.5,0.5,\n"
        "LR,livemathematicianbench,4,0.5,\n"
        "LR,livemathematicianbench,8,,0.5\n",
        encoding="utf-8",
    )
    planned = plan("tables", ["livemathematicianbench"], imports=str(table))
    left_out = {entry.point.run_id: entry.why for entry in planned if entry.state is PointState.SKIP}
    assert left_out == {
        "DEFAULT-livemathematicianbench-5.5": f"imported from {table}",
        "LR-livemathematicianbench-4": f"imported from {table}",
    }
    # The one without a test score is no result; what equals a result is its alias.
    assert "LR-livemathematicianbench-8" in runs(planned)
    same = aliases(planned)
    assert same["BATCH-livemathematicianbench-full"] == "DEFAULT-livemathematicianbench-5.5"
    assert same["SCHED-livemathematicianbench-constant"] == "LR-livemathematicianbench-4"


def test_older_results_that_spare_no_run_are_told_before_anything_starts(tmp_path: Path) -> None:
    table = tmp_path / "results.csv"
    table.write_text(
        "group,benchmark,value,best_test,best_selection\n"
        "LRS,docvqa,8,0.5,\nLR,docvqa,lr8,0.5,\nLR,docvqa,2,,0.5\nLR,docvqa,16,0.5,\n",
        encoding="utf-8",
    )
    planner = Planner(shared_composer(), SweepConfig(imports=str(table), exclude=["LR-docvqa-16"]), [], "code")
    planned = planner.plan(points("tables", ["docvqa"]), Path("root"))
    text = plan_text("tables", planned, planner.notes, rehearse=False)
    assert f"note: results in {table} of no point of this plan: LRS-docvqa-8, LR-docvqa-lr8\n" in text
    assert f"note: results in {table} without a score on test (best_test), so that they are run: LR-docvqa-2\n" in text


def test_data_that_are_not_there_are_told_once_a_benchmark() -> None:
    text = plan_text("tables", plan("tables", ["docvqa", "searchqa"]), rehearse=False)
    notes = [line for line in text.splitlines() if line.startswith("note: ")]
    assert [note.split(", since")[0] for note in notes] == [
        "note: docvqa: the published counts 1070/535/3744 (2-1-7), 1/1/5347 (1shot), 535/535/4279 (1-1-8), "
        "2140/535/2674 (4-1-5)",
        "note: searchqa: the published counts 400/200/1400 (2-1-7), 1/1/1998 (1shot), 200/200/1600 (1-1-8), "
        "800/200/1000 (4-1-5)",
    ]


def test_a_plan_can_be_looked_at_without_what_reads_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    shown = plan("longpair", ["docvqa", "searchqa"], dry_run=True)
    text = plan_text("longpair", shown, rehearse=False)
    assert "since the data cannot be read here: " in text and "reflact[docvqa]" in text
    assert {entry.point.benchmark for entry in shown if entry.estimate is not None} == {"docvqa", "searchqa"}
    with pytest.raises(Unavailable, match=r"reflact\[docvqa\]"):
        plan("longpair", ["docvqa"])


def test_a_rehearsal_is_estimated_at_the_prices_at_which_it_is_counted() -> None:
    line = "pricing.models={gpt-5.5:{prompt:1,completion:1}}"
    paid, free = (
        plan(
            "longpair", ["docvqa"], (f"++{line}", f"model.student_backend={backend}", f"model.teacher_backend={other}")
        )
        for backend, other in (("rehearsal", "rehearsal"), ("local", "template"))
    )
    costs = [entry.estimate.cost_usd for entry in (*paid, *free) if entry.estimate is not None]
    assert len(costs) == 4 and all(cost and cost > 0 for cost in costs[:2]) and costs[2:] == [0.0, 0.0]
