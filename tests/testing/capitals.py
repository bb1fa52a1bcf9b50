"""A complete small benchmark, as a third party would write it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.benchmarks.protocol import Finding, Rule, Split
from reflact.core.hashing import digest
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Outcome, Turn
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import Message

CITIES = {
    "France": "Paris",
    "Peru": "Lima",
    "Kenya": "Nairobi",
    "Japan": "Tokyo",
    "Cuba": "Havana",
    "Chad": "N'Djamena",
}


def write_data(folder: Path) -> Path:
    pairs = list(CITIES.items())
    parts = {part: pairs[2 * place : 2 * place + 2] for place, part in enumerate(Part)}
    path = folder / "capitals.json"
    path.write_text(json.dumps(parts))
    return path


class Capitals:
    name = "capitals"
    version = "1"
    teacher_sees_gold = True

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> Split:
        data = json.loads(self._path.read_text())
        parts = {
            part: tuple(Item(country, f"What is the capital of {country}?", (city,)) for country, city in data[part])
            for part in Part
        }
        prints = {part: digest([[item.id, item.question, list(item.gold)] for item in parts[part]]) for part in Part}
        return Split("capitals", str(self._path), parts, prints)

    def check(self, split: Split) -> Sequence[Finding]:
        return ()

    def initial_skill(self) -> str:
        return "# Capitals\n\nAnswer the question.\n"

    def prompts(self) -> Mapping[str, str]:
        return {}

    def settings(self) -> Mapping[str, Any]:
        return {"form": "tags"}

    def rules(self) -> Sequence[Rule]:
        return (Rule("Name the seat of government.", 0.3),)

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        asked = [Message("system", session.skill), Message("user", f"{item.question} Use <answer></answer>.")]
        reply = await session.reply(asked)
        turns = (Turn("user", asked[1].content), Turn("assistant", reply.text))
        if not reply.text.strip():
            reason = "The reply is empty."
            return Outcome(RowStatus.EMPTY, "empty", 0.0, 0.0, fail_reason=reason, n_turns=1, conversation=turns)
        found = re.findall(r"<answer>(.*?)</answer>", reply.text)
        answer = found[-1] if found else None
        hard = float(answer in item.gold)
        reason = None if hard else self.reason(item, answer)
        return Outcome(RowStatus.OK, None, hard, hard, answer, reason, n_turns=1, conversation=turns)

    def reason(self, item: Item, answer: str | None) -> str:
        return f"The answer {answer!r} is not right."

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        return f"<answer>{item.gold[0] if correct else 'Atlantis'}</answer>"
