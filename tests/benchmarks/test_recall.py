"""What rehearsals of one sweep share, and that nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reflact.benchmarks.recall import FOLDER, Recall
from reflact.config.schema import Config


def rehearsed(root: Path) -> Config:
    """Return the configuration of a run of a rehearsed sweep."""
    config = Config()
    config.benchmark.name = "made"
    config.sweep.root, config.env.sample, config.model.student_backend = str(root), True, "rehearsal"
    return config


def shared(root: Path, **settings: int) -> Recall:
    found = Recall.of_run(rehearsed(root), settings)
    assert found is not None
    return found


def _alone(config: Config) -> None:
    config.sweep.root = ""


def _real_items(config: Config) -> None:
    config.env.sample = False


def _real_student(config: Config) -> None:
    config.model.student_backend = "openai_chat"


@pytest.mark.parametrize("change", [_alone, _real_items, _real_student])
def test_only_rehearsals_of_a_sweep_on_made_items_share(change: Callable[[Config], None], tmp_path: Path) -> None:
    config = rehearsed(tmp_path)
    change(config)
    assert Recall.of_run(config, {}) is None


def test_a_value_is_there_for_the_next_run_with_the_same_settings_only(tmp_path: Path) -> None:
    shared(tmp_path, limit=1).put(["game", 7], {"won": True})
    assert shared(tmp_path, limit=1).get(["game", 7]) == {"won": True}
    assert shared(tmp_path, limit=2).get(["game", 7]) is None
    assert shared(tmp_path, limit=1).get(["game", 8]) is None


def test_a_value_that_may_not_last_is_for_this_run_alone(tmp_path: Path) -> None:
    first = shared(tmp_path)
    first.put("slow", 1, lasting=False)
    assert first.get("slow") == 1
    assert shared(tmp_path).get("slow") is None


def test_a_damaged_file_is_a_value_that_is_made_again(tmp_path: Path) -> None:
    shared(tmp_path).put("key", [1, 2])
    (path,) = (tmp_path / FOLDER / "made").iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    found = shared(tmp_path)
    assert found.get("key") is None
    found.put("key", [1, 2])
    assert shared(tmp_path).get("key") == [1, 2]


def test_what_another_run_replaced_is_seen_on_request(tmp_path: Path) -> None:
    first, second = shared(tmp_path), shared(tmp_path)
    first.put("key", 1)
    assert second.get("key") == 1
    first.put("key", 2)
    assert (second.get("key"), second.get("key", again=True)) == (1, 2)


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way", encoding="utf-8")
    found = shared(tmp_path)
    found.put("key", 1)
    assert found.get("key") == 1
