"""A budget that all runs of a sweep share."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from reflact.config.schema import Config
from reflact.core.errors import Stopped
from reflact.core.names import StopCause
from reflact.core.usage import Usage
from reflact.models.meter import Meter, MeterKey
from reflact.models.spending import SharedSpending

KEY = MeterKey("student", "m", "rollout", "train")


def meter(root: Path, most: int) -> Meter:
    config = Config()
    config.sweep.root, config.sweep.max_tokens = str(root), most
    return Meter.of(config)


def test_what_is_added_at_once_is_all_counted(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: SharedSpending(tmp_path).add(3, 0.5), range(200)))
    spent = SharedSpending(tmp_path).total()
    assert (spent.tokens, spent.usd) == (600, 100.0)


def test_one_run_stops_for_what_another_has_spent(tmp_path: Path) -> None:
    one, other = meter(tmp_path, 100), meter(tmp_path, 100)
    one.record(KEY, Usage(prompt_tokens=60))
    other.check()
    assert other.fraction_used() == 0.6
    one.record(KEY, Usage(prompt_tokens=40))
    with pytest.raises(Stopped, match=r"sweep.max_tokens=100 is spent.*sweep.existing=resume") as stop:
        other.check()
    assert stop.value.cause is StopCause.BUDGET
    meter(tmp_path, 200).check()


def test_calls_of_earlier_processes_are_not_counted_twice(tmp_path: Path) -> None:
    first = meter(tmp_path, 1000)
    usage = Usage(prompt_tokens=60)
    first.record(KEY, usage)
    resumed = meter(tmp_path, 1000)
    resumed.restore([{"kind": "call", **{f: getattr(KEY, f) for f in KEY.__slots__}, "usage": usage.to_json()}])
    assert resumed.total.tokens == 60 and SharedSpending(tmp_path).total().tokens == 60
