"""No key is only for show: each changes something that can be seen, or says where it does."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reflact.config.compose import Composer
from reflact.config.keys import Key, all_keys, get
from reflact.config.models import EFFORTS
from reflact.config.relevance import without_effect
from reflact.core.errors import ConfigError, ReflactError
from reflact.engine.method import unread
from reflact.engine.run import train
from tests.engine.key_probes import (
    AGENT_VALUES,
    KEYS,
    PROBES,
    Agent,
    Elsewhere,
    Look,
    Probe,
    Recorded,
    Refused,
    Run,
    Trace,
    trace_of,
)

COMPOSER = Composer()
ROOT = Path(__file__).resolve().parents[2]
SHAPE = ("harness=rehearsal", "train.num_epochs=3", "train.batch_size=8", "gradient.minibatch_size=2",
         "evaluation.sel_env_num=8", "evaluation.test_env_num=4", "optimizer.use_slow_update=true",
         "optimizer.use_meta_skill=true", "optimizer.slow_update_samples=6", "optimizer.learning_rate=4",
         "rehearsal.useless_edit_rate=0.6", "rehearsal.seed=3")  # fmt: skip
AGENT_KEYS = ("model.codex_", "model.claude_code_", "model.exec_")


def probe_of(key: Key) -> Probe:
    """Return a key's probe; agents' keys and sweeps' keys need no line each."""
    if key.name.startswith(AGENT_KEYS):
        if bool in key.kinds and key.choices is None:
            return Agent("false" if key.default else "true")
        return Agent(AGENT_VALUES.get(key.name, "7" if int in key.kinds or float in key.kinds else "other"))
    if key.name.startswith("sweep."):
        return Recorded("a key of sweeps; a single run goes on without it")
    return PROBES[key.name]


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[str]], Trace]:
    """Run a configuration once in this process, and return what it left."""
    known: dict[tuple[str, ...], Trace] = {}

    def run(overrides: Sequence[str]) -> Trace:
        lines = tuple(overrides)
        if lines not in known:
            root = tmp_path_factory.mktemp("key") / "run"
            try:
                config = COMPOSER.compose([*SHAPE, *lines])
                config.env.out_root = str(root)
                known[lines] = trace_of(root, dict(train(config).data), "completed")
            except ReflactError as error:
                known[lines] = trace_of(root, None, f"{type(error).__name__} {error.exit_code}")
        return known[lines]

    return run


def test_every_key_has_a_probe() -> None:
    missing = [key.name for key in all_keys().values() if key.name not in PROBES and not _is_general(key.name)]
    assert not missing, "say in tests/engine/key_probes.py what these keys are seen to do"
    gone = [name for name in PROBES if name not in all_keys()]
    assert not gone, "these keys are gone"


def _is_general(name: str) -> bool:
    return name.startswith((*AGENT_KEYS, "sweep."))


@pytest.mark.parametrize("name", all_keys())
def test_a_changed_key_is_seen(
    name: str, traced: Callable[[Sequence[str]], Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in KEYS.items():
        monkeypatch.setenv(variable, value)
    probe = probe_of(all_keys()[name])
    mapping = isinstance(all_keys()[name].default, dict)  # a new entry of an open mapping needs a plus
    line = f"{'+' if mapping else ''}{name}={getattr(probe, 'value', '')}"
    if isinstance(probe, Run):
        assert traced(probe.base) != traced((*probe.base, line))
    elif isinstance(probe, Look):
        base, other = (COMPOSER.compose([*SHAPE[:1], *probe.base, *more]) for more in ([], [line]))
        assert get(base, name) != get(other, name)
        assert probe.see(base) != probe.see(other)
    elif isinstance(probe, Refused):
        with pytest.raises(ConfigError):
            COMPOSER.compose([line])
    elif isinstance(probe, Agent):
        (told,) = without_effect(COMPOSER.compose(["benchmark=searchqa", "harness=openai_chat", line]))
        assert told.startswith(f"{name}=")
        assert list(without_effect(COMPOSER.compose(["benchmark=searchqa", *_agents_of(name), line]))) == []
    elif isinstance(probe, Elsewhere):
        assert probe.needle in (ROOT / probe.test).read_text(encoding="utf-8")
    else:
        assert probe.why


def _agents_of(name: str) -> list[str]:
    return ["harness=claude_code_exec" if "claude" in name else "harness=codex_exec"]


WHOLE_NUMBERS = [key.name for key in all_keys().values() if int in key.kinds]


@pytest.mark.parametrize("name", WHOLE_NUMBERS)
def test_zero_is_honoured_or_refused_and_never_replaced(name: str) -> None:
    key = all_keys()[name]
    base = ["harness=rehearsal", *(["optimizer.lr_scheduler=constant"] if "learning_rate" in name else [])]
    if name == "train.batch_size" or (key.low is not None and key.low > 0):
        with pytest.raises(ConfigError, match=name.replace(".", r"\.")):
            COMPOSER.compose([*base, f"{name}=0"])
    else:
        value = get(COMPOSER.compose([*base, f"{name}=0"]), name)
        assert value == 0
        assert not isinstance(value, bool)


@pytest.mark.parametrize(
    ("line", "base"),
    [
        ("optimizer.learning_rate", ()),
        ("optimizer.min_learning_rate", ("optimizer.lr_scheduler=linear", "optimizer.learning_rate=2")),
        ("optimizer.meta_learning_rate", ("optimizer.use_meta_reflect=true",)),
        ("gradient.deep_reflect_failures", ("gradient.use_deep_reflect=true",)),
        ("train.seed", ()),
        ("rehearsal.seed", ()),
    ],
)
def test_zero_is_neither_one_nor_the_default(
    line: str, base: Sequence[str], traced: Callable[[Sequence[str]], Trace]
) -> None:
    nothing = traced((*base, f"{line}=0"))
    assert nothing.outcome == "completed"
    assert nothing != traced((*base, f"{line}=1"))
    assert nothing != traced(base)


def test_no_edit_budget_and_no_items_to_look_at_again_cost_no_call(traced: Callable[[Sequence[str]], Trace]) -> None:
    idle = json.loads(traced(("optimizer.learning_rate=0",)).usage)[0]
    assert "reflect" not in idle.get("teacher", {})
    nothing = (
        "gradient.use_deep_reflect=true",
        "gradient.deep_reflect_failures=0",
        "gradient.deep_reflect_successes=0",
    )
    usage = json.loads(traced(nothing).usage)[0]
    assert "deep_reflect" not in usage["teacher"]


def test_a_rewriter_of_its_own_has_an_effort_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from reflact.engine.assemble import _rewriter

    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    mode = "optimizer.skill_update_mode=rewrite_from_suggestions"
    assert _rewriter(COMPOSER.compose(["harness=openai_chat", mode])) is None
    for effort in EFFORTS:
        line = f"optimizer.rewrite_reasoning_effort={effort}"  # such as rewrite_reasoning_effort=high
        model = _rewriter(COMPOSER.compose(["harness=openai_chat", mode, line]))
        assert model is not None
        assert model.info.settings["reasoning_effort"] == effort


def test_keys_of_the_evaluation_command_are_named_by_training() -> None:
    config = COMPOSER.compose(["skill=none", "split=val"])
    assert unread(config, ["skill", "split", "optimizer.learning_rate"]) == ["skill", "split"]


@pytest.mark.parametrize("workers", [1, 3])
def test_so_many_items_are_in_flight(workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reflact.harness.chat import ChatHarness

    now = most = 0
    plain = ChatHarness.perform

    async def counted(self: ChatHarness, item: object, job: object) -> object:
        nonlocal now, most
        now += 1
        most = max(most, now)
        try:
            return await plain(self, item, job)  # type: ignore[arg-type]
        finally:
            now -= 1

    monkeypatch.setattr(ChatHarness, "perform", counted)
    lines = [f"env.workers={workers}", "train.num_epochs=1", "rehearsal.latency_s=0.002"]  # such as env.workers=3
    config = COMPOSER.compose([*SHAPE, *lines])
    config.env.out_root = str(tmp_path / "run")
    train(config)
    assert most == workers
