"""Finding out which question a prompt asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A question whose answer is known."""

    question: str
    answer: str
    task_type: str = ""


class QuestionBook:
    """Finds known questions in prompts, by their first line, so that thousands of them cost no more than one."""

    def __init__(self, known: Iterable[Known]) -> None:
        self.known = tuple(known)
        self._by_line: dict[str, list[Known]] = defaultdict(list)
        for entry in self.known:
            lines = _lines(entry.question)
            if lines:
                self._by_line[lines[0]].append(entry)

    def find(self, prompt: str) -> Known | None:
        """Return the question that a prompt asks: the last one in it, the longest if several begin alike."""
        found = None
        for line in _lines(prompt):
            # A prompt may put a label before the question: "Question: Which ...".
            for key in (line, line.partition(": ")[2]):
                fitting = [entry for entry in self._by_line.get(key, ()) if entry.question.strip() in prompt]
                found = max(fitting, key=_length, default=found)
        return found or max(self._inside(prompt), key=_length, default=None)

    def _inside(self, prompt: str) -> Iterator[Known]:
        return (entry for entry in self.known if entry.question.strip() and entry.question.strip() in prompt)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _length(entry: Known) -> int:
    return len(entry.question)
