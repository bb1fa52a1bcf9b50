"""The Python interface."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import reflact
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Refused
from reflact.core.events import Event, RunFinished

QUICK = ["harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false"]


def quick(root: Path, *lines: str) -> Config:
    config = reflact.compose([*QUICK, *lines])
    config.env.out_root = str(root)
    return config


def test_compose_and_train(tmp_path: Path) -> None:
    config = quick(tmp_path / "run")
    before = str(config)
    seen: list[Event] = []
    summary = reflact.train(config, listeners=[seen.append])
    assert summary.to_json()["status"] == "completed"
    assert (tmp_path / "run" / "summary.json").exists()
    assert isinstance(seen[-1], RunFinished)
    assert str(config) == before
    with pytest.raises(Refused):
        reflact.train(config)


def test_several_runs_at_once_do_not_mix(tmp_path: Path) -> None:
    def score(seed: int, name: str) -> object:
        return reflact.train(quick(tmp_path / name, f"train.seed={seed}")).to_json()["baseline"]["selection"]

    with ThreadPoolExecutor(3) as pool:
        at_once = list(pool.map(score, (1, 2, 3), ("a", "b", "c")))
    assert at_once[1] == score(2, "alone")


def test_it_works_where_an_event_loop_is_running(tmp_path: Path) -> None:
    async def cell() -> object:
        return reflact.evaluate(quick(tmp_path / "run", "skill=default", "split=val")).to_json()["scores"]["n"]

    assert asyncio.run(cell())


def test_errors_reach_the_caller_from_there_too(tmp_path: Path) -> None:
    async def cell() -> object:
        return reflact.evaluate(quick(tmp_path / "run", "skill=nowhere.md"))

    with pytest.raises(ConfigError, match=r"nowhere\.md"):
        asyncio.run(cell())
    assert list(tmp_path.iterdir()) == []


def test_without_a_directory_one_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    reflact.evaluate(reflact.compose(["harness=rehearsal", "skill=none", "split=val"]))
    assert len(list(tmp_path.glob("outputs/orders-rehearsal/*/summary.json"))) == 1


def test_what_is_set_by_hand_is_checked(tmp_path: Path) -> None:
    config = quick(tmp_path / "run")
    config.optimizer.lr_scheduler = "cosin"
    with pytest.raises(ConfigError, match="did you mean cosine"):
        reflact.train(config)


def test_the_package_says_what_it_offers() -> None:
    assert {"compose", "train", "evaluate"} <= set(dir(reflact))
    with pytest.raises(AttributeError, match="trian"):
        _ = reflact.trian  # type: ignore[attr-defined]
