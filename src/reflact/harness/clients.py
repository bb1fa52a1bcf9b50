"""Through what an agent program is driven: its command line, or its official Python SDK. Settled once a run."""

from __future__ import annotations

from dataclasses import dataclass

from reflact.config.schema import Config
from reflact.confine import Choice
from reflact.core.errors import ConfigError, Unavailable
from reflact.harness.programs import Program, bundled_claude, bundled_codex, find_claude, find_codex
from reflact.harness.sdk_drivers import CLAUDE, CODEX, sdk_version


@dataclass(frozen=True, slots=True)
class _Sdk:
    """An SDK and what it asks for.

    Attributes:
        key: The key that chooses it.
        wanted: That key's value.
        version: Its version, None if it is not installed.
        own: The CLI is the one that comes with it; another one may speak another version of its protocol.
        unfit: Why it cannot do what the configuration asks for, `""` if it can.
    """

    key: str
    wanted: bool | str
    version: str | None
    own: bool
    unfit: str = ""


def client_of(config: Config, choice: Choice) -> str:
    """Return through what the student's program is driven: `cli`, or `sdk` and its version.

    Raises:
        ConfigError: The SDK is asked for and cannot do what another setting asks for.
        Unavailable: The SDK is asked for and missing, or agents are not confined here.
    """
    sdk = _codex(config) if config.model.student_backend == "codex_exec" else _claude(config)
    if sdk.wanted is False:
        return "cli"
    if sdk.wanted == "auto":
        fits = sdk.version is not None and sdk.own and not sdk.unfit and choice.confinement.confined
        return f"sdk {sdk.version}" if fits else "cli"
    if sdk.version is None:
        raise Unavailable(f"{sdk.key}=true: the SDK is missing: pip install 'reflact[agents]'")
    if sdk.unfit:
        raise ConfigError(f"{sdk.key}=true {sdk.unfit}")
    if not choice.confinement.confined:
        raise Unavailable(f"{sdk.key}=true runs confined only, and agents are not confined here: {choice.reason}")
    return f"sdk {sdk.version}"


def program_of(config: Config) -> Program:
    """Find the student's program.

    Raises:
        ConfigError: An explicit path is not a program.
        Unavailable: There is none.
    """
    return find_codex(config) if config.model.student_backend == "codex_exec" else find_claude(config)


def _codex(config: Config) -> _Sdk:
    model = config.model
    never = model.codex_exec_approval_policy == "never"
    unfit = "" if never else "takes model.codex_exec_approval_policy=never alone"
    key, wanted = "model.codex_exec_use_sdk", model.codex_exec_use_sdk
    own = wanted == "auto" and program_of(config) == bundled_codex()
    return _Sdk(key, wanted, sdk_version(CODEX), own, unfit)


def _claude(config: Config) -> _Sdk:
    key, wanted = "model.claude_code_exec_use_sdk", config.model.claude_code_exec_use_sdk
    own = wanted == "auto" and program_of(config) == bundled_claude()
    return _Sdk(key, wanted, sdk_version(CLAUDE), own)
