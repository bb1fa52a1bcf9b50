from __future__ import annotations

from typing import Any

import pytest

from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.names import Role
from reflact.models.agent_endpoints import resolve_agent_endpoint
from reflact.models.endpoints import Endpoint, resolve_endpoint
from reflact.models.limits import LimitKey
from reflact.models.registry import limit_key


def _resolve(role: Role = Role.TEACHER, environ: dict[str, str] | None = None, **model: Any) -> Endpoint:
    return resolve_endpoint(_config(**model), role, environ or {})


def _config(**model: Any) -> Config:
    config = Config()
    for name, value in model.items():
        setattr(config.model, name, value)
    return config


def test_each_role_has_its_own_endpoint() -> None:
    model = {"teacher_base_url": "http://t/v1", "student_azure_openai_endpoint": "https://s"}
    assert _resolve(Role.TEACHER, **model).url == "http://t/v1"
    student = _resolve(Role.STUDENT, **model)
    assert (student.url, student.azure, student.auth) == ("https://s", True, "azure_cli")


def test_two_endpoints_of_one_role_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"model\.teacher_base_url and model\.teacher_azure_openai_endpoint"):
        _resolve(teacher_base_url="http://t", teacher_azure_openai_endpoint="https://a")


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://h/v1", "http://", "http://h:99999/v1", "http://h:port/v1", "http://[::1/v1"]
)
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match=r"model\.teacher_base_url"):
        _resolve(teacher_base_url=url)


def test_a_password_in_a_url_is_refused_and_not_shown() -> None:
    with pytest.raises(
        ConfigError, match=r"model\.teacher_base_url=http://t/v1 .*cannot be sent beside a key"
    ) as caught:
        _resolve(teacher_base_url="http://me:pass-word@t/v1", environ={"OPENAI_API_KEY": "sk-1"})
    assert "pass-word" not in str(caught.value)


def test_a_key_that_was_named_for_claude_code_must_be_there() -> None:
    named = {"student_backend": "claude_code_exec", "student_base_url": "http://s"}
    with pytest.raises(Unavailable, match="MINE"):
        resolve_agent_endpoint(_config(**named, student_api_key_env="MINE"), {"ANTHROPIC_API_KEY": "other"})
    keyless = resolve_agent_endpoint(_config(**named), {"OPENAI_API_KEY": "sk-of-openai"})
    assert keyless.secrets == () and "no key (ANTHROPIC_API_KEY is not set" in keyless.way_in


def test_without_endpoint_and_key_the_ways_on_are_named() -> None:
    with pytest.raises(Unavailable) as caught:
        _resolve()
    for way in ("model.teacher_base_url", "model.teacher_azure_openai_endpoint", "OPENAI_API_KEY", "harness=local"):
        assert way in str(caught.value)


def test_a_key_alone_means_the_providers_own_endpoint() -> None:
    endpoint = _resolve(environ={"OPENAI_API_KEY": "k"})
    assert (endpoint.url, endpoint.key, endpoint.azure) == ("https://api.openai.com/v1", "k", False)
    assert _resolve(environ={"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://mine/v1"}).url == "http://mine/v1"


def test_a_named_variable_must_be_set() -> None:
    with pytest.raises(Unavailable, match="MY_KEY"):
        _resolve(teacher_base_url="http://t", teacher_api_key_env="MY_KEY", environ={"OPENAI_API_KEY": "k"})
    endpoint = _resolve(teacher_base_url="http://t", teacher_api_key_env="MY_KEY", environ={"MY_KEY": "k"})
    assert (endpoint.key, endpoint.key_env) == ("k", "MY_KEY")


def test_a_server_of_ones_own_needs_no_key() -> None:
    assert _resolve(teacher_base_url="http://t").secrets == ()


def test_secrets_are_neither_shown_nor_forgotten() -> None:
    endpoint = Endpoint("http://u:pass%2Fword@t/v1", azure=False, auth="api_key", key="sk-1")
    assert set(endpoint.secrets) == {"sk-1", "pass/word", "pass%2Fword"}
    assert endpoint.public_url == "http://t/v1" and "sk-1" not in repr(endpoint) and "pass" not in repr(endpoint)


def test_limits_are_shared_by_endpoint_deployment_and_credential() -> None:
    def key(secret: str, **model: Any) -> LimitKey:
        config = _config(teacher_base_url="http://t/v1", student_base_url="http://t/v1", **model)
        keys = {limit_key(config, role, {"OPENAI_API_KEY": secret}) for role in Role}
        assert len(keys) == 1
        return keys.pop()

    assert key("a") == key("a") != key("b")
    assert "a-secret" not in str(key("a-secret"))
    assert limit_key(_config(teacher_backend="rehearsal"), Role.TEACHER, {}) == LimitKey("rehearsal", "gpt-5.5")
