"""What goes wrong around a run is said, counted and never scored as a wrong answer."""

from __future__ import annotations

import errno
import json
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.registry import load_benchmark
from reflact.config.compose import compose
from reflact.core.errors import ConfigError, Stopped, Unavailable
from reflact.core.events import Emit
from reflact.core.names import StopCause
from reflact.engine.evaluate import evaluate
from reflact.engine.run import train
from reflact.engine.summary import Summary
from reflact.testing import Fault, Reply, ScriptedServer, SeenRequest
from reflact.testing.brains import Brain
from tests.engine.test_training import history

WORKERS = 8
COMMON = (
    "benchmark=orders",
    "harness=openai_chat",
    f"env.workers={WORKERS}",
    "train.num_epochs=1",
    "train.batch_size=8",
    "limits.backoff_s=0.01",
    "evaluation.test_env_num=16",
)
Answer = Callable[[SeenRequest, Brain], Reply | Fault]


def brain() -> Brain:
    return Brain.for_benchmark(load_benchmark(compose(COMMON)))


def is_teacher(seen: SeenRequest) -> bool:
    return bool(seen.schema_name)


class Study:
    """A server that answers as `answer` says, and runs against it."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = tmp_path / "run"
        self.events: list[Any] = []
        monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret-0123456789abcdef")

    def train(self, answer: Answer, *overrides: str, listeners: Sequence[Emit] = ()) -> tuple[Summary | None, Any]:
        known = brain()
        with ScriptedServer(lambda seen: answer(seen, known)) as server:
            config = compose([*COMMON, *overrides])
            config.model.student_base_url = config.model.teacher_base_url = server.base_url
            config.env.out_root = str(self.root)
            try:
                return train(config, listeners=[self.events.append, *listeners]), server.log
            except (Stopped, Unavailable) as error:
                error.add_note("calls: " + str(len(server.log.calls)))
                self.log = server.log
                raise


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    return Study(tmp_path, monkeypatch)


def test_a_refused_key_stops_the_run_after_the_calls_in_flight(study: Study) -> None:
    with pytest.raises(Unavailable, match=r"refused the credential.*[^.]\. Check.*OPENAI_API_KEY.*api_key_env"):
        study.train(lambda seen, known: Fault.http(401))
    assert len(study.log.calls) <= 2 * WORKERS


def test_a_service_that_answers_nobody_stops_the_run_after_a_few_calls(study: Study) -> None:
    with pytest.raises(Stopped, match=r"has answered none of the last \d+ attempts.*run\.resume=true") as stop:
        study.train(lambda seen, known: Fault.http(503))
    assert stop.value.cause is StopCause.ERRORS
    assert len(study.log.calls) <= 4 * WORKERS


def test_a_teacher_that_cannot_work_costs_no_test_evaluation(study: Study) -> None:
    def answer(seen: SeenRequest, known: Brain) -> Reply | Fault:
        return Fault.http(403) if is_teacher(seen) else known(seen)

    with pytest.raises(Unavailable, match="teacher"):
        study.train(answer)
    assert not (study.root / "baseline" / "test").exists()
    assert not (study.root / "summary.json").exists()


def test_failed_infrastructure_is_no_score_and_resume_pays_only_for_what_failed(study: Study) -> None:
    broken = {"on": True}

    def answer(seen: SeenRequest, known: Brain) -> Reply | Fault:
        item = str(seen.messages[-1].text)
        if broken["on"] and not is_teacher(seen) and sum(item.encode()) % 3 == 0:
            return Fault.http(503)
        return known(seen)

    with pytest.raises(Stopped, match=r"baseline/selection: \d+ of 32 items have no score.*server"):
        study.train(answer, "limits.max_attempts=2")
    rows = [json.loads(line) for line in (study.root / "baseline/selection/results.jsonl").read_text().splitlines()]
    failed = {row["id"] for row in rows if row["status"] == "error"}
    assert failed
    assert all(row["hard"] is None for row in rows if row["status"] == "error")
    broken["on"] = False
    summary, _ = study.train(answer, "run.resume=true", "limits.max_attempts=2")
    assert summary is not None
    assert summary.data["baseline"]["selection"]["scored"] == 32
    again = [json.loads(line) for line in (study.root / "baseline/selection/results.jsonl").read_text().splitlines()]
    assert {row["id"] for row in again[len(rows) :]} == failed, "finished rows are not paid again"


def test_a_gate_without_coverage_takes_nothing(study: Study) -> None:
    def answer(seen: SeenRequest, known: Brain) -> Reply | Fault:
        item = str(seen.messages[-1].text)
        learned = "- " in "".join(str(message.text) for message in seen.messages[:-1])
        if not is_teacher(seen) and learned and sum(item.encode()) % 3 == 0:
            return Fault.http(503)
        return known(seen)

    study.train(
        answer, "evaluation.max_error_rate=0.5", "evaluation.error_retry_rounds=0", "limits.max_attempts=1",
        "evaluation.eval_test=false",
    )  # fmt: skip
    gates = [record["gate"] for record in history(study.root) if record["candidate"]]
    assert gates
    assert any("indecisive" in gate and gate["coverage"] < 0.95 for gate in gates)
    assert all(record["action"] != "accept" for record in history(study.root) if "indecisive" in record["gate"])


def test_one_item_that_is_never_answered_does_not_hold_the_run(study: Study) -> None:
    first: dict[str, str] = {}

    def answer(seen: SeenRequest, known: Brain) -> Reply | Fault:
        item = str(seen.messages[-1].text)
        if not is_teacher(seen) and first.setdefault("item", item) == item:
            return Fault.hang()
        return known(seen)

    summary, _ = study.train(answer, "env.exec_timeout=0.3", "evaluation.eval_test=false")
    assert summary is not None
    assert summary.data["rows"]["selection"]["timeout"] >= 1
    causes = [event.cause for event in study.events if event.kind == "row" and event.status == "error"]
    assert "no_answer" in causes, "the first time it is nobody's wrong answer"


def test_empty_replies_make_a_run_invalid_and_name_the_cap(study: Study) -> None:
    def answer(seen: SeenRequest, known: Brain) -> Reply | Fault:
        item = str(seen.messages[-1].text)
        if not is_teacher(seen) and sum(item.encode()) % 2 == 0:
            return Fault.empty()
        return known(seen)

    summary, _ = study.train(answer)
    assert summary is not None
    assert not summary.valid
    reasons = " ".join(summary.data["validity"]["reasons"])
    assert "empty: " in reasons
    assert "env.max_completion_tokens=16384: raise it" in reasons


@pytest.mark.parametrize("reply", [Fault.empty(), Reply("I would rather not."), Reply('{"edits": 5}')])
def test_a_teacher_that_gives_nothing_usable_makes_a_run_invalid(study: Study, reply: Reply | Fault) -> None:
    summary, _ = study.train(lambda seen, known: reply if is_teacher(seen) else known(seen))
    assert summary is not None
    (reason,) = summary.data["validity"]["reasons"]
    assert reason.startswith("untaught: none of the teacher's ")
    assert ("model.teacher_max_completion_tokens" in reason) == isinstance(reply, Fault)


def test_no_key_is_in_any_file(study: Study) -> None:
    summary, _ = study.train(lambda seen, known: known(seen))
    assert summary is not None
    for path in study.root.rglob("*"):
        if path.is_file():
            assert b"very-secret" not in path.read_bytes(), path


def test_a_key_that_models_repeat_is_in_no_file_either(study: Study) -> None:
    key = "sk-very-secret-0123456789abcdef"

    def answer(seen: SeenRequest, known: Brain) -> Reply | Fault:
        reply = known(seen)
        if is_teacher(seen):
            return Reply(re.sub(r'("(?:content|reasoning)": *")', rf"\g<1>{key} ", reply.text))
        return Reply(f"{reply.text}\nYour key is {key}.")

    summary, _ = study.train(answer, "evaluation.use_gate=false")
    assert summary is not None
    assert "[redacted]" in (study.root / "best_skill.md").read_text() + (study.root / "skills/step_0001.md").read_text()
    for path in study.root.rglob("*"):
        if path.is_file():
            assert b"very-secret" not in path.read_bytes(), path


def test_a_placeholder_for_a_key_may_be_an_answer(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "clocks")
    summary, _ = study.train(lambda seen, known: Reply("7 | clocks | Dover"), "optimizer.learning_rate=0")
    assert summary is not None
    rows = (study.root / "baseline/selection/results.jsonl").read_text()
    assert "7 | clocks | Dover" in rows


def test_a_budget_lets_the_calls_in_flight_end_and_counts_them(study: Study) -> None:
    with pytest.raises(Stopped) as stop:
        study.train(lambda seen, known: known(seen), "budget.max_tokens=2000")
    assert stop.value.cause is StopCause.BUDGET
    used = [event.usage for event in study.events if event.kind == "call"]
    assert len(used) == len(study.log.calls), "what was sent is booked"
    most = max(usage.tokens for usage in used)
    assert 2000 <= sum(usage.tokens for usage in used) <= 2000 + WORKERS * most


def test_bad_data_are_refused_before_anything_is_written_or_asked(study: Study, tmp_path: Path) -> None:
    split = tmp_path / "split"
    for part, ids in {"train": ["a", "b"], "val": ["c"], "test": ["a"]}.items():
        (split / part).mkdir(parents=True)
        items = [{"id": i, "question": "q", "context": "[DOC] x", "answers": ["y"]} for i in ids]
        (split / part / "items.json").write_text(json.dumps(items), encoding="utf-8")
    with pytest.raises(ConfigError, match="a"):
        study.train(lambda seen, known: known(seen), "benchmark=searchqa", f"env.split_dir={split}")
    assert not study.root.exists()
    assert not study.events


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a child process")
def test_a_full_disk_stops_the_run_and_leaves_it_whole(tmp_path: Path) -> None:
    code = """
import sys
from reflact.config.compose import compose
from reflact.engine.run import train
config = compose(["benchmark=orders", "harness=rehearsal", "train.num_epochs=1", *sys.argv[2:]])
config.env.out_root = sys.argv[1]
try:
    print(train(config).selection_score)
except Exception as error:
    print(type(error).__name__, error)
"""

    def child(*overrides: str, bytes_a_file: int | None = None) -> str:
        def limit() -> None:
            if bytes_a_file is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_a_file, bytes_a_file))

        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "run"), *overrides],
            capture_output=True, text=True, timeout=60, check=True, preexec_fn=limit,
        )  # fmt: skip
        return done.stdout

    assert "Stopped" in (said := child(bytes_a_file=20_000)), errno.EFBIG
    assert "cannot be written" in said
    assert 0 <= float(child("run.resume=true")) <= 1


@pytest.mark.parametrize("skill", ["default", "none"])
def test_one_skill_on_one_part(tmp_path: Path, skill: str) -> None:
    config = compose(["benchmark=orders", "harness=rehearsal", f"skill={skill}", "split=val"])
    config.env.out_root = str(tmp_path / "evaluation")
    summary = evaluate(config)
    assert summary.data["scores"]["n"] == 32
    assert len(summary.data["scores"]["ci95"]) == 2
    assert summary.data["skill"]["name"] == skill
    assert sum(summary.data["rows"]["selection"].values()) == 32
    assert (summary.data["skill"]["skill_chars"] == 0) == (skill == "none")
    config.run.resume = True
    assert evaluate(config).to_json() == summary.to_json()


def test_a_run_that_two_code_versions_worked_on_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = compose(["benchmark=orders", "harness=rehearsal", "train.num_epochs=1"])
    config.env.out_root = str(tmp_path / "run")
    first = train(config)
    (tmp_path / "run" / "summary.json").unlink()
    record = json.loads((tmp_path / "run" / "config.json").read_text(encoding="utf-8"))
    begun = record["code_version"]
    for module in ("reflact.engine.run", "reflact.engine.preflight"):
        monkeypatch.setattr(f"{module}.code_version", lambda: "another")
    config.run.resume, config.run.allow_code_change = True, True
    again = train(config)
    assert again.data["code_versions"] == [begun, "another"]
    assert any(reason.startswith("code_version: ") for reason in again.data["validity"]["reasons"])
    assert again.data["best"] == first.data["best"], "rows of the first version are not made again"
