from __future__ import annotations

import pytest

from reflact.benchmarks.orders.score import extract, grade

GOLD = "7 | clocks | Dover"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Answer: 7 | clocks | Dover", GOLD),
        ("7 | clocks | Dover\n", GOLD),
        ("\n\n  7 | clocks | Dover  \nOrder: more", GOLD),
        ("Here it is:\n\nAnswer: 7 | clocks | Dover\nAnswer: 8 | clocks | Dover", GOLD),
        ("Answer:\n7 | clocks | Dover", GOLD),
        ("Answer: Answer: 7", "Answer: 7"),
        ("", None),
        (" \n\t\n", None),
        ("Answer:", None),
        ("Answer:  \n\n", None),
    ],
)
def test_extract(reply: str, answer: str | None) -> None:
    assert extract(reply) == answer


@pytest.mark.parametrize(
    ("answer", "hard", "soft"),
    [
        (GOLD, 1.0, 1.0),
        ("7|clocks|Dover", 1.0, 1.0),
        ("7 | clocks | dover", 0.0, 2 / 3),
        ("seven | clocks | Dover", 0.0, 2 / 3),
        ("clocks | 7 | Dover", 0.0, 1 / 3),
        ("7 clocks to Dover", 0.0, 0.0),
        ("7 | clocks", 0.0, 2 / 3),
        ("7 | clocks | Dover | TUE", 0.0, 3 / 4),
        ("|||", 0.0, 0.0),
    ],
)
def test_grade(answer: str, hard: float, soft: float) -> None:
    score = grade(answer, GOLD)
    assert (score.hard, score.soft) == (hard, pytest.approx(soft))
