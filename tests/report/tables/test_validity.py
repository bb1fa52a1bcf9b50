"""A run fills a cell only if it is complete and valid, and the table says which rule decided otherwise."""

import json

import pytest

from reflact.core.errors import ConfigError, DataError
from reflact.report.tables.compile import open_desk
from reflact.report.tables.explain import explain
from reflact.report.tables.rules import load_rules
from tests.report.tables.made import LR8, Made, score, write_rows
from tests.report.tables.reading import grids, reasons, row


@pytest.fixture
def study(tmp_path):
    """A DEFAULT run, and a run beside it that a test spoils before it is written."""
    Made(tmp_path).write()
    return tmp_path, Made(tmp_path, "LR-docvqa-8", sets=LR8)


def why(root, run_id="LR-docvqa-8", **options):
    return reasons(grids(root, **options)["lr"]).get(run_id)


def test_a_sound_run_fills_its_cell(study):
    root, run = study
    run.write()
    assert why(root) is None
    assert row(grids(root)["lr"], "8")["best_test"] == 0.9


def spoil_rows(status):
    def spoil(run):
        run.summary["rows"]["test"] |= {"ok": 9, status: 1}

    return spoil


def spoil_record(*path, value):
    def spoil(run):
        place = run.record
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value

    return spoil


def spoil_events(run):
    run.events.append({"t": 2.0, "kind": "warning", "code": "unsandboxed", "message": "no bubblewrap here"})


def fewer_rows(run):
    run.summary["best"]["test"] = score(run.best[:8])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (spoil_rows("error"), "error: 10% of 10 test rows (1), limit 0%"),
        (spoil_rows("empty"), "empty: 10% of 10 test rows (1), limit 2%"),
        (spoil_rows("timeout"), "timeout: 10% of 10 test rows (1), limit 5%"),
        (spoil_rows("refused"), "refused: 10% of 10 test rows (1), limit 2%"),
        (fewer_rows, "test_rows: the best skill's test evaluation has 8 of the split's 10 items"),
        (spoil_events, "unsandboxed: no bubblewrap here"),
        (spoil_record("config", "env", "sandbox", value="off"), "sandbox: env.sandbox=off"),
        (spoil_record("config", "env", "gold_feedback", value="train"), "gold_feedback: env.gold_feedback=train"),
        (spoil_record("split", "fingerprint", value="other"), "split: split in DEFAULT-docvqa-5.5, other here"),
        (spoil_record("skill_init", "sha256", value="other"), "source_skill: skill in DEFAULT-docvqa-5.5, other here"),
        (spoil_record("models", "student", "model", value="o"), "student: gpt-5.5 in DEFAULT-docvqa-5.5, o here"),
        (spoil_record("models", "teacher", "model", value="o"), "teacher: gpt-5.5 in DEFAULT-docvqa-5.5, o here"),
        (spoil_record("code_version", value="1+b"), "code_version: 1+a in DEFAULT-docvqa-5.5, 1+b here"),
        (spoil_record("harness", value="codex_exec"), "harness: openai_chat in DEFAULT-docvqa-5.5, codex_exec here"),
        (spoil_record("prompts", value={"merge": "b"}), "prompts: merge differ from DEFAULT-docvqa-5.5"),
        (spoil_record("identity", "train.num_epochs", value=2), "config: train.num_epochs: 4 in DEFAULT-docvqa-5.5, 2"),
        (spoil_record("identity", "optimizer.learning_rate", value=4), "label: LR 8 sets optimizer.learning_rate=8"),
        (spoil_record("identity", value=None), "record: config.json is missing or cannot be read"),
    ],
)
def test_each_rule_keeps_its_run_out_and_says_why(study, spoil, reason):
    root, run = study
    spoil(run)
    run.write()
    assert why(root).startswith(reason)
    raw = row(grids(root)["lr"], "8")
    assert raw["best_test"] is None and raw["fill"] == "" and raw["state"] == "done"
    assert f"decided by the rule `{reason.partition(':')[0]}`" in explain(open_desk([root]), "LR-docvqa-8")


def test_what_a_run_says_of_itself_counts_with_its_advice(study):
    root, run = study
    advice = "empty: 62% of 8 selection rows, limit 2%; 5 of them were cut at env.max_completion_tokens=512: raise it"
    run.summary["validity"] = {"valid": False, "reasons": [advice, "odd: something new"]}
    run.write()
    assert why(root) == f"{advice}; judged: odd: something new"


def test_the_seed_and_the_swept_keys_may_differ(study):
    root, run = study
    run.record["identity"]["train.seed"] = 7
    run.write()
    assert why(root) is None


def test_a_declared_release_is_compatible_and_said_to_be(study):
    root, run = study
    run.record["code_version"] = "1+b"
    run.record["identity"]["train.new_key"] = 1
    run.write()
    assert why(root) is not None
    made = grids(root, ignore=["code_version"])["lr"]
    assert row(made, "8")["best_test"] == 0.9
    assert "docvqa 8: declared harmless: code_version." in made.notes


def test_a_runs_own_validity_ignore_counts_for_it(study):
    root, run = study
    run.record["code_version"] = "1+b"
    run.record["config"]["validity"]["ignore"] = ["code_version"]
    run.write()
    assert why(root) is None


@pytest.mark.parametrize("name", ["code_versoin", "simulated", "state"])
def test_only_rules_that_may_be_ignored_can_be(study, name):
    with pytest.raises(ConfigError, match=f"validity.ignore={name}"):
        open_desk([study[0]], ignore=[name])


def test_without_a_default_nothing_is_valid_and_all_sides_are_shown(tmp_path):
    Made(tmp_path, "LR-docvqa-8", sets=LR8).write()
    Made(tmp_path, "LR-docvqa-1", sets={**LR8, "optimizer.learning_rate": 1}).write()
    grid = grids(tmp_path)["lr"]
    assert not any(raw["fill"] for raw in grid.raw)
    assert set(reasons(grid).values()) == {"reference: there is no complete DEFAULT-docvqa run to compare with"}
    assert [line[4] for line in grid.invalid] == ["0.900 n=10"] * 2


def test_two_defaults_that_differ_are_no_reference(study):
    root, run = study
    run.write()
    other = Made(root, folder="again")
    other.record["code_version"] = "1+b"
    other.write()
    assert "DEFAULT-docvqa runs" in why(root) and "differ (code_version" in why(root)


def test_a_default_with_error_rows_gives_way_to_a_sound_one(study):
    root, run = study
    run.write()
    other = Made(root, folder="a-bad-one")
    other.record["code_version"] = "1+b"
    other.summary["rows"]["test"]["error"] = 1
    other.write()
    assert why(root) is None


@pytest.mark.parametrize("flag", ["simulated", "sample"])
def test_what_is_not_real_never_stands_beside_what_is(study, flag):
    root, run = study
    run.summary[flag] = True
    run.write()
    assert why(root).startswith(f"{flag}: ")
    assert "(" not in grids(root)["lr"].title


@pytest.mark.parametrize("flag", ["simulated", "sample"])
def test_a_table_of_rehearsals_alone_is_allowed_and_marked(tmp_path, flag):
    for run in (Made(tmp_path), Made(tmp_path, "LR-docvqa-8", sets=LR8)):
        run.summary[flag] = True
        run.write()
    made = grids(tmp_path)
    assert {made[name].title for name in ("lr", "main")} == {f"LR ({flag.upper()})", f"Main results ({flag.upper()})"}
    assert row(made["lr"], "8")[flag] == "true"


def test_a_split_table_may_differ_in_the_split_alone(tmp_path):
    Made(tmp_path).write()
    run = Made(tmp_path, "SPLIT-docvqa-1shot", sets={"env.split_dir": {"sha256": "other"}})
    run.record["split"]["fingerprint"] = "other"
    run.record["config"]["env"]["split"] = "1shot"
    run.write()
    grid = grids(tmp_path)["split"]
    assert row(grid, "1shot")["fill"] == "measured"
    assert row(grid, "2-1-7")["fill"] == "reused"


def test_an_unfinished_run_is_explained_by_its_state(study):
    root, run = study
    run.write(complete=False)
    assert "decided by the rule `state`" in explain(open_desk([root]), "LR-docvqa-8")


def test_explain_names_the_nearest_run(study):
    root, run = study
    run.write()
    with pytest.raises(ConfigError, match=r"did you mean LR-docvqa-8"):
        explain(open_desk([root]), "LR-docvqa-9")


def test_rules_are_data(tmp_path):
    (tmp_path / "mine.yaml").write_text("rules: [{name: a, check: same, field: harness, kinds: [training]}]")
    (rule,) = load_rules(tmp_path)
    assert (rule.name, rule.check, rule.takes, rule.kinds) == ("a", "same", {"field": "harness"}, ("training",))


@pytest.mark.parametrize("text", ["rules: [{name: a}]", "rules: 1", "rules: [{name: a, check: b, kinds: [x]}]", ""])
def test_rules_that_make_no_sense_are_refused(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(ConfigError):
        load_rules(tmp_path)


def test_an_error_row_of_the_best_skill_is_no_pair(study):
    root, run = study
    path = run.write()
    (path / "test/best/results.jsonl").unlink()
    (path / "test/best").rmdir()
    write_rows(path / "test/best", [*run.best[:-1], None])
    assert row(grids(root)["lr"], "8")["delta_default_n"] == 9


NO_NUMBER = ["many", [], {"a": [1]}, True, 10**400]
NUMBERS = [
    "best.test.hard", "best.test.n", "best.selection.scored", "baseline.test.ci95.0", "tokens_total", "cost_usd",
    "wall_time_s", "steps.accepted", "rows.test.ok", "confidence.mcnemar_p", "usage_reused.student.prompt_tokens",
]  # fmt: skip


def set_in(data, place, value):
    *above, last = place.split(".")
    for name in above:
        data = data[name]
    data[int(last) if isinstance(data, list) else last] = value


@pytest.mark.parametrize("value", ["many", True, -5, 10**400], ids=["text", "truth", "negative", "huge"])
@pytest.mark.parametrize("place", NUMBERS)
def test_a_run_whose_summary_says_nonsense_is_left_out_and_the_place_is_named(study, place, value):
    root, run = study
    run.summary["usage_reused"] = {"student": {"prompt_tokens": 1, "completion_tokens": 1}}
    set_in(run.summary, place, value)
    run.write()
    told = why(root)
    assert told is not None and told.startswith(f"record: summary.json says {place}="), told
    assert row(grids(root)["lr"], "8")["best_test"] is None


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_summary_with_what_json_does_not_have_is_none(study, value):
    root, run = study
    set_in(run.summary, "best.test.n", value)
    run.write()
    assert row(grids(root)["lr"], "8")["best_test"] is None


@pytest.mark.parametrize("value", NO_NUMBER, ids=lambda value: str(value)[:8])
@pytest.mark.parametrize(
    ("place", "reason"),
    [("config.validity.max_empty_rate", "empty: config.json says of validity.max_empty_rate what is no number"),
     ("split.counts.test", "test_rows: config.json says of split.counts.test what is no number")],
)  # fmt: skip
def test_a_limit_that_is_no_number_is_no_limit_that_was_kept(study, place, reason, value):
    root, run = study
    set_in(run.record, place, value)
    run.write()
    assert (why(root) or "").startswith(reason)


@pytest.mark.parametrize("value", NO_NUMBER, ids=lambda value: str(value)[:8])
def test_a_row_that_says_nonsense_is_named_with_its_file(study, value):
    root, run = study
    file = run.write() / "test/best/results.jsonl"
    for name in ("hard", "repeat"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        file.write_text("".join(json.dumps({**line, name: value} if at == 3 else line) + "\n"
                                for at, line in enumerate(rows)))  # fmt: skip
        with pytest.raises(
            DataError, match=r"test/best/results.jsonl: the row of item 'i3' says .*numbers belong there"
        ):
            grids(root)
