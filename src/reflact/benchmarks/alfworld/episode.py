"""One item: a game played turn by turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from reflact.benchmarks.alfworld.actions import FALLBACK, find_action
from reflact.benchmarks.alfworld.dialogue import Dialogue
from reflact.benchmarks.alfworld.simulator.messages import State
from reflact.core.names import RowStatus
from reflact.core.types import Outcome, Turn
from reflact.harness.protocol import ChatSession

NOTHING = "Nothing happens."
"""What the engine says to a command that is not possible."""
_NO_ACTION = f"(The reply held no command, so `{FALLBACK}` was played.)\n"

LONGEST = 1000
"""Characters of a command that reach the engine: none that is possible is as long, and a pipe takes 64 KiB at once."""

Rehearse = Callable[[bool, int, State], str]
"""(right, own commands so far, state) -> a simulated student's reply."""


class Player(Protocol):
    """A game that takes commands; see `simulator.game.Game`."""

    async def play(self, command: str) -> State:
        """Play a command."""
        ...


@dataclass(slots=True)
class Episode:
    """The course of one game.

    Attributes:
        dialogue: Builds the prompts.
        rehearse: Replies for simulated students.
        max_turns: Most turns.
    """

    dialogue: Dialogue
    rehearse: Rehearse
    max_turns: int
    turns: list[Turn] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    n_turns: int = 0
    no_action: int = 0
    nothing: int = 0
    truncated: bool = False

    async def run(self, game: Player, state: State, observation: str, session: ChatSession) -> Outcome:
        """Play until the task is done or the turns are used up, and score it.

        Raises:
            CallError: The student's model gave no answer; that is no turn.
            SimulatorFailure: The engine failed.
        """
        self._saw(f"Task: {self.dialogue.task}\n\n{observation}")
        while not state.won and not state.done and self.n_turns < self.max_turns:
            command = await self._ask(session, observation, state)
            state = await game.play(FALLBACK if command is None else command[:LONGEST])
            self.dialogue.past.append((observation, FALLBACK if command is None else command))
            observation = state.observation.strip()
            self.nothing += command is not None and observation == NOTHING
            self._saw((_NO_ACTION if command is None else "") + observation)
        return self._outcome(state.won)

    async def _ask(self, session: ChatSession, observation: str, state: State) -> str | None:
        """Let the student choose; None if its reply holds no command."""
        played = len(self.commands)
        reply = await session.reply(
            self.dialogue.messages(observation, state.admissible),
            rehearse=lambda right: self.rehearse(right, played, state),
        )
        self.n_turns += 1
        self.turns.append(Turn("assistant", reply.text))
        command = find_action(reply.text)
        if command is None:
            self.no_action += 1
        else:
            self.commands.append(command)
            self.truncated |= reply.finish_reason == "length"
        return command

    def _saw(self, text: str) -> None:
        self.turns.append(Turn("user", text))

    def _outcome(self, won: bool) -> Outcome:
        score = float(won)
        return Outcome(
            status=RowStatus.OK,
            hard=score,
            soft=score,
            predicted_answer=self.commands[-1] if self.commands else None,
            fail_reason=None if won else self._fail_reason(),
            n_turns=self.n_turns,
            truncated=self.truncated,
            no_action=self.no_action,
            conversation=tuple(self.turns),
            extra={"nothing_happens": self.nothing},
        )

    def _fail_reason(self) -> str:
        words = [f"The task was not done within {self.n_turns} turns."]
        if self.no_action:
            words.append(f"{self.no_action} replies held no command.")
        if self.nothing:
            words.append(f"{self.nothing} commands were not possible and changed nothing.")
        return " ".join(words)
