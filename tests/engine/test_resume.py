"""A run that is killed at any moment and resumed ends like one that was never interrupted."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reflact.config.compose import compose
from reflact.core.errors import DataError, Refused
from reflact.engine.run import train
from tests.engine.test_training import results, scores

OVERRIDES = [
    "benchmark=orders",
    "harness=rehearsal",
    "env.workers=4",
    "train.num_epochs=3",
    "train.batch_size=8",
    "optimizer.use_slow_update=true",
    "optimizer.use_meta_skill=true",
    "optimizer.slow_update_samples=8",
    "evaluation.test_env_num=24",
    "rehearsal.latency_s=0.002",
]

CHILD = """
import json, os, signal, sys
from reflact.config.compose import compose
from reflact.engine.run import train
root, at, overrides = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
seen = 0
def count(event):
    global seen
    seen += 1
    if seen == at:
        os.kill(os.getpid(), signal.SIGKILL)
config = compose(overrides)
config.env.out_root = root
summary = train(config, listeners=[count])
print(json.dumps({"events": seen, "summary": summary.to_json()}))
"""


def child(root: Path, kill_at: int, *more: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(root), str(kill_at), *OVERRIDES, *more],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if done.returncode == 0:
        return 0, json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.returncode, {}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    root = tmp_path_factory.mktemp("whole") / "run"
    code, report = child(root, -1)
    assert code == 0
    return root, report


def calls(report: dict[str, Any]) -> int:
    usage = report["summary"]["usage"]
    return sum(counts["calls"] for stages in usage.values() for phases in stages.values() for counts in phases.values())


class FakeSummary:
    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data


@pytest.mark.parametrize("share", [0.01, 0.1, 0.23, 0.37, 0.5, 0.64, 0.78, 0.9, 0.99])
def test_killed_once_and_resumed(whole: tuple[Path, dict[str, Any]], tmp_path: Path, share: float) -> None:
    expected_root, expected = whole
    root = tmp_path / "run"
    code, _ = child(root, max(2, int(expected["events"] * share)))
    assert code == -signal.SIGKILL
    code, report = child(root, -1, "run.resume=true")
    assert code == 0
    assert results(root) == results(expected_root)
    without_usage = {"usage": None}
    assert (
        scores(FakeSummary(report["summary"])) | without_usage
        == scores(FakeSummary(expected["summary"])) | without_usage
    )
    # Calls whose answer the killed process had not booked are the only ones that are paid again.
    assert calls(report) <= calls(expected) + 4 + 16


def test_killed_again_and_again(whole: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    expected_root, expected = whole
    root = tmp_path / "run"
    code, report = child(root, 60)
    for _ in range(60):
        code, report = child(root, 90, "run.resume=true")
        if code == 0:
            break
    assert code == 0, "every resume makes progress"
    assert results(root) == results(expected_root)
    assert report["summary"]["best"] == expected["summary"]["best"]


def test_a_score_of_zero_survives_a_resume(tmp_path: Path) -> None:
    root = tmp_path / "run"
    overrides = ["rehearsal.empty_rate=1", "optimizer.learning_rate=0", "train.num_epochs=1"]
    code, report = child(root, -1, *overrides)
    assert code == 0
    assert report["summary"]["baseline"]["selection"]["hard"] == 0.0
    (root / "summary.json").unlink()
    code, again = child(root, -1, *overrides, "run.resume=true")
    assert code == 0
    assert again["summary"]["baseline"] == report["summary"]["baseline"]
    assert calls(again) == calls(report)


def test_a_run_whose_record_is_gone_is_not_resumed_with_whatever_is_asked_for(
    whole: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    root = tmp_path / "run"
    shutil.copytree(whole[0], root)
    (root / "summary.json").unlink()
    (root / "config.json").unlink()
    config = compose([*OVERRIDES, "optimizer.learning_rate=1", "run.resume=true"])
    config.env.out_root = str(root)
    with pytest.raises(Refused, match=r"config\.json is missing"):
        train(config)
    assert not (root / "config.json").exists()


def test_damaged_files_are_named_and_never_taken_for_less_work(
    whole: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    root = tmp_path / "run"
    shutil.copytree(whole[0], root)
    config = compose([*OVERRIDES, "run.resume=true"])
    config.env.out_root = str(root)
    (root / "summary.json").write_text('{"status": ', encoding="utf-8")
    with pytest.raises(DataError, match=r"summary\.json is damaged.*run\.resume=true"):
        train(config)
    (root / "summary.json").unlink()
    first, *rest = (root / "history.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (root / "history.jsonl").write_text(first + rest[0][:20], encoding="utf-8")
    events: list[Any] = []
    summary = train(config, listeners=[events.append])
    assert summary.data["best"] == whole[1]["summary"]["best"]
    (warning,) = [event for event in events if getattr(event, "code", "") == "history_incomplete"]
    assert str(len(rest)) in warning.message
    assert (root / "history.jsonl").read_text(encoding="utf-8") == first


@pytest.mark.parametrize("name", ["baseline/selection/results.jsonl", "test/best/results.jsonl", "events.jsonl"])
def test_a_damaged_line_in_the_middle_comes_with_a_way_on_that_works(
    whole: tuple[Path, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    root = tmp_path / "run"
    shutil.copytree(whole[0], root)
    (root / "summary.json").unlink()
    lines = (root / name).read_bytes().splitlines(keepends=True)
    (root / name).write_bytes(b"".join([lines[0], b"\0\0\0\n", *lines[2:]]))
    config = compose([*OVERRIDES, "run.resume=true"])
    config.env.out_root = str(root)
    with pytest.raises(DataError, match=re.escape(name)) as told:
        train(config)
    command = re.search(r"\((sed -i .*?)\)", str(told.value))
    assert command is not None
    subprocess.run(command[1], shell=True, check=True)
    summary = train(config)
    assert summary.data["best"] == whole[1]["summary"]["best"]
    assert summary.data["rows"] == whole[1]["summary"]["rows"]


@pytest.mark.parametrize("name", ["skills/step_0001.md", "steps/step_0001/candidate_skill.md", "best_skill.md"])
def test_a_skill_that_somebody_edited_in_the_run_is_named(
    whole: tuple[Path, dict[str, Any]], tmp_path: Path, name: str
) -> None:
    root = tmp_path / "run"
    shutil.copytree(whole[0], root)
    (root / "summary.json").unlink()
    with (root / name).open("a", encoding="utf-8") as file:
        file.write("\nAnswer 42.\n")
    config = compose([*OVERRIDES, "run.resume=true"])
    config.env.out_root = str(root)
    with pytest.raises(DataError, match=rf"{re.escape(name)}: changed after.*env\.skill_init"):
        train(config)
    (root / name).unlink()
    assert train(config).data["best"] == whole[1]["summary"]["best"]
