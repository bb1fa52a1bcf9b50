"""Where an agent program's calls go: Codex speaks to OpenAI's API, Claude Code to Anthropic's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit

from reflact.config.schema import Config
from reflact.core.errors import Unavailable
from reflact.core.names import Role
from reflact.models.endpoints import Endpoint, resolve_endpoint

ANTHROPIC_URL = "https://api.anthropic.com"
AGENTS = ("codex_exec", "claude_code_exec")
_KEY_ENV = "ANTHROPIC_API_KEY"


def resolve_agent_endpoint(config: Config, environ: Mapping[str, str]) -> Endpoint:
    """Find the endpoint of a student that is an agent program.

    The URL is a base URL: for Codex `/responses` is added to it, for Claude Code `/v1/messages`.

    Raises:
        ConfigError: Two endpoints, or one that is not a URL.
        Unavailable: No endpoint, or its key is not in the environment.
    """
    if config.model.student_backend == "claude_code_exec":
        return _anthropic(config, environ)
    endpoint = resolve_endpoint(config, Role.STUDENT, environ)
    # A dated version belongs to the paths with deployments; here versions have names, and none is needed.
    version = "" if endpoint.api_version[:1].isdigit() else endpoint.api_version
    if endpoint.azure:
        # Azure has the Responses API, the only one that Codex speaks, under paths without deployments and versions.
        return replace(endpoint, url=f"{endpoint.url.rstrip('/')}/openai/v1", api_version=version)
    return replace(endpoint, api_version=version)


def _anthropic(config: Config, environ: Mapping[str, str]) -> Endpoint:
    model = config.model
    if model.student_azure_openai_endpoint:
        endpoint = resolve_endpoint(config, Role.STUDENT, environ)
        url = endpoint.url.rstrip("/")
        url = url if urlsplit(url).path.endswith("/anthropic") else f"{url}/anthropic"
        return replace(endpoint, url=url, api_version="")
    named = _KEY_ENV if model.student_api_key_env is None else model.student_api_key_env
    url = model.student_base_url or environ.get("ANTHROPIC_BASE_URL") or ANTHROPIC_URL
    if not model.student_base_url and not environ.get(named):
        raise Unavailable(
            f"the student has no endpoint. Ways on: a key of Anthropic in the variable {named} (or name another one "
            "with model.student_api_key_env); or model.student_base_url=URL, a server that speaks Anthropic's Messages"
        )
    # Without a key of its own a server gets none; OpenAI's must not be sent to it. One that is named must be there.
    given = named if environ.get(named) or model.student_api_key_env else None
    settings = replace(model, student_base_url=url, student_api_key_env=given)
    keys = {named: environ[named]} if environ.get(named) else {}
    return replace(resolve_endpoint(replace(config, model=settings), Role.STUDENT, keys), key_env=named)
