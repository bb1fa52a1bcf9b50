"""One item from the first observation to its outcome, with a fake worker."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.alfworld.benchmark import ALFWorld
from reflact.core.names import RowStatus
from reflact.core.types import Item, Outcome
from reflact.core.usage import Usage
from reflact.models.protocol import CallError, ChatReply, Failure
from reflact.testing import FakeSession, scripted_session

from ..support import write_split
from .support import benchmark, fake_pool, write_game


def act(command: str) -> str:
    return f"<think>so</think><action>{command}</action>"


class Played:
    """A benchmark with one game a part, played by scripted students."""

    def __init__(self, root: Path, name: str = "game", **env: Any) -> None:
        for part in ("train", "val", "test"):
            write_game(root / part / name)
        records = {
            part: [{"id": part, "gamefile": f"{part}/{name}/game.tw-pddl", "task_type": "pick_and_place_simple"}]
            for part in ("train", "val", "test")
        }
        split = write_split(root / "split", records)
        self.benchmark: ALFWorld = benchmark(fake_pool(), data_root=str(root), split_dir=str(split), **env)
        self.item: Item = next(iter(self.benchmark.load().parts.values()))[0]

    def play(self, *said: Any, **session: Any) -> tuple[Outcome, FakeSession]:
        student = scripted_session(said, **session)

        async def run() -> Outcome:
            try:
                return await self.benchmark.converse(self.item, student)
            finally:
                await self.benchmark.aclose()

        return asyncio.run(run()), student


def test_a_won_game(tmp_path: Path) -> None:
    outcome, student = Played(tmp_path).play(act("go to desk 1"), act("win"), skill="# S\n- rule")
    assert (outcome.status, outcome.hard, outcome.soft, outcome.fail_reason) == (RowStatus.OK, 1.0, 1.0, None)
    assert (outcome.n_turns, outcome.no_action, outcome.predicted_answer) == (2, 0, "win")
    assert [turn.role for turn in outcome.conversation] == ["user", "assistant", "user", "assistant", "user"]
    assert outcome.conversation[0].content == "Task: test game\n\nA room."
    assert "Your task: test game" in student.asked[0].text and "- rule" in student.asked[1].text
    assert "You saw: A room.\nYou did: go to desk 1" in student.asked[1].text


def test_the_turns_end(tmp_path: Path) -> None:
    outcome, student = Played(tmp_path, max_turns=4).play(act("look"))
    assert (outcome.hard, outcome.n_turns, len(student.asked)) == (0.0, 4, 4)
    assert outcome.fail_reason == "The task was not done within 4 turns."


@pytest.mark.parametrize("said", ["", "   ", "<think>hm</think>", "<action></action>", "go to desk 1", None])
def test_a_reply_without_a_command_plays_look_and_is_counted(tmp_path: Path, said: str | None) -> None:
    reply = ChatReply(said, "length", Usage(calls=1))  # type: ignore[arg-type]
    outcome, student = Played(tmp_path).play(reply, act("win"))
    assert (outcome.status, outcome.hard, outcome.no_action, outcome.n_turns) == (RowStatus.OK, 1.0, 1, 2)
    assert "You did: look" in student.asked[1].text and not outcome.truncated
    assert outcome.conversation[1].content == said


def test_only_silence_is_a_lost_game_with_its_turns_counted(tmp_path: Path) -> None:
    outcome, _ = Played(tmp_path, max_turns=3).play("")
    assert (outcome.status, outcome.hard, outcome.no_action, outcome.n_turns) == (RowStatus.OK, 0.0, 3, 3)
    assert outcome.predicted_answer is None and "3 replies held no command" in str(outcome.fail_reason)


def test_commands_that_are_not_possible_are_counted(tmp_path: Path) -> None:
    outcome, _ = Played(tmp_path, max_turns=3).play(act("dance"), act("dance"), act("look"))
    assert outcome.extra == {"nothing_happens": 2}
    assert "2 commands were not possible" in str(outcome.fail_reason)


def test_a_cut_reply_with_a_command_is_counted_as_truncated(tmp_path: Path) -> None:
    outcome, _ = Played(tmp_path).play(ChatReply(act("win"), "length", Usage(calls=1)))
    assert outcome.hard == 1.0 and outcome.truncated


def test_a_failed_call_is_no_action(tmp_path: Path) -> None:
    played = Played(tmp_path)
    with pytest.raises(CallError):
        played.play(act("look"), CallError(Failure.SERVER, "down"))


def test_an_engine_that_fails_twice_is_no_lost_game(tmp_path: Path) -> None:
    outcome, _ = Played(tmp_path, "die-always").play(act("look"), act("risk"))
    assert (outcome.status, outcome.cause, outcome.hard) == (RowStatus.ERROR, "simulator_died", None)
    assert "the roof came down" in outcome.extra["error"]


def test_an_engine_that_fails_once_asks_the_student_nothing_twice(tmp_path: Path) -> None:
    outcome, student = Played(tmp_path, "die").play(act("look"), act("risk"), act("win"))
    assert (outcome.status, outcome.hard, len(student.asked)) == (RowStatus.OK, 1.0, 3)


@pytest.mark.parametrize(("right", "score"), [(True, 1.0), (False, 0.0)])
def test_simulated_students_play_turn_by_turn(tmp_path: Path, right: bool, score: float) -> None:
    played = Played(tmp_path, max_turns=5)
    student = FakeSession(lambda messages: "", right=right)

    async def run() -> Outcome:
        outcome = await played.benchmark.converse(played.item, student)
        await played.benchmark.aclose()
        return outcome

    assert asyncio.run(run()).hard == score


def test_a_simulated_student_goes_on_after_a_lost_reply(tmp_path: Path) -> None:
    played = Played(tmp_path)
    replies = iter(["", None, None])

    class Forgetful(FakeSession):
        async def reply(self, messages: Any, **more: Any) -> ChatReply:
            lost = next(replies)
            rehearse = more["rehearse"]
            return ChatReply(lost if lost is not None else rehearse(True), "stop", Usage(calls=1))

    async def run() -> Outcome:
        outcome = await played.benchmark.converse(played.item, Forgetful(lambda messages: ""))
        await played.benchmark.aclose()
        return outcome

    outcome = asyncio.run(run())
    assert (outcome.hard, outcome.no_action, outcome.n_turns) == (1.0, 1, 3)


@pytest.mark.parametrize("command", ["x" * 300_000, "\x00\x1b[31m\n\u2028", "\U0001f600" * 70_000])
def test_a_command_of_any_length_and_kind_is_a_turn_and_no_failure(tmp_path: Path, command: str) -> None:
    outcome, _ = Played(tmp_path).play(act(command), act("win"))
    assert (outcome.status, outcome.cause, outcome.hard, outcome.n_turns) == (RowStatus.OK, None, 1.0, 2)
