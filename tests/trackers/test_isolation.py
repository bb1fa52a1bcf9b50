"""Whatever a tracker does, the run is the same, takes no longer, and says once what happened."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import reflact
from reflact.config.compose import compose
from reflact.config.tracking import TrackingConfig
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.events import RunStarted, Warned
from reflact.engine.run import train
from reflact.trackers import registry
from reflact.trackers.listening import Tracking, tracking
from reflact.trackers.process import ROOM, Link, environment
from reflact.trackers.registry import require_trackers
from tests.trackers.fakes import install

QUICK = (
    "benchmark=orders", "harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false",
)  # fmt: skip


@pytest.fixture(autouse=True)
def fakes(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path_factory.mktemp("fakes"), monkeypatch)


def run(root: Path, *names: str, timeout_s: float = 60.0, more: tuple[str, ...] = ()) -> tuple[Any, list[str], float]:
    """Train with trackers; return the summary, what was told, and the seconds that closing took."""
    chosen = [f"tracking.trackers=[{','.join(names)}]", f"tracking.close_timeout_s={timeout_s}"]
    config = compose([*QUICK, *chosen, *more])
    config.env.out_root = str(root)
    told: list[str] = []
    with tracking(config, told.append) as listeners:
        summary = train(config, listeners=listeners)
        ended = time.monotonic()
    return summary, told, time.monotonic() - ended


def records(root: Path, name: str) -> list[dict[str, Any]]:
    path = root / "trackers" / name / "told.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def left_behind(root: Path) -> list[str]:
    """Return the processes that work in a run's folder of trackers, once those that were ended had time to go."""
    deadline = time.monotonic() + 10
    while (found := at_work(root)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def at_work(root: Path) -> list[str]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                place = str((entry / "cwd").readlink())
            except OSError:
                continue
            if place.startswith(str(root / "trackers")):
                found.append(entry.name)
    return found


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The result of the same run without trackers."""
    config = compose([*QUICK])
    config.env.out_root = str(tmp_path_factory.mktemp("plain") / "run")
    summary = train(config)
    assert not (Path(config.env.out_root) / "trackers").exists(), "no trackers by default"
    return dict(summary.data)


def test_a_tracker_gets_the_numbers_of_the_run(tmp_path: Path, plain: dict[str, Any]) -> None:
    summary, told, _ = run(tmp_path / "run", "Good")
    assert told == []
    first, *middle, last = records(tmp_path / "run", "Good")
    assert first["begin"]["params"]["optimizer.learning_rate"] == 4
    assert first["begin"]["params"]["run.simulated"] is True
    decided = [record for record in middle if "selection/current" in record["metrics"]]
    assert [record["step"] for record in decided] == list(range(1, summary.data["steps"]["total"] + 1))
    assert decided[-1]["metrics"]["selection/best"] == summary.data["best"]["selection"]["hard"]
    assert middle[0]["step"] == 0 and middle[0]["metrics"]["baseline/selection/hard"] is not None
    assert last["end"]["state"] == "done"
    assert last["end"]["summary"]["summary/tokens_total"] == summary.data["tokens_total"]
    assert last["end"]["files"] == [str(tmp_path / "run" / "best_skill.md")]
    assert summary.data["best"] == plain["best"] and left_behind(tmp_path / "run") == []


@pytest.mark.parametrize(
    ("name", "timeout_s", "said"),
    [
        ("RaisesAtOnce", 60.0, "RuntimeError: no store here"),
        ("RaisesLater", 60.0, "RuntimeError: the store is full"),
        ("Dies", 60.0, "ended"),
        ("HangsInMetrics", 0.5, "did not finish within 0.5 s"),
        ("HangsAtTheEnd", 0.5, "did not finish within 0.5 s"),
        ("Floods", 60.0, None),
        ("LeavesAChild", 60.0, None),
    ],
)
def test_a_bad_tracker_harms_no_run_and_is_told_once(
    tmp_path: Path, plain: dict[str, Any], name: str, timeout_s: float, said: str | None
) -> None:
    root = tmp_path / "run"
    summary, told, closing_s = run(root, name, timeout_s=timeout_s)
    assert summary.data["best"] == plain["best"] and summary.data["tokens_total"] == plain["tokens_total"]
    assert [said in message for message in told] == [True] if said else told == []
    assert all(f"the tracker {name} failed" in message and "not affected" in message for message in told)
    assert closing_s < 50, "nobody waits for the hour that it sleeps"
    assert left_behind(root) == []


def test_one_bad_tracker_is_nothing_to_another(tmp_path: Path) -> None:
    _, told, _ = run(tmp_path / "run", "RaisesAtOnce", "Good")
    assert len(told) == 1
    assert "end" in records(tmp_path / "run", "Good")[-1]


def test_a_tracker_that_takes_nothing_never_holds_the_run(tmp_path: Path) -> None:
    told: list[str] = []
    link = Link("HangsInMetrics", tmp_path / "folder", 0.2, told.append)
    begin = {"run_id": "r", "project": "p", "folder": str(tmp_path), "memory": str(tmp_path / "folder")}
    link.put({"begin": begin})
    record = {"metrics": {"x" * 1000: 1.0}, "step": 1, "t": 1.0}
    started = time.process_time()
    for _ in range(20 * ROOM):
        link.put(record)
    spent = time.process_time() - started
    link.close(time.monotonic() + 0.2)
    assert link.lost > 10 * ROOM and spent < 20
    assert len(told) == 1


def test_a_listener_never_raises(tmp_path: Path) -> None:
    config = compose([*QUICK, "tracking.trackers=[Good]"])
    config.env.out_root = str(tmp_path / "file" / "run")
    (tmp_path / "file").write_text("", encoding="utf-8")  # nothing can be made below it
    tracked = Tracking(config)
    event = RunStarted("r", "orders", "h", "s", "t", True, False, 1, "here", 1, 1)
    for _ in range(3):
        tracked.emit(event)
        tracked.emit(Warned("a", "b"))
    tracked.close()
    assert tracked.failures and all("not affected" in message for message in tracked.failures)


def test_keys_of_models_do_not_reach_trackers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-model-0123456789")
    monkeypatch.setenv("AZURE_CLIENT_SECRET", "of-a-cloud-0123456789")
    url = "http://me:secret-word@localhost:1/v1?key=abc"
    run(tmp_path / "run", "Environment", more=(f"model.student_base_url='{url}'",))
    text = (tmp_path / "run" / "trackers" / "Environment" / "told.jsonl").read_text(encoding="utf-8")
    assert "sk-of-a-model" not in text and "of-a-cloud" not in text and "secret-word" not in text
    seen = environment("wandb", {"WANDB_API_KEY": "k", "MLFLOW_TRACKING_TOKEN": "m", "PATH": "/bin"}, tmp_path)
    assert seen["WANDB_API_KEY"] == "k" and "MLFLOW_TRACKING_TOKEN" not in seen
    assert seen["XDG_CACHE_HOME"].startswith(str(tmp_path))


CHILD = """
import sys
from reflact.config.compose import compose
from reflact.engine.run import train
from reflact.trackers.listening import tracking
config = compose(sys.argv[2:])
config.env.out_root = sys.argv[1]
with tracking(config) as listeners:
    train(config, listeners=listeners)
"""


@pytest.mark.parametrize("name", ["Good", "HangsInMetrics"])
def test_a_killed_run_leaves_no_tracker_behind(tmp_path: Path, name: str) -> None:
    root = tmp_path / "run"
    slow = ("rehearsal.latency_s=0.2", f"tracking.trackers=[{name}]", "tracking.close_timeout_s=0.5")
    with subprocess.Popen([sys.executable, "-c", CHILD, str(root), *QUICK, *slow]) as process:
        told = root / "trackers" / name / "told.jsonl"
        deadline = time.monotonic() + 60
        while not told.exists():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 60
    while at_work(root):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    if name == "Good":
        assert records(root, name)[-1]["end"]["state"] == "failed"


def test_a_resumed_run_goes_on_with_its_counts(tmp_path: Path, plain: dict[str, Any]) -> None:
    root = tmp_path / "run"
    run(root, "Good")
    (root / "summary.json").unlink()
    run(root, "Good", more=("run.resume=true",))
    begins = [place for place, record in enumerate(records(root, "Good")) if "begin" in record]
    after = records(root, "Good")[begins[-1] :]
    assert len(begins) == 2 and after[-1]["end"]["state"] == "done"
    assert after[-1]["end"]["summary"]["summary/tokens_total"] == plain["tokens_total"]


def test_from_python_trackers_listen_too(tmp_path: Path) -> None:
    config = reflact.compose([*QUICK, "tracking.trackers=[Good]"])
    config.env.out_root = str(tmp_path / "run")
    reflact.train(config)
    assert "end" in records(tmp_path / "run", "Good")[-1]


def test_what_cannot_track_is_said_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = reflact.compose([*QUICK, "tracking.trackers=[mlfow]"])
    config.env.out_root = str(tmp_path / "run")
    with pytest.raises(ConfigError, match=r"'mlfow'.*did you mean mlflow"):
        reflact.train(config)
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    for name in ("mlflow", "wandb", "tensorboard"):
        config.tracking = TrackingConfig(trackers=[name])
        with pytest.raises(Unavailable, match=rf"pip install 'reflact\[{name}\]'"):
            reflact.train(config)
    assert not (tmp_path / "run").exists()
    with pytest.raises(ConfigError, match="twice"):
        require_trackers(TrackingConfig(trackers=["Good", "Good"]))
