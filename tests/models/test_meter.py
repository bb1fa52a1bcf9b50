from __future__ import annotations

import pytest

from reflact.config.compose import compose
from reflact.config.operation import BudgetConfig
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Stopped
from reflact.core.events import CallFailed, CallFinished, CallRetried
from reflact.core.usage import Usage
from reflact.models.meter import Meter, MeterKey
from reflact.models.pricing import Price, read_prices

KEY = MeterKey("student", "m1", "rollout", "train")
USAGE = Usage(calls=1, prompt_tokens=1_000_000, cached_tokens=400_000, completion_tokens=100_000)
PRICES = {"m1": Price(prompt=2.0, cached=0.5, completion=8.0)}


def test_cached_tokens_have_their_own_price() -> None:
    meter = Meter(PRICES)
    assert meter.record(KEY, USAGE) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 0.1 * 8.0)
    assert meter.cost_usd == pytest.approx(2.2)


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    meter = Meter(PRICES)
    meter.record(KEY, USAGE)
    assert meter.record(MeterKey("teacher", "m2", "reflect", "train"), USAGE) is None
    assert meter.cost_usd is None
    assert [line.cost_usd is None for line in meter.lines()] == [False, True]


def test_a_model_that_only_failed_costs_nothing() -> None:
    meter = Meter(PRICES)
    meter.record(MeterKey("teacher", "m2", "reflect", "train"), Usage(failed_calls=3))
    assert meter.cost_usd == 0.0


def test_usage_is_kept_by_role_stage_and_phase() -> None:
    meter = Meter({})
    meter.record(KEY, Usage(calls=1, prompt_tokens=5))
    meter.record(KEY, Usage(calls=1, failed_calls=2))
    meter.record(MeterKey("student", "m1", "gate", "selection"), Usage(calls=1))
    assert meter.to_json() == {
        "student": {
            "gate": {"selection": Usage(calls=1).to_json()},
            "rollout": {"train": Usage(calls=2, failed_calls=2, prompt_tokens=5).to_json()},
        }
    }
    assert meter.total == Usage(calls=3, failed_calls=2, prompt_tokens=5)


def test_an_earlier_process_is_restored_from_its_events() -> None:
    meter, restored = Meter(PRICES), Meter(PRICES)
    finished = CallFinished("student", "rollout", "train", "m1", USAGE, 1.0, 2.5, 2.2)
    retried = CallRetried("student", "rollout", "train", "rate_limit", 429, 1, 6, 2.5, None, "slow down")
    other = CallRetried("student", "rollout", "train", "server", 500, 1, 6, 2.5, None, "oops")
    failed = CallFailed("student", "rollout", "train", "m1", Usage(failed_calls=6), "rate_limit", "slow down", 9.0)
    meter.record(KEY, USAGE, wait_s=2.5)
    meter.record(KEY, failed.usage, wait_s=9.0)
    meter.record_429()
    meter.record_429()
    events = [{"t": 1.0, "kind": event.kind, **event.to_json()} for event in (finished, retried, other, failed)]
    restored.restore([{"kind": "row", "id": "x"}, *events])
    assert restored.to_json() == meter.to_json()
    assert (restored.count_429, restored.wait_s, restored.cost_usd) == (2, 11.5, meter.cost_usd)


def test_the_budget_names_the_key_to_raise() -> None:
    meter = Meter(PRICES, BudgetConfig(max_usd=4.0))
    meter.check()
    meter.record(KEY, USAGE)
    meter.check()
    assert meter.fraction_used() == pytest.approx(0.55)
    meter.record(KEY, USAGE)
    with pytest.raises(Stopped, match=r"budget\.max_usd=4 is spent \(4\.40 US dollars used\)"):
        meter.check()


def test_the_tighter_budget_counts() -> None:
    meter = Meter(PRICES, BudgetConfig(max_usd=22.0, max_tokens=2_200_000))
    meter.record(KEY, USAGE)
    assert meter.fraction_used() == pytest.approx(0.5)
    assert Meter(PRICES).fraction_used() == 0.0


def test_a_money_budget_needs_all_prices() -> None:
    config = Config()
    config.budget.max_usd = 5.0
    config.pricing.models = {config.model.student: {"prompt": 1, "completion": 2}}
    config.model.teacher = "unknown"
    with pytest.raises(ConfigError, match="teacher's model unknown"):
        Meter.of(config)
    config.model.teacher_backend = "template"
    Meter.of(config)


@pytest.mark.parametrize(
    "entry", [{"prompt": 1}, {"prompt": 1, "completion": -1}, {"prompt": "1", "completion": 1}, 3, {"in": 1, "out": 2}]
)
def test_malformed_prices_are_refused(entry: object) -> None:
    with pytest.raises(ConfigError, match=r"pricing\.models\.m"):
        read_prices({"m": entry})


def test_without_a_cached_price_cached_tokens_cost_the_full_one() -> None:
    assert read_prices({"m": {"prompt": 3, "completion": 4}}) == {"m": Price(3.0, 3.0, 4.0)}


def test_a_model_in_this_process_costs_nothing() -> None:
    config = Config()
    config.model.student_backend, config.model.teacher_backend = "local", "template"
    meter = Meter.of(config)
    assert meter.record(MeterKey("student", "SmolLM2-135M-Instruct.Q4_1", "rollout", "train"), USAGE) == 0.0
    assert meter.cost_usd == 0.0 and meter.lines()[0].cost_usd == 0.0
    # Only that role: another one's model has its price, or none.
    assert meter.record(MeterKey("teacher", "SmolLM2-135M-Instruct.Q4_1", "reflect", "train"), USAGE) == 0.0
    config.model.teacher_backend, config.model.teacher = "openai_chat", "unlisted"
    mixed = Meter.of(config)
    assert mixed.record(MeterKey("teacher", "unlisted", "reflect", "train"), USAGE) is None
    assert mixed.cost_usd is None


def test_the_default_models_have_a_price() -> None:
    prices = read_prices(compose([]).pricing.models)
    config = Config()
    assert {config.model.student, config.model.teacher} <= prices.keys()
    assert all(price.cached <= price.prompt <= price.completion for price in prices.values())


def test_what_a_run_cost_does_not_depend_on_the_order_of_its_calls() -> None:
    prices = {"m1": Price(prompt=0.1, cached=0.1, completion=0.7)}
    usages = [Usage(calls=1, prompt_tokens=n, completion_tokens=3 * n) for n in range(1, 200)]
    meters = [Meter(prices), Meter(prices)]
    for meter, order in zip(meters, (usages, usages[::-1]), strict=True):
        for usage in order:
            meter.record(KEY, usage)
    assert meters[0].cost_usd == meters[1].cost_usd
