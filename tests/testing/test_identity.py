"""Managed identities, through the official library."""

from __future__ import annotations

import pytest
from azure.identity import ManagedIdentityCredential

from reflact.testing import ScriptedServer, Wire

from .conftest import Fetch, chat

SCOPE = "https://cognitiveservices.azure.com/.default"


def test_app_service(monkeypatch: pytest.MonkeyPatch, fetch: Fetch) -> None:
    with ScriptedServer(identity_token="a-token", require_auth="a-token") as server:
        for name, value in server.identity_environment.items():
            monkeypatch.setenv(name, value)
        token = ManagedIdentityCredential(client_id="some-id").get_token(SCOPE).token
        headers = {"Authorization": f"Bearer {token}"}
        assert fetch(f"{server.base_url}/chat/completions", chat("hi"), headers).status == 200
        seen = server.log.exchanges[0].request
    assert token == "a-token"
    assert seen.wire is Wire.TOKEN
    assert (seen.query["client_id"], seen.query["resource"]) == ("some-id", SCOPE.removesuffix("/.default"))


def test_instance_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IDENTITY_ENDPOINT", raising=False)
    with ScriptedServer(identity_token="a-token") as server:
        monkeypatch.setenv("AZURE_POD_IDENTITY_AUTHORITY_HOST", server.url)
        assert ManagedIdentityCredential().get_token(SCOPE).token == "a-token"


def test_a_request_without_the_header_gets_nothing(fetch: Fetch) -> None:
    with ScriptedServer() as server:
        for path in ("/msi/token", "/metadata/identity/oauth2/token"):
            got = fetch(f"{server.url}{path}?resource=x")
            assert got.status == 400
            assert "access_token" not in got.json
