"""Skills written at once, and the answers to a search's prompts, by every teacher."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflact.config.operation import RehearsalConfig
from reflact.core.types import Rule
from reflact.optimizer.evolve import evolve
from reflact.optimizer.one_shot import write_once
from reflact.optimizer.presenting import LEAST_CHARS, share_room
from reflact.optimizer.protected import END, START, with_guidance
from reflact.optimizer.rehearsal_calls import FreeCalls
from reflact.optimizer.rehearsal_teacher import RehearsalTeacher
from reflact.optimizer.teacher import Teacher, TeacherFailure
from reflact.optimizer.template_teacher import TemplateTeacher
from reflact.optimizer.types import Evolution, UpdateMode

from .fakes import SKILL, FakeTeacher, MemoryJournal, context, raising, ref
from .test_llm_teacher import ScriptedCaller, ask, make

REFS = tuple(ref(f"i{k}", 0.0, question=f"Order: {k}.", gold=(f"{k} | x",)) for k in range(6))
RULES = (Rule("Rule one.", 0.1), Rule("Rule two.", 0.1))
PLAIN: dict[str, Teacher] = {
    "template": TemplateTeacher(),
    "rehearsal": RehearsalTeacher(RehearsalConfig(useless_edit_rate=0), RULES, FreeCalls()),
}


def whole() -> Any:
    return context(with_guidance(SKILL, "be careful"), UpdateMode.FULL_REWRITE)


def once(teacher: Any, journal: MemoryJournal | None = None, max_chars: int = 0) -> Any:
    return asyncio.run(write_once(whole(), REFS, teacher, journal or MemoryJournal(), max_chars))


def test_a_skill_written_at_once_keeps_the_block_that_its_writer_never_saw() -> None:
    teacher = FakeTeacher()
    written = once(teacher)
    assert "slow-update" not in teacher.calls[0][1][0].skill
    assert written.text.endswith(f"{START}\nbe careful\n{END}\n")
    assert "- Written at once." in written.text


def test_it_is_asked_for_once() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    assert once(teacher, journal) == once(teacher, journal)
    assert teacher.count("compose") == 1


@pytest.mark.parametrize(
    ("answer", "max_chars", "cause"),
    [
        (raising(TeacherFailure("truncated", "cut")), 0, "truncated"),
        (lambda *_: ("why", "  \n"), 0, "empty"),
        (lambda *_: ("why", "x" * 500), 300, "too_long"),
    ],
)
def test_what_cannot_be_taken_whole_is_a_recorded_failure(answer: Any, max_chars: int, cause: str) -> None:
    written = once(FakeTeacher(compose=answer), max_chars=max_chars)
    assert (written.text, written.cause) == (None, cause)
    assert written.to_json()["skill_sha256"] is None


@pytest.mark.parametrize("name", PLAIN)
def test_teachers_without_prompts_write_what_they_know(name: str) -> None:
    _, skill = asyncio.run(PLAIN[name].compose(context(mode=UpdateMode.FULL_REWRITE), REFS))
    assert skill.startswith(SKILL.rstrip("\n"))
    known = "Order: 0.\nAnswer: 0 | x" if name == "template" else "Rule "
    assert known in skill
    reply = asyncio.run(PLAIN[name].evolve(Evolution(SKILL, REFS[:1], "prompt")))
    assert reply.startswith(f"```\n{SKILL.rstrip()}"), "a search finds the text between its fences"
    assert reply.endswith("\n```")
    assert known in reply


def test_a_search_is_answered_with_free_text() -> None:
    caller = ScriptedCaller("```\n# New\n```")
    evolution = Evolution(SKILL, REFS, "THE PROMPT")
    assert ask(caller, lambda t: t.evolve(evolution)) == "```\n# New\n```"
    assert caller.requests[0].schema is None
    assert [message.content for message in caller.requests[0].messages] == ["THE PROMPT"]
    assert caller.paid == [("reflect", "train")]


@pytest.mark.parametrize(("reply", "cause"), [("", "empty"), (("# Half", "length"), "truncated")])
def test_free_text_that_is_cut_or_empty_has_one_more_chance(reply: Any, cause: str) -> None:
    evolution = Evolution(SKILL, REFS, "THE PROMPT")
    assert ask(ScriptedCaller(reply, "good"), lambda t: t.evolve(evolution)) == "good"
    teacher, events = make(ScriptedCaller(reply, reply))
    journal = MemoryJournal()
    assert asyncio.run(evolve(evolution, teacher, journal)) == (None, cause)
    assert len(events) == 2
    assert asyncio.run(evolve(evolution, teacher, journal)) == (None, cause), "a recorded failure is a result"


def test_another_prompt_or_trajectory_is_another_question() -> None:
    teacher, journal = FakeTeacher(), MemoryJournal()
    for evolution in (Evolution(SKILL, REFS, "a"), Evolution(SKILL, REFS, "b"), Evolution(SKILL, REFS[:2], "b")):
        asyncio.run(evolve(evolution, teacher, journal))
    assert teacher.count("evolve") == 3


@pytest.mark.parametrize(
    ("room", "most", "count", "expected"),
    [
        (96000, 12000, 4, (12000, 4)),
        (96000, 12000, 40, (2400, 40)),
        (96000, 12000, 400, (LEAST_CHARS, 160)),
        (300, 200, 5, (200, 1)),
        (96000, 12000, 0, (12000, 0)),
    ],
)
def test_a_batch_shares_the_room_of_one_call(room: int, most: int, count: int, expected: tuple[int, int]) -> None:
    assert share_room(room, most, count) == expected
