from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from reflact.config.operation import RehearsalConfig
from reflact.core.names import Phase, Stage
from reflact.core.types import Json, Rule
from reflact.optimizer.bodies import is_usable
from reflact.optimizer.rehearsal_teacher import MOST_FINDINGS, USELESS, RehearsalTeacher
from reflact.optimizer.types import (
    Analysis,
    BufferEntry,
    Comparison,
    EpochReview,
    Evidence,
    Pair,
    PairKind,
    Patch,
    Source,
    TrajectoryRef,
    UpdateMode,
)

from .fakes import SKILL, append, change, context, patch, ref

RULES = tuple(Rule(f"Rule {n} of the task.", 0.1, ("kind",) if n % 2 else ()) for n in range(8))


class Paid:
    """Remembers what was paid for."""

    def __init__(self) -> None:
        self.stages: list[tuple[Stage, Phase]] = []
        self.prompts: list[str] = []

    async def make(self, stage: Stage, phase: Phase, prompt: str, reply: Json) -> None:
        self.stages.append((stage, phase))
        self.prompts.append(prompt)


def teacher(paid: Paid | None = None, useless: float = 0.3, seed: int = 0) -> RehearsalTeacher:
    settings = RehearsalConfig(seed=seed, useless_edit_rate=useless)
    return RehearsalTeacher(settings, RULES, Paid() if paid is None else paid)


def refs(n: int = 4, task_type: str = "kind", hard: float = 0.0) -> tuple[TrajectoryRef, ...]:
    return tuple(ref(f"i{k}", hard, task_type) for k in range(n))


def analyse(own: RehearsalTeacher, source: Source = Source.FAILURE, **more: Any) -> Analysis:
    members = more.pop("members", refs())
    return asyncio.run(own.analyse(context(**more), source, members))


def rules_in(text: str) -> list[Rule]:
    return [rule for rule in RULES if rule.text in text]


class TestAnalyses:
    def test_failures_lead_to_rules(self) -> None:
        found = [analyse(teacher(useless=0.0), seed=seed) for seed in range(20)]
        assert all(1 <= len(analysis.changes) <= MOST_FINDINGS for analysis in found)
        assert all(rules_in(body["content"]) for analysis in found for body in analysis.changes)
        assert found[0].failure_types[0].count == 4

    def test_the_same_call_gives_the_same_reply(self) -> None:
        assert analyse(teacher(), seed=3) == analyse(teacher(), seed=3)
        different: list[Callable[[], Analysis]] = [
            lambda: analyse(teacher(seed=1), seed=3),
            lambda: analyse(teacher(), seed=4),
            lambda: analyse(teacher(), seed=3, members=refs(7)),
        ]
        assert any(make() != analyse(teacher(), seed=3) for make in different)

    def test_only_rules_that_concern_the_failures(self) -> None:
        for seed in range(20):
            for body in analyse(teacher(useless=0.0), seed=seed, members=refs(task_type="other")).changes:
                (rule,) = rules_in(body["content"])
                assert not rule.task_types

    def test_useless_edits_come_at_their_rate(self) -> None:
        bodies = [body for seed in range(300) for body in analyse(teacher(useless=0.4), seed=seed).changes]
        useless = sum(any(text in body["content"] for text in USELESS) for body in bodies) / len(bodies)
        assert useless == pytest.approx(0.4, abs=0.08)

    def test_some_targets_are_not_there(self) -> None:
        bodies = [body for seed in range(300) for body in analyse(teacher(useless=0.8), seed=seed).changes]
        missing = sum(body["op"] == "replace" for body in bodies) / len(bodies)
        assert missing == pytest.approx(0.2, abs=0.07)

    def test_held_and_rejected_rules_are_not_found_again(self) -> None:
        skill = SKILL + "".join(f"- {rule.text}\n" for rule in RULES[:4])
        tried = BufferEntry(1, "reject", 4, 4, (), tuple(append(f"- {rule.text}") for rule in RULES[4:7]))
        for seed in range(20):
            for body in analyse(teacher(useless=0.0), skill=skill, buffer=(tried,), seed=seed).changes:
                assert rules_in(body["content"]) in ([RULES[7]], [])

    def test_the_cap_holds(self) -> None:
        assert not analyse(teacher(), cap=0).changes
        assert all(len(analyse(teacher(), cap=1, seed=seed).changes) <= 1 for seed in range(10))

    def test_successes_teach_nothing(self) -> None:
        found = [analyse(teacher(), Source.SUCCESS, members=refs(hard=1.0), seed=seed) for seed in range(60)]
        counts = Counter(len(analysis.changes) for analysis in found)
        assert set(counts) == {0, 1}
        assert not any(rules_in(str(body)) for analysis in found for body in analysis.changes)

    @pytest.mark.parametrize("mode", UpdateMode)
    def test_every_mode_gives_usable_changes(self, mode: UpdateMode) -> None:
        for seed in range(10):
            for body in analyse(teacher(), mode=mode, seed=seed).changes:
                assert is_usable(mode, dict(body))
                if mode is UpdateMode.FULL_REWRITE:
                    assert body["skill"].startswith(SKILL)

    def test_a_line_is_a_list_item_once(self) -> None:
        bodies = [body for seed in range(30) for body in analyse(teacher(useless=0.5), seed=seed).changes]
        assert all(body["content"].startswith("- ") and not body["content"].startswith("- -") for body in bodies)


class TestStages:
    def test_suggestions_bring_their_rules_into_the_skill(self) -> None:
        own = context(mode=UpdateMode.SUGGESTIONS)
        bodies = analyse(teacher(useless=0.0), mode=UpdateMode.SUGGESTIONS).changes
        skill, _ = asyncio.run(teacher().rewrite(own, tuple(change(body) for body in bodies)))
        assert len(rules_in(skill)) == len(bodies)

    def test_drafts_are_joined(self) -> None:
        own = context(mode=UpdateMode.FULL_REWRITE)
        drafts = [
            analyse(teacher(useless=0.0), mode=UpdateMode.FULL_REWRITE, seed=seed).changes[0] for seed in range(6)
        ]
        patches = tuple(Patch("", (change(draft),)) for draft in drafts)
        (joined,) = asyncio.run(teacher().merge(own, patches, True)).changes
        everything = {rule for draft in drafts for rule in rules_in(draft["skill"])}
        assert set(rules_in(joined.body["skill"])) == everything
        assert joined.sources == tuple(range(6))

    def test_merge_keeps_all_sources(self) -> None:
        merge = asyncio.run(teacher().merge(context(), (patch(Source.FAILURE, ("a",), ("b",)),) * 2, False))
        assert [merged.sources for merged in merge.changes] == [(0, 2), (1, 3)]

    def test_rank_names_each_change_once(self) -> None:
        changes = tuple(change(append(f"- {n}"), ("a",) * (n + 1)) for n in range(9))
        ranked = asyncio.run(teacher().rank(context(), changes, 4))
        assert len(set(ranked)) == 4
        assert set(ranked) <= set(range(9))

    def test_learning_rate_is_between_none_and_all(self) -> None:
        changes = tuple(change(append(f"- {n}")) for n in range(8))
        rates = [
            asyncio.run(teacher().choose_learning_rate(context(), Evidence(8, hard, hard, changes))).learning_rate
            for hard in (0.0, 0.5, 1.0)
        ]
        assert rates == [8, 4, 1]
        assert asyncio.run(teacher().choose_learning_rate(context(), Evidence(8, 0, 0))).learning_rate == 0

    def test_guidance_adds_a_rule_and_keeps_the_former(self) -> None:
        failing = Pair("a", PairKind.PERSISTENT_FAIL, ref("a"), ref("a"))
        comparison = Comparison(SKILL, SKILL, (failing,))
        own = teacher(useless=0.0)
        first = asyncio.run(own.guide(comparison, ""))[1]
        second = asyncio.run(own.guide(comparison, first))[1]
        assert len(rules_in(first)) == 1
        assert len(rules_in(second)) == 2
        assert second.startswith(first)

    def test_guidance_is_never_empty(self) -> None:
        stable = Pair("a", PairKind.STABLE_SUCCESS, ref("a", 1.0), ref("a", 1.0))
        assert asyncio.run(teacher().guide(Comparison(SKILL, SKILL, (stable,)), ""))[1]

    def test_every_call_is_paid_under_its_stage(self) -> None:
        paid = Paid()
        own = teacher(paid)
        comparison = Comparison(SKILL, SKILL, (Pair("a", PairKind.REGRESSED, ref("a"), ref("a")),))

        async def all_of_them() -> None:
            await own.analyse(context(), Source.FAILURE, refs())
            await own.merge(context(), (patch(Source.FAILURE, ("a",)),), False)
            await own.rank(context(), (change(append("- a")),), 1)
            await own.choose_learning_rate(context(), Evidence(1, 0.0, 0.0))
            await own.rewrite(context(), ())
            await own.guide(comparison, "")
            await own.remember(comparison, "")
            await own.review(EpochReview(1, (), "", SKILL), 2)
            await own.diagnose(context(), refs())

        asyncio.run(all_of_them())
        assert [stage for stage, _ in paid.stages] == [
            Stage.REFLECT,
            Stage.AGGREGATE,
            Stage.SELECT,
            Stage.LEARNING_RATE,
            Stage.REWRITE,
            Stage.SLOW_UPDATE,
            Stage.META_SKILL,
            Stage.META_REFLECT,
            Stage.DEEP_REFLECT,
        ]
        assert SKILL in paid.prompts[0]
        assert "question i0" in paid.prompts[0]

    def test_the_fingerprint_follows_seed_and_rules(self) -> None:
        assert teacher().fingerprint == teacher().fingerprint
        assert teacher(seed=1).fingerprint != teacher().fingerprint
        assert RehearsalTeacher(RehearsalConfig(), (), Paid()).fingerprint != teacher().fingerprint
