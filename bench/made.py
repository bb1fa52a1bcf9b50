"""Made data: a split folder in SearchQA's form, as large as the real one, and a server script that knows it."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from reflact.benchmarks.searchqa.rehearsal import RULES

CONTEXT_CHARS = 4000
"""Characters of a made context; the real ones are cut at 6000 at most."""
_SYLLABLES = ("ka", "lo", "mi", "ren", "sta", "vel", "tor", "una", "bri", "dex", "fa", "gul", "hem", "ist", "jor")


def write_split(folder: Path, *, train: int, val: int, test: int, seed: int = 1) -> dict[str, str]:
    """Write `<folder>/{train,val,test}/items.json`; return the answers by question."""
    rng = Random(seed)
    answers: dict[str, str] = {}
    for part, size in (("train", train), ("val", val), ("test", test)):
        items = [_item(f"{part}-{number:05d}", rng) for number in range(size)]
        place = folder / part
        place.mkdir(parents=True, exist_ok=True)
        (place / "items.json").write_text(json.dumps(items), encoding="utf-8")
        answers |= {item["question"]: item["answers"][0] for item in items}
    return answers


def brain_script(answers: dict[str, str], *, base: float = 0.5) -> dict[str, Any]:
    """Return a server script in which a brain plays student and teacher for these answers."""
    rules = [{"text": rule.text, "gain": rule.gain / 2} for rule in RULES]
    return {"brain": {"answers": answers, "rules": rules, "seed": 1, "base": base, "useless_rate": 0.3}}


def _item(identifier: str, rng: Random) -> dict[str, Any]:
    answer = _name(rng)
    documents = []
    length = 0
    while length < CONTEXT_CHARS:
        words = " ".join(_word(rng) for _ in range(60))
        documents.append(f"[DOC] [TLE] {_name(rng)} [PAR] {words} {answer if rng.random() < 0.3 else _name(rng)}.")
        length += len(documents[-1]) + 1
    question = f"The {_word(rng)} {_word(rng)} of {_name(rng)} ({identifier}) is named after this person"
    return {"id": identifier, "question": question, "context": f"{answer}. " + " ".join(documents), "answers": [answer]}


def _word(rng: Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=rng.randint(1, 4)))


def _name(rng: Random) -> str:
    return f"{_word(rng).title()} {_word(rng).title()}"
