"""Harnesses by the name of the student's backend."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reflact.config.schema import Config
from reflact.confine import Choice, choose
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.events import Emit
from reflact.core.names import Role
from reflact.core.types import Json
from reflact.harness.agent import AgentTask
from reflact.harness.agent_attempt import Starter
from reflact.harness.agent_cli import Access, AgentCli
from reflact.harness.agents import AgentHarness
from reflact.harness.chat import ChatHarness
from reflact.harness.claude_code_exec import EFFORTS, ClaudeCode
from reflact.harness.codex_exec import Codex
from reflact.harness.codex_sdk import CodexSdk, sdk_version
from reflact.harness.programs import Program, comes_with_sdk, find_claude, find_codex, version_of
from reflact.harness.protocol import Chat, Harness
from reflact.models.agent_endpoints import AGENTS
from reflact.models.caller import Caller
from reflact.models.protocol import ChatModel
from reflact.models.registry import connect_role
from reflact.relay import Relay
from reflact.relay.connect import connect_upstream
from reflact.relay.upstream import Upstream


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
    upstream = caller.model
    assert isinstance(upstream, Upstream)
    task, choice = agent_task(config, benchmark), choose(config.env.sandbox)
    env, relayed = config.env, config.model.exec_relay
    first_s = env.exec_timeout if env.call_timeout is None else env.call_timeout
    starter = Starter(
        cli=_cli(config, choice),
        confinement=choice.confinement,
        relay=Relay(caller, upstream, first_s) if relayed else None,
        direct=None if relayed else _direct(upstream),
        wire=upstream.service.wire,
        idle_s=env.idle_timeout,
        clock=caller.clock,
    )
    return AgentHarness(task, caller, config, starter, choice, emit, caller.clock)


def connect_student(config: Config) -> ChatModel:
    """Connect to the student's model, whether it answers messages or drives an agent program.

    Raises:
        ConfigError: There is no such backend, or it does not take a setting.
        Unavailable: Its endpoint, credential or program is missing.
    """
    if config.model.student_backend not in AGENTS:
        return connect_role(config, Role.STUDENT)
    choice = choose(config.env.sandbox)
    settings = {
        "client": client_of(config, choice),
        "cli": version_of(_program(config)),
        "relay": config.model.exec_relay,
        "sandbox": choice.record,
        **_own_settings(config),
    }
    return connect_upstream(config, settings)


def _own_settings(config: Config) -> dict[str, Json]:
    model = config.model
    if config.model.student_backend == "codex_exec":
        return {"reasoning_effort": model.codex_exec_reasoning_effort, "codex_sandbox": model.codex_exec_sandbox}
    effort = model.student_reasoning_effort
    if effort is not None and effort not in EFFORTS:
        raise ConfigError(
            f"model.student_reasoning_effort={effort}: Claude Code takes {', '.join(EFFORTS)}, or null for its own"
        )
    return {"reasoning_effort": effort}


def client_of(config: Config, choice: Choice) -> str:
    """Return through what the agent program is driven: `cli`, or `sdk` and its version; settled once a run.

    Raises:
        ConfigError: `model.codex_exec_use_sdk=true` does not go with another setting.
        Unavailable: The SDK is asked for and missing.
    """
    wanted = config.model.codex_exec_use_sdk
    if config.model.student_backend != "codex_exec" or wanted is False:
        return "cli"
    sdk, never = sdk_version(), config.model.codex_exec_approval_policy == "never"
    if wanted == "auto":
        # Another CLI than the SDK's own may speak another version of its protocol.
        fits = sdk is not None and never and choice.confinement.confined and comes_with_sdk(find_codex(config))
        return f"sdk {sdk}" if fits else "cli"
    if sdk is None:
        raise Unavailable("model.codex_exec_use_sdk=true: the SDK is missing: pip install 'reflact[agents]'")
    if not never:
        raise ConfigError("model.codex_exec_use_sdk=true takes model.codex_exec_approval_policy=never alone")
    if not choice.confinement.confined:
        raise Unavailable(
            f"model.codex_exec_use_sdk=true runs confined only, and agents are not confined here: {choice.reason}"
        )
    return f"sdk {sdk}"


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


def _program(config: Config) -> Program:
    return find_codex(config) if config.model.student_backend == "codex_exec" else find_claude(config)


def _cli(config: Config, choice: Choice) -> AgentCli:
    program = _program(config)
    if config.model.student_backend != "codex_exec":
        return ClaudeCode(program, config)
    return Codex(program, config.model) if client_of(config, choice) == "cli" else CodexSdk(program, config.model)


def _direct(upstream: Upstream) -> Callable[[], Awaitable[Access]]:
    """Return what gives a program the real address and credential, a token that was renewed in time."""

    async def access() -> Access:
        headers = await upstream.service.authorise()
        name, value = next(iter(headers.items()))
        return Access(upstream.service.url, value.removeprefix("Bearer "), name.lower(), direct=True)

    return access
