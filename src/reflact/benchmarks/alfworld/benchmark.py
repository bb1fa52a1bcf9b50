"""The benchmark: data, task, prompts, initial skill."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from reflact.benchmarks.alfworld.checks import absent_types, other_commands
from reflact.benchmarks.alfworld.dialogue import Dialogue, Prompts, split_intro
from reflact.benchmarks.alfworld.episode import Episode
from reflact.benchmarks.alfworld.form import ALFWorldFormat
from reflact.benchmarks.alfworld.games import read_game
from reflact.benchmarks.alfworld.installed import engine_versions, require_engine
from reflact.benchmarks.alfworld.making.sample import sample_root
from reflact.benchmarks.alfworld.places import data_root
from reflact.benchmarks.alfworld.recalled import RecalledGames
from reflact.benchmarks.alfworld.rehearsal import RULES, right_reply, wrong_reply
from reflact.benchmarks.alfworld.simulator.limits import SimulatorFailure
from reflact.benchmarks.alfworld.simulator.messages import State
from reflact.benchmarks.alfworld.simulator.pool import Pool
from reflact.benchmarks.alfworld.stratified import assign
from reflact.benchmarks.alfworld.watch import CommandWatch
from reflact.benchmarks.checks import repeated_items
from reflact.benchmarks.loading import load_split
from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.recall import Recall
from reflact.benchmarks.records import Record
from reflact.benchmarks.splits import DEFAULT_SEED
from reflact.config.schema import Config
from reflact.core.errors import DataError
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Outcome, Rule
from reflact.harness.protocol import ChatSession


class ALFWorld:
    """Up to `env.max_turns` turns a game; won or not.

    Args:
        config: The configuration.
        pool: Where games are played; else at most `env.env_workers` processes of its own, from the first item on.
    """

    name = "alfworld"
    version = "1"
    # A won game is all there is to know; there is no gold.
    teacher_sees_gold = False

    def __init__(self, config: Config, pool: Pool | None = None) -> None:
        self._env = config.env
        # The sample's games are made when they are first loaded.
        self.form = ALFWorldFormat(None if config.env.sample else data_root(config.env))
        self._prompts = Prompts.load(self.form.package)
        self._pool = Pool(config.env.env_workers) if pool is None else pool
        self._config = config
        self._walkthroughs: dict[Path, tuple[str, ...]] = {}
        self._watch = CommandWatch()

    def load(self) -> Split:
        """Read the items and make sure that all their games are there."""
        if self._env.sample:
            self.form = ALFWorldFormat(sample_root())
        try:
            split = load_split(self._env, self.form, cut=lambda records, split: assign(records, split, DEFAULT_SEED)[0])
        except DataError:
            self.form.refuse_missing()  # says more than what may follow from it
            raise
        self.form.refuse_missing()
        return split

    def check(self, split: Split) -> Sequence[Finding]:
        """Make sure that the engine is there, and look at commands, task types and items in two parts.

        Raises:
            Unavailable: The engine is not installed.
        """
        require_engine()
        return [*other_commands(self.form.shapes), *absent_types(split), *repeated_items(split)]

    def narrow(self, records: Sequence[Record]) -> tuple[list[Record], Mapping[str, Any]]:
        """Take every playable game of a source."""
        return list(records), {}

    def assign(
        self, records: Sequence[Record], split: str, seed: int
    ) -> tuple[Mapping[Part, Sequence[Record]], Mapping[str, Any]]:
        """Draw train, val and test from the official splits, with the test pool's mix of task types."""
        return assign(records, split, seed)

    def initial_skill(self) -> str:
        """The benchmark's own initial skill."""
        return files(self.form.package).joinpath("initial.md").read_text(encoding="utf-8")

    def prompts(self) -> Mapping[str, str]:
        """No teacher prompt is replaced."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """What shapes prompts and scores."""
        return {
            "max_turns": self._env.max_turns,
            "max_completion_tokens": self._env.max_completion_tokens,
            "prompts": self._prompts.records(),
        }

    def rules(self) -> Sequence[Rule]:
        """Hidden rules for rehearsals."""
        return RULES

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Play the item's game. An engine that fails twice makes the row an `error`, never a lost game."""
        try:
            return await self._play(item, session)
        except SimulatorFailure as failure:
            return Outcome(status=RowStatus.ERROR, cause=failure.cause, extra={"error": str(failure)[:500]})

    async def _play(self, item: Item, session: ChatSession) -> Outcome:
        path = self.form.path_of(item)
        game, state = await self._games.open(path, self._env.max_turns)
        try:
            observation, task = split_intro(state.observation)
            episode = Episode(
                Dialogue(self._prompts, session.skill, task if task else item.question),
                lambda right, played, now: self._simulated(item, path, right, played, now),
                self._env.max_turns,
            )
            outcome = await episode.run(game, state, observation, session)
        finally:
            game.leave()
        self._watch.add(len(episode.commands), episode.nothing)
        return outcome

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Return a simulated student's first reply; `converse` gives the others turn by turn."""
        start = State("", ("look",), won=False, done=False)
        return self._simulated(item, self.form.path_of(item), correct, 0, start)

    def _simulated(self, item: Item, path: Path, right: bool, played: int, state: State) -> str:
        if right:
            if path not in self._walkthroughs:
                self._walkthroughs[path] = read_game(path).walkthrough
            return right_reply(self._walkthroughs[path], played)
        return wrong_reply(item, played, state.admissible)

    @cached_property
    def _games(self) -> Pool | RecalledGames:
        recall = Recall.of_run(self._config, engine_versions())
        return self._pool if recall is None else RecalledGames(self._pool, recall)

    async def aclose(self) -> None:
        """End the worker processes."""
        self._pool.close()
