"""`reflact-train --multirun` over a grid."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import run, tree

GRID = (
    *("-m", "harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false"),
    *("ablation/lr=lr2,lr8", "hydra.sweep.dir=study"),
)


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_every_job_gets_a_directory_named_by_its_id(tmp_path: Path, launcher: str) -> None:
    result = run(tmp_path, "reflact-train", *GRID, f"hydra/launcher={launcher}")
    assert result.code == 0, result.err
    for name in ("LR-orders-2", "LR-orders-8"):
        root = tmp_path / "study" / name
        assert (root / "summary.json").exists() and (root / "train.log").exists()
        assert "ablation/lr" in (root / ".hydra" / "overrides.yaml").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_one_used_directory_stops_the_sweep_before_its_first_job(tmp_path: Path) -> None:
    used = tmp_path / "study" / "LR-orders-8"
    used.mkdir(parents=True)
    (used / "notes.txt").write_text("x", encoding="utf-8")
    before = tree(tmp_path)
    result = run(tmp_path, "reflact-train", *GRID, "hydra/launcher=basic")
    assert result.code == 73 and "LR-orders-8" in result.err
    assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("env.out_root=x", "env.out_root cannot be set in a sweep"),
        ("optimizer.lr_scheduler=cosine,cosin", "did you mean cosine"),
        ("optimizer.learning_rte=1,2", "did you mean optimizer.learning_rate"),
        ("benchmark=orders,ordrs", "did you mean orders"),
    ],
)
def test_a_wrong_value_in_one_job_stops_the_sweep_before_its_first_job(tmp_path: Path, more: str, said: str) -> None:
    result = run(tmp_path, "reflact-train", *GRID, "hydra/launcher=basic", more)
    assert result.code == 2
    assert said in result.err and "Traceback" not in result.err
    assert list(tmp_path.iterdir()) == []


def test_jobs_that_stop_are_listed_and_the_others_go_on(tmp_path: Path) -> None:
    failing = ("rehearsal.rate_limit_rate=1,0", "limits.max_attempts=1", "ablation/lr=lr2")
    result = run(tmp_path, "reflact-train", *GRID, "hydra/launcher=basic", *failing)
    assert result.code == 75
    assert "Traceback" not in result.err and "1 of 2 jobs" in result.err
    assert len(list((tmp_path / "study").glob("*/summary.json"))) == 1


def test_joblib_never_takes_all_cores_unasked(tmp_path: Path) -> None:
    for more in ([], ["hydra/launcher=joblib"]):
        result = run(tmp_path, "reflact-train", "--cfg", "hydra", "-p", "hydra.launcher", *more)
        assert "n_jobs: 2" in result.out


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("-m", "--cfg", "job"), "-m and --cfg cannot be given together: --cfg shows one configuration"),
        (("-m", "--info"), "sweep.dry_run=true"),
        (("-m", "--resolve", "--cfg", "all", "ablation/lr=lr2,lr8"), "leave -m out and give every key one value"),
        (("-m", "--run"), "-m and --run cannot be given together"),
        (("--cfg", "job", "--info"), "--cfg and --info cannot be given together"),
        (("-m", "--shell-completion", "install=bash"), "-m and --shell-completion cannot be given together"),
    ],
)
def test_flags_that_contradict_each_other_are_told_in_one_line(
    tmp_path: Path, flags: tuple[str, ...], said: str
) -> None:
    result = run(tmp_path, "reflact-train", "harness=rehearsal", *flags)
    assert result.code == 2 and said in result.err
    assert len(result.err.splitlines()) == 1 and result.out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", ["--help", "--hydra-help"])
def test_help_is_help_also_of_a_sweep(tmp_path: Path, flag: str) -> None:
    result = run(tmp_path, "reflact-train", "-m", flag)
    assert result.code == 0 and "-m" in result.out and result.err == ""
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_of_nothing_is_one_run(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-train", *GRID[:-2], "hydra.sweep.dir=study", "hydra/launcher=basic")
    assert result.code == 0, result.err
    assert (tmp_path / "study" / "DEFAULT-orders-5.5" / "summary.json").exists()
