from __future__ import annotations

from pathlib import Path

import pytest

from reflact.benchmarks.searchqa.rehearsal import RULES
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item

from ..support import converse, cut, make, question, write_split

QA = make("searchqa")
ITEM = Item("q", "Who wrote it?", ("Edgar Allan Poe", "Poe"), data={"context": "[DOC] [TLE] t [PAR] Poe did."})


def test_the_student_sees_skill_context_and_question() -> None:
    _, session = converse(QA, ITEM, "<answer>Poe</answer>", skill="# Be short")
    system, user = session.asked[0].messages
    assert (system.role, user.role) == ("system", "user")
    assert "<skill>\n# Be short\n</skill>" in system.content
    assert "[DOC] [TLE] t [PAR] Poe did." in user.content
    assert "Question: Who wrote it?" in user.content
    assert "Edgar" not in session.asked[0].text


def test_the_context_is_cut() -> None:
    long = Item("q", "?", ("x",), data={"context": "[DOC] " + "y" * 500})
    _, session = converse(make("searchqa", max_context_chars=100), long, "<answer>x</answer>")
    assert "y" * 88 + " [cut]" in session.asked[0].text


@pytest.mark.parametrize(
    ("reply", "hard", "soft", "reason"),
    [
        ("<answer>Poe</answer>", 1, 1, None),
        ('It is <answer>"edgar allan poe."</answer>', 1, 1, None),
        ("He is\n\nthe Poe", 1, 1, None),
        ("<answer>Edgar Poe</answer>", 0, 0.8, "too much"),
        ("<answer>Edgar</answer>", 0, 0.5, "too little"),
        ("<answer>Edgar Jones</answer>", 0, 0.4, "partly right"),
        ("<answer>Jones</answer>", 0, 0, "is wrong"),
        ("<answer> </answer>", 0, 0, "tags were empty"),
        ("No tag here, Jones", 0, 0, "no complete pair of answer tags"),
        ("<answer>", 0, 0, "gave no answer"),
    ],
)
def test_scores_and_reasons(reply: str, hard: float, soft: float, reason: str | None) -> None:
    outcome, _ = converse(QA, ITEM, reply)
    assert outcome.status is RowStatus.OK
    assert outcome.hard == hard
    assert outcome.soft == pytest.approx(soft)
    assert (outcome.fail_reason is None) == (reason is None)
    assert reason is None or (outcome.fail_reason is not None and reason in outcome.fail_reason)


def test_a_blank_answer_is_wrong_even_where_the_gold_is_an_article() -> None:
    outcome, _ = converse(QA, Item("q", "?", ("The",), data={"context": "c"}), "<answer></answer>")
    assert (outcome.hard, outcome.soft) == (0.0, 0.0)


def test_only_a_closed_tag_is_an_answer_of_a_cut_reply() -> None:
    outcome, session = converse(QA, ITEM, cut("It must be\nPoe"), cut("<answer>Poe"))
    assert (outcome.status, outcome.cause, outcome.hard) == (RowStatus.EMPTY, "length", 0.0)
    assert len(session.asked) == 2
    outcome, _ = converse(QA, ITEM, cut("<answer>Poe</answer> because"))
    assert (outcome.status, outcome.truncated, outcome.hard) == (RowStatus.OK, True, 1.0)


def test_golds_that_nothing_can_match_and_answers_out_of_sight_are_warned_about(tmp_path: Path) -> None:
    records = {part: [question(f"{part}{n}") for n in range(3)] for part in ("train", "val", "test")}
    records["val"][0]["answers"] = ["The"]
    records["test"] = [question(f"t{n}", context="[DOC] nothing here") for n in range(3)]
    benchmark = make("searchqa", split_dir=str(write_split(tmp_path, records)))
    findings = {finding.code: finding for finding in benchmark.check(benchmark.load())}
    assert set(findings) == {"blank_gold", "answer_out_of_sight"}
    assert "'val0'" in findings["blank_gold"].message
    assert "in 3 of 9 items" in findings["answer_out_of_sight"].message
    assert all(finding.level == "warning" for finding in findings.values())


def test_settings_follow_what_shapes_prompts() -> None:
    assert QA.settings() == make("searchqa").settings()
    for change in ({"max_context_chars": 500}, {"max_completion_tokens": 99}):
        assert make("searchqa", **change).settings() != QA.settings()
    assert make("searchqa", workers=3).settings() == QA.settings()


def test_the_initial_skill_holds_no_hidden_rule_and_no_gold() -> None:
    skill = QA.initial_skill()
    assert skill.startswith("# ")
    assert not [rule for rule in RULES if rule.text in skill]


def test_rehearsed_replies_score_as_asked() -> None:
    split = make("searchqa", sample=True).load()
    for item in (item for part in Part for item in split.parts[part]):
        for correct in (True, False):
            for seed in (0, 42):
                outcome, _ = converse(QA, item, QA.rehearse(item, correct, seed))
                assert (outcome.hard == 1.0) is correct
    assert QA.rehearse(item, True, 1) == QA.rehearse(item, True, 1)


def test_a_rehearsed_failure_is_wrong_even_for_absurd_golds() -> None:
    from reflact.benchmarks.searchqa.rehearsal import _WRONG

    item = Item("q", "?", _WRONG, data={"context": "c"})
    outcome, _ = converse(QA, item, QA.rehearse(item, False, 1))
    assert outcome.hard == 0.0


def test_every_sample_answer_stands_in_its_context() -> None:
    split = make("searchqa", sample=True).load()
    for item in (item for part in Part for item in split.parts[part]):
        assert any(gold.removeprefix("the ") in item.data["context"] for gold in item.gold), item.id
