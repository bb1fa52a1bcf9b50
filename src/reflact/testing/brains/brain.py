"""A student and a teacher behind one address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from reflact.benchmarks.protocol import Benchmark
from reflact.core.types import Rule
from reflact.testing.brains.book import Known
from reflact.testing.brains.student import Student
from reflact.testing.brains.teacher import Teacher
from reflact.testing.exchange import Reply, SeenRequest


@dataclass(frozen=True, slots=True)
class Brain:
    """A responder that answers students' and teachers' requests, whichever comes.

    A request is a teacher's if it asks for structured output, or shows a JSON schema; a student's if it asks a known
    question. Everything is deterministic by seed.
    """

    student: Student
    teacher: Teacher

    def __call__(self, seen: SeenRequest) -> Reply:
        """Answer a request."""
        said = self.teacher.answer(seen)
        if said is None:
            said = self.student.answer(seen)
        return Reply("Name what decided the answer before giving it." if said is None else said)

    @classmethod
    def of(
        cls,
        known: Iterable[Known],
        rules: Iterable[Rule] = (),
        *,
        seed: int = 0,
        base: float = 0.3,
        noisy: bool = True,
        changes_per_reply: int = 1,
        useless_rate: float = 0.0,
    ) -> Self:
        """Return a brain whose two halves share rules and seed; see `Student` and `Teacher`."""
        shared = tuple(rules)
        return cls(
            Student(tuple(known), shared, seed, base, noisy),
            Teacher(shared, seed, changes_per_reply, useless_rate),
        )

    @classmethod
    def for_benchmark(cls, benchmark: Benchmark, *, seed: int = 0, base: float = 0.3, noisy: bool = True) -> Self:
        """Return a brain that knows a benchmark's items and its hidden rules."""
        items = [item for part in benchmark.load().parts.values() for item in part]
        known = [Known(item.question, item.gold[0], item.task_type) for item in items if item.gold]
        return cls.of(known, benchmark.rules(), seed=seed, base=base, noisy=noisy)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Return a brain from a script's `brain` object.

        It holds `answers` (answers by question), and optionally `rules` (objects with `text`, `gain` and
        `task_types`) and the keyword arguments of `of`.
        """
        options = dict(data)
        known = [Known(question, answer) for question, answer in options.pop("answers", {}).items()]
        rules = [
            Rule(rule["text"], rule.get("gain", 0.1), tuple(rule.get("task_types", ())))
            for rule in options.pop("rules", ())
        ]
        return cls.of(known, rules, **options)
