"""The table of a sweep over keys that are no axis of the study."""

import json

import pytest

from tests.report.tables.made import BETTER, Made, point
from tests.report.tables.reading import grids, row

WORSE = (1, 0, 0, 1, 1, 0, 1, 0, 0, 1)
EPOCHS = "train.num_epochs"


def plan(root, *points, swept=(EPOCHS,)):
    points = [{**each, "group": "GRID"} for each in points]
    (root / "plan.json").write_text(json.dumps({"plan": "grid", "swept": list(swept), "points": points}))


def name(epochs):
    return f"docvqa-{EPOCHS}={epochs}"


def test_each_point_of_a_grid_is_a_row_also_without_a_default(tmp_path):
    Made(tmp_path, name(2), sets={EPOCHS: 2}).write()
    Made(tmp_path, name(3), sets={EPOCHS: 3}, best=WORSE).write()
    plan(
        tmp_path,
        *(point(name(epochs)) for epochs in (2, 3, 6)),
        point(name(9), "alias", name(3), "computes the same"),
    )
    grid = grids(tmp_path)["grid"]
    assert [(raw["value"], raw["state"], raw["fill"]) for raw in grid.raw] == [
        (f"{EPOCHS}=2", "done", "measured"),
        (f"{EPOCHS}=3", "done", "measured"),
        (f"{EPOCHS}=6", "planned", ""),
        (f"{EPOCHS}=9", "done", "alias"),
    ]
    assert grid.invalid == ()
    assert row(grid, f"{EPOCHS}=3")["delta"] == pytest.approx(0.2)


def test_a_default_among_its_points_is_what_they_are_compared_with(tmp_path):
    Made(tmp_path).write()
    Made(tmp_path, name(2), sets={EPOCHS: 2}, best=WORSE).write()
    plan(tmp_path, point(name(2)))
    grid = grids(tmp_path)["grid"]
    assert [(raw["value"], raw["fill"]) for raw in grid.raw] == [("default", "reused"), (f"{EPOCHS}=2", "measured")]
    assert row(grid, f"{EPOCHS}=2")["delta_default"] == pytest.approx(-0.4)


def test_a_run_that_differs_in_more_than_what_was_swept_is_left_out(tmp_path):
    Made(tmp_path, name(2), sets={EPOCHS: 2}).write()
    Made(tmp_path, name(3), sets={EPOCHS: 3, "train.batch_size": 8}).write()
    plan(tmp_path, point(name(2)), point(name(3)))
    grid = grids(tmp_path)["grid"]
    (left_out,) = grid.raw_invalid
    assert left_out["run_id"] == name(3) and "train.batch_size: 40" in left_out["reasons"]


def test_a_swept_setting_of_a_model_is_no_difference(tmp_path):
    key = "model.student_reasoning_effort"
    runs = [Made(tmp_path, f"docvqa-{key}={effort}", sets={key: effort}, best=BETTER) for effort in ("low", "high")]
    for run, effort in zip(runs, ("low", "high"), strict=True):
        run.record["models"]["student"]["settings"] = {"reasoning_effort": effort}
        run.write()
    plan(tmp_path, *(point(run.record["run_id"]) for run in runs), swept=(key,))
    assert grids(tmp_path)["grid"].invalid == ()


def test_seeds_beside_another_key_are_repeats_of_its_points(tmp_path):
    """Their mean and spread are shown, never the better one; seeds alone are repeats of the default."""
    names = {}
    for seed, best in ((1, BETTER), (2, WORSE)):
        names[seed] = f"docvqa-{EPOCHS}=2-train.seed={seed}"
        Made(tmp_path, names[seed], sets={EPOCHS: 2}, seed=seed, best=best).write()
        Made(tmp_path, f"docvqa-train.seed={seed}", seed=seed).write()
    plan(tmp_path, *(point(run_id) for seed in (1, 2) for run_id in (names[seed], f"docvqa-train.seed={seed}")))
    made = grids(tmp_path)
    assert [(raw["value"], raw["runs"], raw["seeds"]) for raw in made["grid"].raw] == [
        ("default", 2, "1 2"),
        (f"{EPOCHS}=2", 2, "1 2"),
    ]
    repeated = row(made["grid"], f"{EPOCHS}=2")
    assert repeated["best_test"] == pytest.approx(0.7) and repeated["best_test_sd"] == pytest.approx(0.2828, abs=1e-3)
    assert row(made["default"], "5.5")["runs"] == 2
