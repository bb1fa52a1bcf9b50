"""Where a role's calls go and what opens the door, read from the configuration and the environment."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from reflact.config.schema import Config
from reflact.core.errors import ConfigError, Unavailable
from reflact.core.names import Role
from reflact.rundir.redact import clean_url

OPENAI_URL = "https://api.openai.com/v1"
_NO_KEY = "none"  # servers on one's own machine ask for no key, but the SDK insists on one


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server and the way in.

    Attributes:
        url: As configured; it may hold user-info, so only `public_url` is shown or recorded.
        azure: It is an Azure endpoint with deployments and API versions in its paths.
        auth: `api_key`, `azure_cli` or `managed_identity`.
        key: The key, `""` with the other two ways.
        key_env: The variable that the key came from.
        api_version: Azure API version.
        client_id: Client id of a user-assigned identity.
    """

    url: str = field(repr=False)
    azure: bool
    auth: str
    key: str = field(default="", repr=False)
    key_env: str = ""
    api_version: str = ""
    client_id: str = ""

    @property
    def public_url(self) -> str:
        """The URL without user-info and query."""
        return clean_url(self.url)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must not be seen anywhere: the key and a password inside the URL."""
        password = urlsplit(self.url).password
        return tuple(
            secret for secret in (self.key, unquote(password or ""), password or "") if secret not in ("", _NO_KEY)
        )

    @property
    def way_in(self) -> str:
        """Say which credential is used, and never what it is."""
        if self.auth == "azure_cli":
            return "the login of the Azure CLI (`az`)"
        if self.auth == "managed_identity":
            return f"the managed identity{f' {self.client_id}' if self.client_id else ''} of this machine"
        if self.key == _NO_KEY:
            return f"no key ({self.key_env} is not set, or says {_NO_KEY})"
        return f"the key in {self.key_env}"

    @property
    def credential(self) -> str:
        """Tells credentials apart without holding them."""
        secret = self.key if self.auth == "api_key" else f"{self.auth}:{self.client_id}"
        return hashlib.sha256(secret.encode()).hexdigest()[:12]


def resolve_endpoint(config: Config, role: Role, environ: Mapping[str, str]) -> Endpoint:
    """Find the endpoint of a role.

    Raises:
        ConfigError: Two endpoints, or one that is not a URL.
        Unavailable: No endpoint, or its key is not in the environment.
    """
    model = config.model
    azure_url: str = getattr(model, f"{role}_azure_openai_endpoint")
    base_url: str = getattr(model, f"{role}_base_url")
    if azure_url and base_url:
        raise ConfigError(
            f"model.{role}_base_url and model.{role}_azure_openai_endpoint are both set: the {role} has one endpoint"
        )
    if azure_url:
        return _azure(config, role, _checked(azure_url, f"model.{role}_azure_openai_endpoint"), environ)
    if base_url:
        return _open(config, role, _checked(base_url, f"model.{role}_base_url"), environ)
    return _default(config, role, environ)


def _azure(config: Config, role: Role, url: str, environ: Mapping[str, str]) -> Endpoint:
    model = config.model
    auth: str = getattr(model, f"{role}_azure_openai_auth_mode")
    key_env = getattr(model, f"{role}_api_key_env") or "AZURE_OPENAI_API_KEY"
    key = ""
    if auth == "api_key":
        key = environ.get(key_env, "")
        if not key:
            raise Unavailable(
                f"the {role} has no key for {clean_url(url)}: put it into the variable {key_env} (or name another one "
                f"with model.{role}_api_key_env), or set model.{role}_azure_openai_auth_mode=azure_cli and `az login`"
            )
    return Endpoint(
        url=url,
        # The newer form of Azure endpoints speaks OpenAI's own paths, without API versions.
        azure=not urlsplit(url).path.rstrip("/").endswith("/openai/v1"),
        auth=auth,
        key=key,
        key_env=key_env if auth == "api_key" else "",
        api_version=getattr(model, f"{role}_azure_openai_api_version"),
        client_id=getattr(model, f"{role}_azure_openai_managed_identity_client_id"),
    )


def _open(config: Config, role: Role, url: str, environ: Mapping[str, str]) -> Endpoint:
    named: str | None = getattr(config.model, f"{role}_api_key_env")
    if named and not environ.get(named):
        raise Unavailable(f"the variable {named}, named by model.{role}_api_key_env, is empty or not set")
    key_env = named or "OPENAI_API_KEY"
    return Endpoint(url=url, azure=False, auth="api_key", key=environ.get(key_env) or _NO_KEY, key_env=key_env)


def _default(config: Config, role: Role, environ: Mapping[str, str]) -> Endpoint:
    key_env = getattr(config.model, f"{role}_api_key_env") or "OPENAI_API_KEY"
    key = environ.get(key_env)
    if not key:
        raise Unavailable(
            f"the {role} has no endpoint. Ways on: model.{role}_base_url=URL (any OpenAI-compatible server); "
            f"model.{role}_azure_openai_endpoint=URL (Azure); or a key of OpenAI in the variable {key_env}. "
            "Without any of them: harness=local (a small model in this process) or harness=rehearsal (simulated)"
        )
    url = _checked(environ.get("OPENAI_BASE_URL") or OPENAI_URL, "OPENAI_BASE_URL")
    return Endpoint(url=url, azure=False, auth="api_key", key=key, key_env=key_env)


def _checked(url: str, key: str) -> str:
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # half an IPv6 address, or a port that is none
        good = False
    if not good:
        raise ConfigError(
            f"{key}={clean_url(url)}: a URL with http:// or https://, a host and perhaps a port is needed"
        )
    if parts.username is not None:
        raise ConfigError(
            f"{key}={clean_url(url)} (shown without its user and password): they cannot be sent beside a key; what the "
            "server wants belongs into the variable of the key"
        )
    return url
