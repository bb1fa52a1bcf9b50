"""The other methods: the same record, budget, resume and determinism as the loop."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflact.config.compose import compose
from reflact.config.identity import config_hash
from reflact.core.errors import ConfigError, ReflactError, Stopped, Unavailable
from reflact.core.events import Event, RowFinished
from reflact.core.hashing import text_digest
from reflact.core.names import Part
from reflact.engine import method
from reflact.engine.batches import make_schedule
from reflact.engine.planned_rows import loop_rows
from reflact.engine.run import train
from reflact.engine.summary import Summary
from reflact.testing import Brain, Reply, ScriptedServer, SeenRequest
from tests.engine.test_switches import calls
from tests.engine.test_training import history, results, scores
from tests.models.local_support import needs_local_model

Rehearse = Callable[..., tuple[Summary, Path]]
BASELINES = ("one_shot", "gepa")
SMALL = ("evaluation.sel_env_num=12", "evaluation.test_env_num=8", "train.num_epochs=3")


def chosen(name: str) -> tuple[str, ...]:
    return (f"optimizer={name}", *SMALL)


def warned(root: Path, code: str) -> list[str]:
    lines = (root / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    return [event["message"] for event in events if event["kind"] == "warning" and event["code"] == code]


def all_calls(summary: Summary) -> int:
    usage = summary.data["usage"]
    return sum(calls(summary, role, stage) for role in usage for stage in usage[role])


class Killed(Exception):
    """Ends a run at a moment of the test's choosing."""


def killer(at: int) -> Callable[[Event], None]:
    seen = 0

    def count(event: Event) -> None:
        nonlocal seen
        seen += isinstance(event, RowFinished)
        if seen == at:
            raise Killed

    return count


@pytest.mark.parametrize("name", ["reflact", *BASELINES])
def test_the_group_and_the_keys_below_its_name_compose_side_by_side(name: str) -> None:
    config = compose([f"optimizer={name}", "optimizer.learning_rate=8", "ablation/scheduler=scheduler_linear"])
    assert (config.optimizer.name, config.optimizer.learning_rate) == (name, 8)
    assert config.optimizer.lr_scheduler == "linear"
    loop = compose(["optimizer.learning_rate=8", "optimizer.lr_scheduler=linear"])
    assert (config_hash(config) == config_hash(loop)) == (name == "reflact"), "the method is part of a run's identity"


def test_an_unknown_method_is_a_usage_error_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="one_shot"):
        compose(["optimizer=one_shoot"])
    with pytest.raises(ConfigError, match="gepa"):
        compose(["optimizer.name=gipa"])


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_leave_the_same_record(rehearse: Rehearse, name: str) -> None:
    loop, _ = rehearse(*SMALL, name="loop")
    summary, root = rehearse(*chosen(name), name=name)
    assert summary.data.keys() == loop.data.keys()
    records = history(root)
    assert [record["step"] for record in records] == list(range(1, summary.data["steps"]["total"] + 1))
    best = summary.data["baseline"]["selection"]["hard"]
    measured = {text_digest((root / "skills/step_0000.md").read_text(encoding="utf-8"))}
    for record in records:
        assert record["best"]["score"] >= best
        best = record["best"]["score"]
        if record["candidate"] and record["candidate"]["score"] is not None:
            measured.add(record["candidate"]["sha256"])
        assert (root / "skills" / f"step_{record['step']:04d}.md").exists()
    text = (root / "best_skill.md").read_text(encoding="utf-8")
    assert text_digest(text) == summary.data["best"]["skill_sha256"] in measured
    assert summary.data["best"]["selection"]["hard"] == best > summary.data["baseline"]["selection"]["hard"]
    assert summary.data["baseline"] == loop.data["baseline"], "both begin with the same measurement"
    assert calls(summary, "teacher", "rewrite" if name == "one_shot" else "reflect") > 0


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_are_the_same_at_any_concurrency(rehearse: Rehearse, name: str) -> None:
    one, first = rehearse(*chosen(name), "env.workers=1", "rehearsal.latency_s=0.001", name="one")
    many, second = rehearse(*chosen(name), "env.workers=40", "rehearsal.latency_s=0.001", name="many")
    assert results(first) == results(second)
    assert scores(one) == scores(many)


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("share", [0.05, 0.4, 0.75])
def test_an_interrupted_baseline_goes_on_where_it_was(tmp_path: Path, name: str, share: float) -> None:
    overrides = ["harness=rehearsal", *chosen(name), "env.workers=2", "evaluation.overlap_baseline_test=false"]
    whole, part = compose(overrides), compose(overrides)
    whole.env.out_root, part.env.out_root = str(tmp_path / "whole"), str(tmp_path / "part")
    rows: list[Event] = []
    expected = train(whole, listeners=[lambda event: rows.append(event) if isinstance(event, RowFinished) else None])
    with pytest.raises(Killed):
        train(part, listeners=[killer(max(1, int(len(rows) * share)))])
    part.run.resume = part.run.allow_code_change = True
    resumed = train(part)
    assert results(tmp_path / "part") == results(tmp_path / "whole")
    without = {"usage": None}
    assert scores(resumed) | without == scores(expected) | without
    assert all_calls(resumed) <= all_calls(expected) + 2, "only calls in flight are paid again"
    before = (tmp_path / "part" / "events.jsonl").read_bytes()
    assert train(part).data == resumed.data
    assert (tmp_path / "part" / "events.jsonl").read_bytes() == before, "a finished run makes no call"


@pytest.mark.parametrize("name", BASELINES)
def test_a_budget_stops_a_baseline_resumably(rehearse: Rehearse, name: str) -> None:
    plain, root = rehearse(*chosen(name), name="plain")
    half = plain.data["tokens_total"] // 2
    with pytest.raises(Stopped) as caught:
        rehearse(*chosen(name), f"budget.max_tokens={half}", name="short")
    assert caught.value.cause.value == "budget"
    resumed, again = rehearse(*chosen(name), "run.resume=true", "run.allow_code_change=true", name="short")
    assert results(root) == results(again)
    assert resumed.data["best"] == plain.data["best"]


@pytest.mark.parametrize("epochs", [1, 2, 4])
def test_gepa_may_use_the_rows_of_the_loop_and_never_more(rehearse: Rehearse, epochs: int) -> None:
    shape = (f"train.num_epochs={epochs}", "evaluation.sel_env_num=12")
    config = compose(["harness=rehearsal", "optimizer.use_slow_update=true", "optimizer.use_meta_skill=true", *shape])
    schedule = make_schedule(config.train, 16)
    budget = loop_rows(config, schedule, 12)
    gates, comparisons = schedule.total_steps + epochs - 1, 2 * 16 * (epochs - 1)
    assert budget == 12 + 16 * epochs + 12 * gates + comparisons, "baseline, rollouts, gates and epoch ends"
    summary, _ = rehearse("optimizer=gepa", *shape)
    rows = summary.data["rows"]
    used = sum(sum(rows[phase].values()) for phase in ("train", "selection"))
    assert used <= budget
    assert budget - used < 12 + 2 * 3 + 3, "and it stops only when another iteration might not fit"


def test_a_search_without_room_says_so(rehearse: Rehearse) -> None:
    summary, root = rehearse("optimizer=gepa", "evaluation.sel_env_num=12", "optimizer.gepa_metric_calls=20")
    assert summary.data["steps"]["total"] == 0
    assert "measure only 0 candidates" in warned(root, "few_proposals")[0]
    assert summary.data["best"]["origin"] == "initial"
    assert history(root) == []


def test_gepa_heeds_patience_and_its_minibatch_size(rehearse: Rehearse) -> None:
    patient, root = rehearse("optimizer=gepa", *SMALL, "optimizer.patience=2", "optimizer.gepa_minibatch_size=5")
    assert patient.data["stop_reason"] == "patience"
    assert {record["rollout"]["n"] for record in history(root)} <= {4, 5}
    tail = history(root)[-2:]
    assert all(record["action"] != "accept_new_best" for record in tail)


def test_the_search_measures_every_item_of_what_it_keeps(rehearse: Rehearse) -> None:
    _, first = rehearse("optimizer=gepa", *SMALL, name="plain")
    _, second = rehearse("optimizer=gepa", *SMALL, "evaluation.early_reject=true", name="bound")
    assert results(first) == results(second)
    assert "evaluation.early_reject" in " ".join(warned(second, "unread_key"))


def test_keys_that_a_method_does_not_read_are_named(rehearse: Rehearse) -> None:
    _, root = rehearse("optimizer=one_shot", "optimizer.learning_rate=8", "train.batch_size=4", "env.workers=3")
    told = " ".join(warned(root, "unread_key"))
    assert "optimizer.learning_rate" in told
    assert "batch_size" not in told
    assert "workers" not in told


def test_gepa_needs_its_package_and_a_score_for_every_item(
    rehearse: Rehearse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=r"evaluation\.max_error_rate=0"):
        compose(["optimizer=gepa", "evaluation.max_error_rate=0.1"])
    monkeypatch.setattr(method, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"reflact\[gepa\]"):
        rehearse("optimizer=gepa", name="never")
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("name", BASELINES)
def test_a_teacher_that_never_answers_stops_the_run_before_test(
    rehearse: Rehearse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("REFLACT_TEST_KEY", "a-key")
    with pytest.raises(ReflactError):
        rehearse(*chosen(name), "model.teacher_backend=openai_chat", "model.teacher_base_url=http://127.0.0.1:9",
                 "limits.max_attempts=1", "model.teacher_api_key_env=REFLACT_TEST_KEY", name="dead")  # fmt: skip
    assert not (tmp_path / "dead" / "baseline" / "test").exists()


class Replies:
    """A brain that also answers free text: it proposes the next of its rules."""

    def __init__(self, brain: Brain) -> None:
        self.brain = brain
        self.free: list[str] = []

    def __call__(self, seen: SeenRequest) -> Reply:
        if "within ``` blocks" not in seen.text:
            return self.brain(seen)
        self.free.append(seen.text)
        return Reply(f"I see.\n```\n{self.brain.teacher._draft(seen.text)}\n```")


@pytest.mark.parametrize("name", BASELINES)
def test_baselines_over_http(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from reflact.benchmarks.orders import Orders

    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    overrides = ["harness=openai_chat", *chosen(name), "env.workers=16"]
    brain = Replies(Brain.for_benchmark(Orders(compose(["benchmark=orders"])), base=0.3))
    with ScriptedServer(brain) as server:
        urls = [f"model.{role}_base_url={server.base_url}" for role in ("student", "teacher")]
        config = compose([*overrides, *urls])
        config.env.out_root = str(tmp_path / "run")
        summary = train(config)
    assert summary.data["simulated"] is False
    assert summary.data["usage"]["teacher"]
    told = " ".join(seen.text for seen in server.log.requests if seen.schema is not None) + " ".join(brain.free)
    secret = [item.gold[0] for part in (Part.VAL, Part.TEST) for item in _split(part)]
    known = {item.gold[0] for item in _split(Part.TRAIN)}
    assert not [gold for gold in secret if gold in told and gold not in known], "a teacher saw what it is judged by"
    assert bool(brain.free) == (name == "gepa")


def _split(part: Part) -> Any:
    from reflact.benchmarks.orders import Orders

    return Orders(compose(["benchmark=orders"])).load().parts[part]


@pytest.mark.heavy
@needs_local_model
@pytest.mark.parametrize("name", BASELINES)
def test_baselines_on_the_small_local_model(tmp_path: Path, name: str) -> None:
    config = compose(["harness=local", f"optimizer={name}", "evaluation.sel_env_num=4", "evaluation.eval_test=false",
                      "train.num_epochs=2", "train.batch_size=4", "optimizer.gepa_metric_calls=30"])  # fmt: skip
    config.env.out_root = str(tmp_path / "run")
    summary = train(config)
    assert summary.data["steps"]["total"] >= 1
    assert summary.data["rows"]["selection"]["ok"] >= 4
