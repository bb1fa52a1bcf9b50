"""What a run's teacher was sent is built anew from the run's files, byte for byte, without a call or a write."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reflact.benchmarks.orders import Orders
from reflact.cli.main import build
from reflact.config.compose import compose
from reflact.core.errors import ConfigError, DataError
from reflact.engine.run import train
from reflact.report.prompt_list import templates
from reflact.report.replay import replay
from reflact.testing import Brain, ScriptedServer

SHAPE = ["train.batch_size=6", "train.num_epochs=3", "gradient.minibatch_size=2", "evaluation.sel_env_num=12",
         "evaluation.eval_test=false", "optimizer.use_slow_update=true", "optimizer.use_meta_skill=true",
         "optimizer.slow_update_samples=4", "optimizer.learning_rate=2", "train.stop_at_perfect=false"]  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, set[str]]]:
    """A run with a simulated student and a scripted teacher behind prompts; all that the teacher was sent."""
    root = tmp_path_factory.mktemp("replay") / "run"
    brain = Brain.for_benchmark(Orders(compose(["benchmark=orders"])))
    with ScriptedServer(brain) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "a-key")
        config = compose(["harness=rehearsal", "model.teacher_backend=openai_chat", *SHAPE,
                          f"model.teacher_base_url={server.base_url}"])  # fmt: skip
        config.env.out_root = str(root)
        train(config)
        yield root, {seen.user for seen in server.log.requests}


def bytes_of(root: Path) -> str:
    texts = [path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()]
    return hashlib.sha256(b"\0".join(texts)).hexdigest()


def test_every_call_of_the_run_is_rebuilt_exactly(real: tuple[Path, set[str]]) -> None:
    root, sent = real
    before = bytes_of(root)
    calls = replay(root, 10_000)
    assert all(call.exact for call in calls)
    assert {call.messages[1].content.strip() for call in calls} == {text.strip() for text in sent}
    assert {"reflect", "aggregate", "select", "slow_update", "meta_skill"} <= {call.stage for call in calls}
    assert bytes_of(root) == before


def test_a_walk_ends_with_its_step(real: tuple[Path, set[str]]) -> None:
    names = {call.name.split("/")[1] for call in replay(real[0], 2)}
    assert names == {"step_0001", "step_0002"}


def test_the_command_prints_a_step(real: tuple[Path, set[str]]) -> None:
    arguments = ["prompts", "show", "--run", str(real[0]), "--step", "2"]
    shown = CliRunner().invoke(build(arguments), arguments)
    assert shown.exit_code == 0
    assert "=== steps/step_0002/patches/" in shown.stdout
    assert "as it was sent" in shown.stdout
    assert "=== steps/step_0001" not in shown.stdout
    few = CliRunner().invoke(build(arguments), [*arguments, "--only", "patches/failure"])
    assert few.stdout.count("=== ") == few.stdout.count("=== steps/step_0002/patches/failure")
    nothing = CliRunner().invoke(build(arguments), [*arguments[:-1], "99"])
    assert nothing.exit_code == 2
    assert "step 99" in nothing.output


@pytest.mark.parametrize("method", ["reflact", "one_shot", "gepa"])
def test_a_simulated_run_shows_what_a_model_would_be_sent(tmp_path: Path, method: str) -> None:
    config = compose(["harness=rehearsal", f"optimizer={method}", *SHAPE, "optimizer.gepa_metric_calls=60"])
    config.env.out_root = str(tmp_path / "run")
    train(config)
    calls = replay(tmp_path / "run", 2)
    assert calls
    assert not any(call.exact for call in calls), "the prompts are real, the run's teacher was not"
    assert all(call.messages[-1].content for call in calls)


def test_what_is_no_run_or_has_other_items_is_refused(
    tmp_path: Path, real: tuple[Path, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="no training run"):
        replay(tmp_path, 1)
    record = (real[0] / "config.json").read_text(encoding="utf-8").replace('"size": "small"', '"size": "large"')
    (tmp_path / "run" / "skills").mkdir(parents=True)
    (tmp_path / "run" / "skills" / "step_0000.md").write_text("# Skill\n", encoding="utf-8")
    (tmp_path / "run" / "config.json").write_text(
        record.replace('"size": "small"', '"size": "large"'), encoding="utf-8"
    )
    with pytest.raises(DataError, match="other items"):
        replay(tmp_path / "run", 1)


def test_the_list_names_versions_hashes_and_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = {template.name: template for template in templates(compose(["benchmark=orders"]))}
    assert {template.source for template in shipped.values()} == {"reflact"}
    monkeypatch.setattr(Orders, "prompts", lambda self: {"rank": "# Mine\n\n{{ changes | length }}"})
    replaced = {template.name: template for template in templates(compose(["benchmark=orders"]))}
    assert (replaced["rank"].source, replaced["rank"].version) == ("orders", "")
    assert replaced["rank"].sha256 != shipped["rank"].sha256
    student = [t for t in templates(compose(["benchmark=searchqa", "env.sample=true"])) if t.role == "student"]
    assert {template.name for template in student} == {"system", "student"}


def test_the_commands_list_and_show_templates() -> None:
    for line, wanted in (("list", "analyse_failure"), ("show --only rank", "# Choose")):
        arguments = ["prompts", *line.split()]
        shown = CliRunner().invoke(build(arguments), arguments)
        assert shown.exit_code == 0, shown.output
        assert wanted in shown.stdout
