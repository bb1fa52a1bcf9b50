"""Small clients for the scripted server."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[dict[str, Any]]:
        lines = self.body.decode().splitlines()
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


Fetch = Callable[..., Got]


@pytest.fixture
def fetch() -> Fetch:
    """Make one HTTP request; error statuses are results."""

    def fetch(url: str, body: Any = None, headers: dict[str, str] | None = None) -> Got:
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return Got(response.status, dict(response.headers), response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Got(error.code, dict(error.headers), error.read())

    return fetch


def chat(text: str, **more: Any) -> dict[str, Any]:
    """A Chat Completions body."""
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}
