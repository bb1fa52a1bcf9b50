"""The table of a group: its rows, its numbers, what stands in empty cells."""

import json
import shutil

import pytest
from scipy.stats import binomtest

from reflact.engine.stats import bootstrap_mean
from reflact.report.tables.paired import bootstrap, holm, spread
from tests.report.tables.made import BEFORE, BETTER, LR8, Made, point, write_plan, write_rows
from tests.report.tables.reading import grids, row, text

WORSE = (1, 0, 0, 1, 1, 0, 1, 0, 0, 1)


def lr(value):
    return {**LR8, "optimizer.learning_rate": value}


@pytest.fixture
def root(tmp_path):
    """DEFAULT, two learning rates, and the plan of the table."""
    Made(tmp_path).write()
    Made(tmp_path, "LR-docvqa-8", sets=lr(8), best=WORSE).write()
    Made(tmp_path, "LR-docvqa-1", sets=lr(1)).write()
    write_plan(
        tmp_path,
        *(point(f"LR-docvqa-{value}") for value in (1, 2, 8)),
        point("LR-docvqa-4", "skip", why="done in /old"),
        point("SCHED-docvqa-linear", "alias", "DEFAULT-docvqa-5.5", "equal budgets"),
        point("SCHED-docvqa-constant", "alias", "LR-docvqa-2"),
    )
    return tmp_path


def test_rows_are_in_the_order_of_the_axis_with_planned_ones_empty(root):
    grid = grids(root)["lr"]
    assert [(raw["value"], raw["state"], raw["fill"]) for raw in grid.raw] == [
        ("1", "done", "measured"), ("2", "planned", ""), ("4", "planned", ""), ("8", "done", "measured"),
    ]  # fmt: skip
    assert text(grid, "2", "best test") == "–"
    assert "docvqa 4: done in /old" in grid.notes


def test_every_number_has_n_and_an_interval(root):
    grid = grids(root)["lr"]
    assert text(grid, "8", "best test") == "0.500 [0.237, 0.763] n=10"
    assert text(grid, "8", "best selection").endswith("n=5")
    assert text(grid, "8", "best - baseline on test").startswith("+0.200 [")
    assert text(grid, "8", "best - baseline on test").endswith("n=10 noise")
    assert not text(grid, "1", "best - baseline on test").endswith("noise")
    assert text(grid, "8", "accepted steps") == "3/16"
    assert text(grid, "8", "cost") == "$1.50"
    assert text(grid, "8", "run") == "LR-docvqa-8"


def test_differences_from_the_default_are_paired_by_item(root):
    raw = row(grids(root)["lr"], "8")
    differences = [b - a for a, b in zip(BETTER, WORSE, strict=True)]
    assert raw["delta_default"] == sum(differences) / 10 and raw["delta_default_n"] == 10
    assert raw["delta_default_low"] == pytest.approx(bootstrap_mean(differences).low, abs=0.101)
    assert raw["delta_default_p"] == pytest.approx(binomtest(4, 4).pvalue)
    assert raw["delta_default_noise"] == "false"


def test_items_that_only_one_side_has_are_no_pairs(root):
    run = Made(root, "LR-docvqa-16", sets=lr(16))
    path = run.write()
    (path / "test/best/results.jsonl").unlink()
    (path / "test/best").rmdir()
    write_rows(path / "test/best", [*BETTER, 1, 1])
    assert row(grids(root)["lr"], "16")["delta_default_n"] == 10


def test_p_values_are_corrected_over_the_table_with_each_comparison_once(root):
    raws = {raw["value"]: raw for raw in grids(root)["lr"].raw if raw["delta_p"] is not None}
    expected = holm([raws["1"]["delta_p"], raws["8"]["delta_p"]])
    assert [raws["1"]["delta_p_holm"], raws["8"]["delta_p_holm"]] == expected
    sched = grids(root)["sched"]
    assert row(sched, "linear")["delta_p_holm"] == row(sched, "cosine")["delta_p_holm"] == raws["1"]["delta_p"]


def test_the_default_is_reused_and_aliases_point_at_their_run(root):
    grid = grids(root)["sched"]
    assert [raw["value"] for raw in grid.raw] == ["cosine", "constant", "linear"]
    assert text(grid, "cosine", "state") == "done, reused"
    assert text(grid, "linear", "run") == "= DEFAULT-docvqa-5.5"
    assert row(grid, "linear")["best_test"] == 0.9
    assert text(grid, "constant", "run") == "= LR-docvqa-2"
    assert text(grid, "constant", "state") == "planned"
    assert "docvqa linear: equal budgets" in grid.notes


def test_an_alias_of_another_axis_is_judged_at_its_own(root):
    Made(root, "LR-docvqa-4", sets=lr(4)).write()
    write_plan(root, point("SCHED-docvqa-constant", "alias", "LR-docvqa-4"))
    assert row(grids(root)["sched"], "constant")["fill"] == "alias"


def test_without_a_plan_what_is_there_is_shown(root):
    (root / "plan.json").unlink()
    assert [raw["value"] for raw in grids(root)["lr"].raw] == ["1", "8"]
    assert "sched" not in grids(root)


def test_a_missing_default_is_said(tmp_path):
    Made(tmp_path, "BATCH-docvqa-8", sets={"train.batch_size": 8}).write()
    grid = grids(tmp_path)["batch"]
    assert text(grid, "40", "run") == "–"
    assert "docvqa 40: there is no DEFAULT-docvqa run" in grid.notes


def test_half_written_runs_show_their_state(root):
    Made(root, "LR-docvqa-2", sets=lr(2)).write(complete=False)
    stopped = Made(root, "LR-docvqa-16", sets=lr(16))
    stopped.events.append({"t": 2.0, "kind": "run_stopped", "state": "stopped", "cause": "budget", "message": "m"})
    stopped.write(complete=False)
    grid = grids(root)["lr"]
    assert text(grid, "16", "state") == "stopped (budget)"
    assert row(grid, "2")["state"] in ("stopped", "stale") and row(grid, "2")["best_test"] is None


def test_the_ledger_tells_of_runs_without_a_directory(root):
    (root / "ledger").mkdir()
    lines = [
        {"t": 1.0, "run_id": "LR-docvqa-2", "state": "running"},
        {"t": 2.0, "run_id": "LR-docvqa-2", "state": "failed", "cause": "killed"},
        {"t": 3.0, "run_id": "LR-docvqa-1", "state": "failed"},
    ]
    (root / "ledger" / "h.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    grid = grids(root)["lr"]
    assert text(grid, "2", "state") == "failed (killed)"
    assert text(grid, "1", "state") == "done"


def test_repeats_are_a_mean_with_its_spread_and_never_the_maximum(root):
    Made(root, "seed7", sets=lr(8), best=BETTER, seed=7).write()
    grid = grids(root)["lr"]
    raw = row(grid, "8")
    assert (raw["runs"], raw["seeds"]) == (2, "7 42")
    assert raw["best_test"] == pytest.approx(0.7)
    assert raw["best_test_sd"] == spread([0.5, 0.9])
    assert text(grid, "8", "best test").startswith("0.700 ± 0.283 (2 runs) [")
    assert raw["delta"] == pytest.approx(0.4) and raw["delta_n"] == 10
    assert "docvqa 8: mean and standard deviation of 2 runs (train.seed 7, 42)." in grid.notes


def test_an_experiment_that_differs_elsewhere_is_no_repeat(root):
    Made(root, "mine", sets={**lr(8), "train.num_epochs": 2}, seed=7).write()
    assert row(grids(root)["lr"], "8")["runs"] == 1


def test_a_sweep_over_seeds_alone_is_a_default_with_its_spread(tmp_path):
    for seed, best in ((1, BETTER), (2, WORSE), (3, BETTER)):
        Made(tmp_path, f"docvqa-train.seed={seed}", best=best, seed=seed, sets={"train.num_epochs": 1}).write()
    raw = row(grids(tmp_path)["default"], "5.5")
    assert (raw["runs"], raw["seeds"]) == (3, "1 2 3")
    assert raw["best_test"] == pytest.approx((0.9 + 0.5 + 0.9) / 3)


def test_repeats_without_a_default_are_all_shown_below(tmp_path):
    for seed in (1, 2):
        Made(tmp_path, f"docvqa-lr8-{seed}", sets=lr(8), seed=seed).write()
    grid = grids(tmp_path)["lr"]
    assert len(grid.invalid) == 2 and row(grid, "8")["best_test"] is None


def test_the_highest_test_score_is_shown_only_when_asked_for_and_labelled(root):
    assert not any("HIGHEST" in column for column in grids(root)["lr"].columns)
    grid = grids(root, test_max=True)["lr"]
    assert text(grid, "8", "HIGHEST TEST SCORE (chosen on test)") == "0.500"
    assert row(grid, "8")["highest_test_chosen_on_test"] == 0.5


def test_joined_axes_have_a_table_of_their_own(root):
    Made(root, "LR-docvqa-8+BATCH-docvqa-24", sets={**lr(8), "train.batch_size": 24}).write()
    assert row(grids(root)["lr+batch"], "8+24")["fill"] == "measured"


def test_a_run_that_is_found_twice_or_was_copied_counts_once(root, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    shutil.copytree(root / "LR-docvqa-8", elsewhere / "LR-docvqa-8")
    assert row(grids(root, root / "LR-docvqa-8", elsewhere)["lr"], "8")["runs"] == 1


def test_agents_are_compared_with_the_default_setting_on_the_source_skill(tmp_path):
    for run_id, sets in (("HARNESS-BESTSKILL-searchqa-codex", {}), ("HARNESS-Codex-SearchQA-lr8", lr(8))):
        Made(tmp_path, run_id, sets=sets, benchmark="searchqa").write()
    write_plan(tmp_path, point("HARNESS-Codex-SearchQA-lr16", benchmark="searchqa"))
    grid = grids(tmp_path)["harness-codex"]
    assert [(raw["value"], raw["fill"]) for raw in grid.raw] == [
        ("default", "reused"),
        ("lr8", "measured"),
        ("lr16", ""),
    ]
    assert row(grid, "lr8", "searchqa")["delta_default"] == 0


def test_bootstrap_of_counts_is_that_of_items():
    differences = [b - a for a, b in zip(BEFORE, BETTER, strict=True)] * 20
    fast, slow = bootstrap(differences), bootstrap_mean(differences)
    assert fast.low == pytest.approx(slow.low, abs=0.01) and fast.high == pytest.approx(slow.high, abs=0.01)
    assert bootstrap([]) is None and bootstrap([0.0]).low == 0.0
    assert bootstrap([i / 100 for i in range(100)]) == bootstrap_mean([i / 100 for i in range(100)])


def test_holm_is_holm():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == [] and holm([0.6, 0.9]) == [1.0, 1.0]
