from __future__ import annotations

import pytest

from reflact.benchmarks.livemathematicianbench.options import shuffled
from reflact.benchmarks.livemathematicianbench.rehearsal import RULES
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item

from ..support import converse, cut, make

NAME = "livemathematicianbench"
MATH = make(NAME)
TEXTS = ["is open", "is closed", "is both", "is neither", "is empty"]
ITEM = Item("m:1", "What is S?", ("is open",), data={"options": TEXTS, "theorem": "Thm.", "sketch": "Skt."})
RIGHT = shuffled(ITEM, 42).right
WRONG = next(label for label in "ABCDE" if label != RIGHT)


def test_the_student_sees_every_option_once_and_which_is_right_nowhere() -> None:
    _, session = converse(MATH, ITEM, f"<answer>{RIGHT}</answer>", skill="# Think")
    system, user = session.asked[0].messages
    assert "<skill>\n# Think\n</skill>" in system.content
    options = shuffled(ITEM, 42)
    lines = [line for line in user.content.splitlines() if line.startswith("(")]
    assert lines == [f"({label}) {text}" for label, text in zip("ABCDE", options.texts, strict=True)]
    assert "Thm." not in user.content
    assert "Skt." not in user.content


def test_theorem_and_sketch_are_shown_where_asked_for() -> None:
    for change, shown in (({"use_theorem": True}, "Thm."), ({"use_sketch": True}, "Skt.")):
        benchmark = make(NAME, **change)
        _, session = converse(benchmark, ITEM, "A")
        assert shown in session.asked[0].text
        assert benchmark.settings() != MATH.settings()


@pytest.mark.parametrize("form", ["<answer>{0}</answer>", "so\n({0})", "{0}.", "<answer>Option {0}</answer>", "{1}"])
def test_the_right_option_scores(form: str) -> None:
    outcome, _ = converse(MATH, ITEM, form.format(RIGHT, "is open"))
    assert (outcome.status, outcome.hard, outcome.soft) == (RowStatus.OK, 1.0, 1.0)
    assert outcome.predicted_answer == RIGHT
    assert outcome.fail_reason is None


@pytest.mark.parametrize(
    ("reply", "predicted", "reason"),
    [
        (f"<answer>{WRONG}</answer>", WRONG, f"Option {WRONG} was chosen"),
        (f"<answer>{RIGHT}</answer> or rather <answer>{WRONG}</answer>", WRONG, f"Option {WRONG} was chosen"),
        ("<answer>B or C</answer>", "B or C", "neither the letter nor"),
        ("<answer></answer>", None, "tags were empty"),
        ("I cannot tell.", None, "last line named no option"),
    ],
)
def test_everything_else_fails_with_a_reason_that_gives_nothing_away(
    reply: str, predicted: str | None, reason: str
) -> None:
    outcome, _ = converse(MATH, ITEM, reply)
    assert (outcome.status, outcome.hard, outcome.soft) == (RowStatus.OK, 0.0, 0.0)
    assert outcome.predicted_answer == predicted
    assert outcome.fail_reason is not None
    assert reason in outcome.fail_reason
    assert "is open" not in outcome.fail_reason


def test_the_options_follow_the_seed_of_the_session() -> None:
    orders = {converse(MATH, ITEM, "A", seed=seed)[1].asked[0].text for seed in range(8)}
    assert len(orders) > 4
    for seed in range(8):
        outcome, _ = converse(MATH, ITEM, MATH.rehearse(ITEM, True, seed), seed=seed)
        assert outcome.hard == 1.0


def test_a_cut_reply_counts_if_it_names_an_option() -> None:
    for reply in (f"<answer>{RIGHT}</answer> since", f"so\n{RIGHT}"):
        outcome, session = converse(MATH, ITEM, cut(reply))
        assert (outcome.status, outcome.truncated, outcome.hard) == (RowStatus.OK, True, 1.0)
        assert len(session.asked) == 1
    outcome, session = converse(MATH, ITEM, cut("first I will"), cut(""))
    assert (outcome.status, outcome.cause) == (RowStatus.EMPTY, "length")
    assert len(session.asked) == 2


def test_five_of_eight_replies_eaten_by_the_cap_are_empty_and_not_wrong() -> None:
    items = make(NAME, sample=True).load().parts[Part.VAL][:8]
    outcomes = [
        converse(MATH, item, cut("") if n < 5 else MATH.rehearse(item, True, 42))[0] for n, item in enumerate(items)
    ]
    assert [outcome.status for outcome in outcomes] == [RowStatus.EMPTY] * 5 + [RowStatus.OK] * 3
    assert {outcome.cause for outcome in outcomes[:5]} == {"length"}


def test_rehearsed_replies_score_as_asked() -> None:
    split = make(NAME, sample=True).load()
    for item in (item for part in Part for item in split.parts[part]):
        for correct in (True, False):
            outcome, _ = converse(MATH, item, MATH.rehearse(item, correct, 42))
            assert (outcome.hard == 1.0) is correct


def test_the_initial_skill_holds_no_hidden_rule() -> None:
    assert MATH.initial_skill().startswith("# ")
    assert not [rule for rule in RULES if rule.text in MATH.initial_skill()]
