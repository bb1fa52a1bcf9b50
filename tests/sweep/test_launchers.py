"""How runs are launched is settled before them, once, and not by accident."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.cli.commands import run
from tests.sweep.commands import sweep


def experiments(folder: Path) -> str:
    """Write experiments: one chooses a launcher, one sets an option of it, one does neither."""
    group = folder / "conf" / "experiment"
    group.mkdir(parents=True)
    head = "# @package _global_\n"
    serial = f"{head}defaults:\n  - override /hydra/launcher: basic\ntrain:\n  seed: 1\n"
    (group / "serial.yaml").write_text(serial, encoding="utf-8")
    (group / "many.yaml").write_text(f"{head}hydra:\n  launcher:\n    n_jobs: 1\n", encoding="utf-8")
    (group / "plain.yaml").write_text(f"{head}train:\n  seed: 2\n", encoding="utf-8")
    return f"--config-dir={group.parent}"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("+experiment=serial,plain", "+experiment=serial chooses hydra/launcher=basic, which has no effect"),
        ("+experiment=serial", "+experiment=serial chooses hydra/launcher=basic, which has no effect"),
        ("+experiment=many,plain", "+experiment=many sets hydra.launcher, but is itself swept"),
    ],
)
def test_no_option_chooses_a_launcher_in_vain(tmp_path: Path, more: str, said: str) -> None:
    flag = experiments(tmp_path)
    result = run(tmp_path, "reflact-train", flag, "-m", "harness=rehearsal", more, "hydra.sweep.dir=study")
    assert result.code == 2 and said in result.err
    assert not (tmp_path / "study").exists()


def test_the_command_line_has_the_last_word_and_one_option_may_set_the_launcher(tmp_path: Path) -> None:
    flag = experiments(tmp_path)
    words = ("harness=rehearsal", "train.num_epochs=1", "ablation/lr=lr2,lr8", "sweep.dry_run=true")
    told = run(tmp_path, "reflact-train", flag, "-m", *words, "+experiment=serial", "hydra/launcher=joblib")
    assert told.code == 0, told.err
    made = run(tmp_path, "reflact-train", flag, "-m", *words[:3], "+experiment=many", "hydra.sweep.dir=study")
    assert made.code == 0 and "1 at once (hydra.launcher.n_jobs)" in made.err, made.err


def test_a_limit_that_would_end_the_whole_sweep_is_refused(tmp_path: Path) -> None:
    result = sweep(tmp_path, "hydra/launcher=joblib", "hydra.launcher.timeout=3", "ablation/lr=lr2,lr8")
    assert result.code == 2 and "sweep.max_run_s" in result.err
    assert not (tmp_path / "study").exists()


def test_the_minutes_of_a_job_are_said_before_it_starts(tmp_path: Path) -> None:
    pytest.importorskip("submitit", reason="absent: submitit (the extra `slurm`)")
    result = sweep(tmp_path, "hydra/launcher=submitit_local", "train.num_epochs=1")
    assert result.code == 0, result.err
    assert "all at once, each stopped after 60 minutes (hydra.launcher.timeout_min)" in result.err


def test_neither_slurm_nor_ray_is_needed() -> None:
    """Follow what reflact needs without extras, by what is installed here."""
    found, pending = set(), ["reflact"]
    while pending:
        name = pending.pop()
        for text in distribution(name).requires or ():
            need = Requirement(text)
            if need.name not in found and (need.marker is None or need.marker.evaluate({"extra": ""})):
                found.add(need.name)
                pending.append(need.name)
    assert "hydra-joblib-launcher" in found
    assert not found & {"ray", "hydra-ray-launcher", "submitit", "hydra-submitit-launcher"}
