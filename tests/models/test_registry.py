from __future__ import annotations

import subprocess
import sys

import pytest

from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.names import Role
from reflact.models.registry import backends, connect_role


def _config(backend: str) -> Config:
    config = Config()
    config.model.teacher_backend = backend
    return config


def test_the_backends_that_ship() -> None:
    assert {"openai_chat", "local", "rehearsal"} <= set(backends())


def test_an_unknown_backend_gets_the_nearest_name() -> None:
    with pytest.raises(ConfigError, match=r"model\.teacher_backend=openai_chatt.*did you mean openai_chat"):
        connect_role(_config("openai_chatt"), Role.TEACHER)


@pytest.mark.parametrize("name", ["template", "codex_exec", "claude_code_exec"])
def test_names_that_are_no_chat_backend(name: str) -> None:
    with pytest.raises(ConfigError, match=rf"model\.teacher_backend={name}: .*chat"):
        connect_role(_config(name), Role.TEACHER)


def test_a_missing_endpoint_is_found_when_connecting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(Unavailable, match="the teacher has no endpoint"):
        connect_role(_config("openai_chat"), Role.TEACHER)


def test_the_sdk_is_imported_only_by_a_client() -> None:
    code = (
        "import sys, reflact.models.registry, reflact.models.openai_chat, reflact.models.caller, "
        "reflact.harness.registry; sys.exit(any(name in sys.modules for name in ('openai', 'azure.identity')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
