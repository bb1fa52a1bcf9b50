"""The engine, as a worker process uses it. Only worker processes import this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import textworld
import textworld.gym
from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos

from reflact.benchmarks.alfworld.simulator.messages import Close, Open, Request, State, Step


class Engine:
    """Games under the numbers that the asker chose. One request at a time: the engine has one parser for all games."""

    def __init__(self) -> None:
        self._games: dict[int, Any] = {}

    def do(self, request: Request) -> State | None:
        """Carry a request out; whatever the engine raises passes through."""
        if isinstance(request, Open):
            return self._open(request)
        if isinstance(request, Step):
            observations, _, dones, infos = self._games[request.game].step([request.command])
            return state_of(observations, dones, infos)
        assert isinstance(request, Close)
        game = self._games.pop(request.game, None)
        if game is not None:
            game.close()
        return None

    def _open(self, request: Open) -> State:
        wanted = textworld.EnvInfos(won=True, admissible_commands=True, command_templates=True, extras=["gamefile"])
        name = textworld.gym.register_games(
            [request.path],
            request_infos=wanted,
            batch_size=1,
            asynchronous=False,
            max_episode_steps=request.max_steps,
            wrappers=[AlfredDemangler(shuffle=False), AlfredInfos],
        )
        try:
            game = textworld.gym.make(name)
        finally:
            # The engine keeps every registration for ever, and this one is used once.
            textworld.gym.registry.pop(name, None)
        observations, infos = game.reset()
        self._games[request.game] = game
        return state_of(observations, [False], infos, templates=True)


def state_of(
    observations: Sequence[Any] | None,
    dones: Sequence[Any] | None,
    infos: Mapping[str, Any],
    *,
    templates: bool = False,
) -> State:
    """Return the state of the one game of a batch; whatever the engine leaves out is empty, never None."""

    def first(values: Sequence[Any] | None) -> Any:
        return values[0] if values else None

    gamefile = first(infos.get("extra.gamefile"))
    return State(
        observation=str(first(observations) or ""),
        admissible=tuple(map(str, first(infos.get("admissible_commands")) or ())),
        won=bool(first(infos.get("won"))),
        done=bool(first(dones)),
        gamefile=None if gamefile is None else str(gamefile),
        templates=tuple(map(str, first(infos.get("command_templates")) or ())) if templates else (),
    )
