"""The real libraries of trackers, offline."""

from __future__ import annotations

import json
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import reflact


def need(package: str, extra: str) -> None:
    if find_spec(package) is None:
        pytest.skip(f"absent: {package} (pip install 'reflact[{extra}]')")


def trained(root: Path, name: str, *more: str) -> Any:
    config = reflact.compose(
        ["benchmark=orders", "harness=rehearsal", "train.num_epochs=1", f"tracking.trackers=[{name}]",
         "tracking.close_timeout_s=150", *more]
    )  # fmt: skip
    config.env.out_root = str(root)
    return reflact.train(config)


def scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """Read TensorBoard's event files: records of length, its check, data, its check."""
    from tensorboardX.proto.event_pb2 import Event

    found: dict[str, list[tuple[int, float]]] = {}
    for path in sorted(folder.rglob("events.out.tfevents.*")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            event = Event.FromString(data[at + 12 : at + 12 + length])
            at += 12 + length + 4
            for value in event.summary.value:
                if value.HasField("simple_value"):
                    found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


def log_of(root: Path, name: str) -> str:
    return (root / "trackers" / name / "log.txt").read_text(encoding="utf-8")


def test_tensorboard_shows_the_scores(tmp_path: Path) -> None:
    need("tensorboardX", "tensorboard")
    root = tmp_path / "run"
    summary = trained(root, "tensorboard")
    found = scalars(root / "trackers" / "tensorboard")
    records = [json.loads(line) for line in (root / "history.jsonl").read_text(encoding="utf-8").splitlines()]
    scores = [(record["step"], record["current"]["score"]) for record in records if record["kind"] == "step"]
    assert found["selection/current"] == [(step, pytest.approx(score)) for step, score in scores]
    assert found["summary/best_test_hard"] == [(0, pytest.approx(summary.data["best"]["test"]["hard"]))]


@pytest.mark.heavy
def test_mlflow_has_one_run_also_after_a_resume(tmp_path: Path) -> None:
    need("mlflow", "mlflow")
    need("sqlalchemy", "mlflow")
    root, shared = tmp_path / "run", tmp_path / "shared"
    uri = f"tracking.mlflow_uri=sqlite:///{shared / 'mlflow.db'}"
    summary = trained(root, "mlflow", f"tracking.folder={shared}", "tracking.project=study")
    (root / "summary.json").unlink()
    trained(root, "mlflow", f"tracking.folder={shared}", "tracking.project=study", uri, "run.resume=true")
    from mlflow.tracking import MlflowClient

    client = MlflowClient(tracking_uri=f"sqlite:///{shared / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("study").experiment_id])
    assert run.info.status == "FINISHED", log_of(root, "mlflow")
    assert run.data.params["optimizer.learning_rate"] == "4"
    assert run.data.metrics["summary/best_test_hard"] == pytest.approx(summary.data["best"]["test"]["hard"])
    history = client.get_metric_history(run.info.run_id, "selection/current")
    assert [metric.step for metric in history] == list(range(1, summary.data["steps"]["total"] + 1))
    assert [file.path for file in client.list_artifacts(run.info.run_id)] == ["best_skill.md"]


@pytest.mark.heavy
def test_weights_and_biases_writes_a_run_to_sync(tmp_path: Path) -> None:
    need("wandb", "wandb")
    root = tmp_path / "run"
    summary = trained(root, "wandb")
    (path,) = (root / "trackers").rglob("run-*.wandb")
    written = path.read_bytes()
    assert b"selection/current" in written and b"summary/best_test_hard" in written, log_of(root, "wandb")
    assert b"optimizer.learning_rate" in written
    assert summary.data["status"] == "completed"
    run_id = (root / "trackers" / "wandb" / "wandb_id").read_text(encoding="utf-8").strip()
    assert path.name == f"run-{run_id}.wandb"
