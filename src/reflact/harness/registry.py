"""Harnesses by the name of the student's backend."""

from __future__ import annotations

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.harness.chat import ChatHarness
from reflact.harness.protocol import Chat, Harness
from reflact.models.caller import Caller

AGENTS = ("codex_exec", "claude_code_exec")


def make_harness(config: Config, benchmark: Chat, caller: Caller) -> Harness:
    """Make the harness of a run.

    Raises:
        ConfigError: The student's backend has no harness here.
    """
    name = config.model.student_backend
    if name in AGENTS:
        raise ConfigError(f"model.student_backend={name}: not available in this version")
    return ChatHarness(benchmark, caller, config, caller.clock)
