"""`reflact tables` and `reflact export` on runs that were really made."""

import pytest
import yaml

import reflact
from reflact.cli.export import export
from reflact.cli.tables import tables
from reflact.core.errors import ConfigError, Refused
from reflact.report.export import agent_skill, check, default_name
from tests.cli.commands import run, tree
from tests.report.tables.made import LR8, Made


def trained(root, run_id, *overrides):
    config = reflact.compose(["harness=rehearsal", "benchmark=orders", "train.num_epochs=1", *overrides])
    config.env.out_root = str(root / run_id)
    return reflact.train(config)


def evaluated(root, run_id):
    config = reflact.compose(["harness=rehearsal", "benchmark=orders", "split=test", "skill=none"])
    config.env.out_root = str(root / run_id)
    reflact.evaluate(config)


@pytest.fixture
def finished(tmp_path):
    """A complete run with a skill."""
    made = Made(tmp_path / "runs", "LR-docvqa-8")
    made.summary["simulated"] = True
    path = made.write()
    (path / "best_skill.md").write_text("# Skill: docvqa\n\n- Read the page.\n")
    return path


def test_tables_and_export_of_real_runs(tmp_path, capsys):
    """Rehearsed runs: a default, a learning rate, a sample of another benchmark, no skill."""
    root = tmp_path / "study"
    trained(root, "DEFAULT-orders-5.5")
    trained(root, "LR-orders-8", "ablation/lr=lr8")
    trained(root, "DEFAULT-searchqa-5.5", "benchmark=searchqa", "env.sample=true")
    evaluated(root, "skill-none-orders-5.5")
    before = tree(root)
    tables([root], out=tmp_path / "out", ignore=["code_version"])
    assert "LR (SIMULATED): 1 of 1 rows filled" in capsys.readouterr().out
    main = (tmp_path / "out/main.md").read_text()
    assert "SIMULATED" in main and main.count("| orders |") == 3, main
    tables([root], explain="LR-orders-8")
    assert capsys.readouterr().out.count("ok ") > 15
    export(root / "LR-orders-8", out=tmp_path)
    text = (tmp_path / "lr-orders-8/SKILL.md").read_text()
    assert check(text, "lr-orders-8") == []
    with pytest.raises(Refused, match="an evaluation"):
        export(root / "skill-none-orders-5.5", out=tmp_path)
    assert tree(root) == before


def test_tables_say_what_they_need(tmp_path):
    with pytest.raises(ConfigError, match="--out DIR"):
        tables([tmp_path])
    with pytest.raises(ConfigError, match="nothing is not a directory"):
        tables([tmp_path / "nothing"], out=tmp_path / "out")


def test_export_writes_a_folder_that_readers_of_the_format_accept(finished, tmp_path):
    result = run(tmp_path, "reflact", "export", str(finished), "--format", "agent-skill")
    assert result.code == 0, result.err
    text = (tmp_path / "lr-docvqa-8/SKILL.md").read_text()
    assert check(text, "lr-docvqa-8") == []
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["name"] == "lr-docvqa-8" and front["metadata"]["simulated"] == "true"
    assert text.endswith("# Skill: docvqa\n\n- Read the page.\n")
    export(finished, out=tmp_path)
    with pytest.raises(Refused, match="exists already"):
        export(finished, out=tmp_path, description="another")
    with pytest.raises(Refused, match="inside a run directory"):
        export(finished, out=finished)


def test_export_refuses_what_is_not_complete(tmp_path):
    with pytest.raises(Refused, match="was refused"):
        export(Made(tmp_path, "LR-docvqa-8").write(complete=False), out=tmp_path)
    for place in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(ConfigError, match="reflact status"):
            export(place, out=tmp_path)


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--name", "Bad_Name", "lower-case letters"),
        ("--name", "a" * 65, "1 to 64"),
        ("--name", "a--b", "single hyphens"),
        ("--name", "my-claude", "reserved"),
        ("--description", "x" * 1025, "1025 characters"),
        ("--description", "for <b>you</b>", "tag"),
    ],
)
def test_export_keeps_the_limits_of_the_format(finished, option, value, problem):
    with pytest.raises(ConfigError, match=problem):
        agent_skill(finished, **{option[2:]: value})


@pytest.mark.parametrize(
    ("run_id", "name"),
    [
        ("LR-docvqa-8+BATCH-docvqa-24", "lr-docvqa-8-batch-docvqa-24"),
        ("HARNESS-Claude-SearchQA-lr8", "harness-agent-searchqa-lr8"),
        ("运行", "skill"),
        ("x" * 63 + "-y", "x" * 63),
    ],
)
def test_names_made_from_run_ids_are_valid(run_id, name):
    assert default_name(run_id) == name


def test_front_matter_cannot_be_broken_by_a_description(finished):
    text = agent_skill(finished, description="a: b\n---\n# 'x' \"y\"").text()
    assert yaml.safe_load(text.split("\n---\n")[0].removeprefix("---\n"))["description"] == "a: b --- # 'x' \"y\""


def test_a_figure_is_drawn_from_the_command_line(tmp_path):
    for run_id, sets in (("DEFAULT-docvqa-5.5", None), ("LR-docvqa-8", LR8)):
        Made(tmp_path / "study", run_id, sets=sets).write()
    command = ("reflact", "plot", "forest", "study", "--out", "figures/forest.svg")
    missing = run(tmp_path, *command)
    assert missing.code == 2 and "make it first" in missing.err
    (tmp_path / "figures").mkdir()
    result = run(tmp_path, *command)
    assert result.code == 0, result.err
    assert (tmp_path / "figures" / "forest.svg").read_text(encoding="utf-8").startswith("<?xml")
    assert run(tmp_path, "reflact", "plot", "forest", "study", "--out", "forest.gif").code == 2
