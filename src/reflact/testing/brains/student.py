"""The student's part: right or wrong by chance, the more often right the more known rules its skill holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from reflact.core.hashing import digest
from reflact.core.types import Json, Rule
from reflact.testing.brains.book import Known, QuestionBook
from reflact.testing.exchange import SeenRequest

_SKILL = re.compile(r"<skill>(.*?)</skill>", re.DOTALL)
_OPTION = re.compile(r"^\s*(?:\(([A-Z])\)|([A-Z])[.)])\s+", re.MULTILINE)


def chance(*key: Json) -> float:
    """Return a number in [0, 1) that depends on the key alone."""
    return int(digest(list(key))[:13], 16) / 16.0**13


@dataclass(slots=True)
class Student:
    """Answers known questions.

    An item succeeds iff a number drawn from (seed, question, skill) is below `base` plus the gains of the rules
    that stand in the prompt.

    Attributes:
        known: Questions with their answers.
        rules: Lines that help.
        seed: Seed of all chance.
        base: Probability of success without any rule.
        noisy: Draw anew for every skill text, as a real model would; without it a rule never hurts an item.
    """

    known: Iterable[Known]
    rules: tuple[Rule, ...] = ()
    seed: int = 0
    base: float = 0.3
    noisy: bool = True
    _book: QuestionBook = field(init=False)

    def __post_init__(self) -> None:
        self._book = QuestionBook(self.known)

    def answer(self, seen: SeenRequest) -> str | None:
        """Return what the student says, None if the prompt asks nothing that is known."""
        known = next(filter(None, (self._book.find(m.text) for m in seen.messages if m.role == "user")), None)
        if known is None:
            return None
        answer = _option(seen.user, known.answer, self._succeeds(seen, known), self.seed)
        return f"One answer remains.\n<answer>{answer}</answer>" if "<answer>" in seen.text else answer

    def _succeeds(self, seen: SeenRequest, known: Known) -> bool:
        luck = chance(self.seed, known.question, skill_in(seen) if self.noisy else "")
        return luck < self.probability(seen.text, known.task_type)

    def probability(self, skill: str, task_type: str = "") -> float:
        """Return the probability of success under a skill (or a whole prompt)."""
        held = (
            rule for rule in self.rules if rule.text in skill and (not rule.task_types or task_type in rule.task_types)
        )
        return min(1.0, max(0.0, self.base + math.fsum(rule.gain for rule in held)))


def skill_in(seen: SeenRequest) -> str:
    """Return the skill that a student's prompt holds: its marked block, else the system message, else nothing."""
    block = _SKILL.search(seen.text)
    return (block[1] if block else seen.system).strip()


def _option(prompt: str, answer: str, right: bool, seed: int) -> str:
    """Return the answer, or a wrong one; a letter if the answer is one of the prompt's lettered options."""
    options = _options(prompt)
    wanted = " ".join(answer.split())
    # The last option's text runs into what follows it, so equality is asked first and a common beginning second.
    label = next((key for key, text in options.items() if text == wanted), None) or next(
        (key for key, text in options.items() if text.startswith(wanted)), None
    )
    if label is None:
        return answer if right else f"something else {digest([seed, answer])[:6]}"
    others = [key for key in options if key != label] or ["Z"]
    return label if right else others[int(chance(seed, answer, prompt) * len(others))]


def _options(prompt: str) -> dict[str, str]:
    marks = list(_OPTION.finditer(prompt))
    edges = [*(mark.start() for mark in marks), len(prompt)]
    texts = [prompt[mark.end() : edge] for mark, edge in zip(marks, edges[1:], strict=True)]
    return {mark[1] or mark[2]: " ".join(text.split()) for mark, text in zip(marks, texts, strict=True)}
