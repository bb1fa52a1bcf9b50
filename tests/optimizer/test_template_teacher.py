from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflact.optimizer.edits import apply_edits
from reflact.optimizer.template_teacher import FORMAT_RULES, PLAN, TemplateTeacher, worked_example
from reflact.optimizer.types import (
    Analysis,
    BufferEntry,
    Change,
    Comparison,
    EpochReview,
    Evidence,
    Pair,
    PairKind,
    Source,
    StepContext,
    TrajectoryRef,
    UpdateMode,
)

from .fakes import SKILL, append, change, context, patch, ref, trajectory


def failures(n: int, **fields: Any) -> tuple[TrajectoryRef, ...]:
    return tuple(ref(f"i{k}", question=f"Order: {k}.", gold=(f"{k} | x",), **fields) for k in range(n))


def example(k: int) -> str:
    return f"Order: {k}.\nAnswer: {k} | x"


def entry(step: int = 1, *rejected: str) -> BufferEntry:
    return BufferEntry(step, "reject", 8, 8, (), tuple(append(content) for content in rejected))


def analyse(own: StepContext, refs: tuple[TrajectoryRef, ...], source: Source = Source.FAILURE) -> Analysis:
    return asyncio.run(TemplateTeacher().analyse(own, source, refs))


def contents(analysis: Analysis) -> list[str]:
    return [body["content"] for body in analysis.changes]


@pytest.mark.parametrize(("steps", "examples"), [(0, 1), (1, 2), (2, 4), (4, 1)])
def test_adds_the_first_failures_by_plan(steps: int, examples: int) -> None:
    analysis = analyse(context(buffer=(entry(),) * steps), failures(6))
    assert contents(analysis) == [example(k) for k in range(examples)]
    assert analysis.failure_types[0].count == 6


def test_then_the_next_format_rule() -> None:
    buffer = (entry(),) * PLAN.index(0)
    assert contents(analyse(context(buffer=buffer), failures(6))) == [f"- {FORMAT_RULES[0]}"]
    later = context(f"{SKILL}- {FORMAT_RULES[0]}\n", buffer=buffer)
    assert contents(analyse(later, failures(6))) == [f"- {FORMAT_RULES[1]}"]


def test_the_cap_holds() -> None:
    own = context(buffer=(entry(),) * 2, cap=3)
    assert len(analyse(own, failures(6)).changes) == 3
    assert not analyse(context(cap=0), failures(6)).changes


def test_what_is_there_or_was_just_rejected_is_not_proposed_again() -> None:
    own = context(f"{SKILL}\n{example(0)}\n", buffer=(entry(1, example(1)),))
    assert contents(analyse(own, failures(4))) == [example(2), example(3)]


def test_without_gold_there_are_only_rules() -> None:
    refs = (ref("a", question="Order: 1."), ref("b", gold=("x",), question=None))
    assert contents(analyse(context(), refs)) == [f"- {FORMAT_RULES[0]}"]


def test_nothing_left_is_no_change() -> None:
    skill = "\n".join(FORMAT_RULES)
    assert not analyse(context(skill), (ref("a"),)).changes


def test_successes_are_left_alone() -> None:
    assert not analyse(context(), failures(3), Source.SUCCESS).changes


def test_edits_pass_through_the_ordinary_stages() -> None:
    bodies = analyse(context(buffer=(entry(),)), failures(2)).changes
    applied = apply_edits("# Skill\n", [Change(body, Source.FAILURE, ("i0",)) for body in bodies])
    assert applied.text == f"# Skill\n\n{example(0)}\n\n{example(1)}\n"


def test_suggestions_are_carried_out_by_rewrite() -> None:
    own = context(mode=UpdateMode.SUGGESTIONS)
    (body,) = analyse(own, failures(2)).changes
    assert body["type"] == "add_rule"
    skill, summary = asyncio.run(TemplateTeacher().rewrite(own, (change(body),)))
    assert skill == f"{SKILL}\n{example(0)}\n"
    assert summary


def test_drafts_hold_the_skill_and_are_joined() -> None:
    own = context(mode=UpdateMode.FULL_REWRITE, cap=None)
    drafts = [analyse(own, refs).changes for refs in (failures(1), failures(3)[2:])]
    assert drafts[0][0]["skill"] == f"{SKILL}\n{example(0)}\n"
    patches = tuple(patch(Source.FAILURE, ("a",)) for _ in drafts)
    patches = tuple(type(one)(one.reasoning, (change(draft[0]),)) for one, draft in zip(patches, drafts, strict=True))
    (joined,) = asyncio.run(TemplateTeacher().merge(own, patches, True)).changes
    assert joined.sources == (0, 1)
    assert joined.body["skill"] == f"{SKILL}\n{example(0)}\n\n{example(2)}\n"


def test_merge_joins_equal_changes() -> None:
    patches = (patch(Source.FAILURE, ("a",), ("b",)), patch(Source.FAILURE, ("a",)))
    merge = asyncio.run(TemplateTeacher().merge(context(), patches, False))
    assert [merged.sources for merged in merge.changes] == [(0, 2), (1,)]


def test_rank_is_by_support() -> None:
    changes = (change(append("- a"), ("a",)), change(append("- b"), ("a", "b")))
    assert asyncio.run(TemplateTeacher().rank(context(), changes, 1)) == (1,)


def test_learning_rate() -> None:
    changes = tuple(change(append(f"- {n}")) for n in range(9))
    rate = asyncio.run(TemplateTeacher().choose_learning_rate(context(), Evidence(8, 0.5, 0.5, changes)))
    assert rate.learning_rate == 4


def test_epoch_end() -> None:
    still = Pair("i0", PairKind.PERSISTENT_FAIL, *(failures(1) * 2))
    stable = Pair("b", PairKind.STABLE_SUCCESS, ref("b", 1.0), ref("b", 1.0))
    teacher = TemplateTeacher()
    comparison = Comparison(SKILL, SKILL, (stable, still))
    assert asyncio.run(teacher.guide(comparison, "former"))[1] == example(0)
    assert asyncio.run(teacher.guide(Comparison(SKILL, SKILL, (stable,)), "former"))[1] == "former"
    assert "persistent_fail: 1" in asyncio.run(teacher.remember(comparison, ""))[1]
    summary, analysis = asyncio.run(teacher.review(EpochReview(2, ({},), "", SKILL), 4))
    assert "Epoch 2" in summary
    assert contents(analysis) == [f"- {FORMAT_RULES[0]}"]
    assert asyncio.run(teacher.diagnose(context(), failures(1)))


def test_long_examples_are_left_out() -> None:
    assert worked_example(trajectory("a", question="x" * 3000, gold=("y",))) is None


def test_fingerprint_is_stable() -> None:
    assert TemplateTeacher().fingerprint == TemplateTeacher().fingerprint
