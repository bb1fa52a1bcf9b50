from __future__ import annotations

import hashlib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflact.benchmarks.livemathematicianbench.options import Options, shuffled
from reflact.core.types import Item

OPTIONS = Options(("x > 0", "x >= 0", "A", "b and c", "none"), "B")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("B", "B"),
        ("(B)", "B"),
        ("B.", "B"),
        ("B)", "B"),
        ("Option B", "B"),
        ("option (b).", "B"),
        ("**B**", "B"),
        ("x >= 0", "B"),
        (" x  >=\n0 ", "B"),
        ("B. x >= 0", "B"),
        ("(B) x >= 0", "B"),
        ("B. x > 0", None),
        ("A", "C"),  # the exact text of an option goes before its letter
        ("b and c", "D"),
        ("B and C", None),
        ("B or C", None),
        ("F", None),
        ("", None),
        ("Because", None),
        ("x", None),
        ("The answer is B", None),
    ],
)
def test_reading_an_answer(answer: str, label: str | None) -> None:
    assert OPTIONS.read(answer) == label


@given(st.text(min_size=1, max_size=12), st.integers(-5, 10**9))
def test_the_order_follows_the_formula(name: str, seed: int) -> None:
    texts = [f"option {n}" for n in range(5)]
    item = Item(name, "q", (texts[0],), data={"options": list(texts)})
    value = int(hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()[:16], 16)
    wanted = list(texts)
    random.Random(value).shuffle(wanted)
    options = shuffled(item, seed)
    assert list(options.texts) == wanted
    assert wanted["ABCDE".index(options.right)] == texts[0]
    assert item.data["options"] == texts
