"""Harnesses by the name of the student's backend.

What agent programs need is imported only for runs that have one: a server and its libraries, which take longer to load
than anything else of a short run.
"""

from __future__ import annotations

from reflact.config.schema import Config
from reflact.core.errors import ConfigError
from reflact.core.events import Emit
from reflact.core.names import Role
from reflact.harness.agent import AgentTask
from reflact.harness.chat import ChatHarness
from reflact.harness.protocol import Chat, Harness
from reflact.models.agent_endpoints import AGENTS
from reflact.models.caller import Caller
from reflact.models.protocol import ChatModel
from reflact.models.registry import connect_role


def make_harness(config: Config, benchmark: Chat, caller: Caller, emit: Emit = lambda event: None) -> Harness:
    """Make the harness of a run.

    Args:
        config: The configuration.
        benchmark: The task.
        caller: Reaches the student's model, which is one of `connect_student`.
        emit: Where events go.

    Raises:
        ConfigError: The benchmark cannot be done by an agent program.
        Unavailable: The agent program or the confinement that is asked for is missing.
    """
    if config.model.student_backend not in AGENTS:
        return ChatHarness(benchmark, caller, config, caller.clock)
    from reflact.harness.agent_students import make_agent_harness

    return make_agent_harness(config, agent_task(config, benchmark), caller, emit)


def connect_student(config: Config) -> ChatModel:
    """Connect to the student's model, whether it answers messages or drives an agent program.

    Raises:
        ConfigError: There is no such backend, or it does not take a setting.
        Unavailable: Its endpoint, credential or program is missing.
    """
    if config.model.student_backend not in AGENTS:
        return connect_role(config, Role.STUDENT)
    from reflact.harness.agent_students import connect_agent

    return connect_agent(config)


def agent_task(config: Config, benchmark: Chat) -> AgentTask:
    """Return a benchmark as the task of an agent program.

    Raises:
        ConfigError: It cannot be one.
    """
    if not isinstance(benchmark, AgentTask):
        raise ConfigError(
            f"benchmark={config.benchmark.name} cannot be done with "
            f"model.student_backend={config.model.student_backend}; `harness=openai_chat` can do it"
        )
    return benchmark
