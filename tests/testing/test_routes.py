"""Which paths the scripted server knows."""

from __future__ import annotations

import pytest

from reflact.testing.exchange import Wire
from reflact.testing.server.routes import find_route


@pytest.mark.parametrize(
    ("method", "path", "wire"),
    [
        ("POST", "/v1/messages", Wire.MESSAGES),
        ("POST", "/anthropic/v1/messages", Wire.MESSAGES),
        ("POST", "/anthropic/v1/messages/count_tokens", Wire.COUNT_TOKENS),
        ("POST", "/anthropic/v1/responses", Wire.OTHER),
        ("POST", "/openai/v1/responses", Wire.RESPONSES),
        ("GET", "/openai/v1/responses", Wire.OTHER),
        ("POST", "/openai/deployments/d/chat/completions", Wire.CHAT),
        ("POST", "/openai/deployments/d/responses", Wire.OTHER),
    ],
)
def test_a_path_leads_to_its_format(method: str, path: str, wire: Wire) -> None:
    assert find_route(method, path).wire is wire
