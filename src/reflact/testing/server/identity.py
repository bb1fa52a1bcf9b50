"""Managed-identity token endpoints: App Service and the instance metadata service."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from reflact.testing.exchange import SeenRequest

_LIFETIME_S = 24 * 3600


def token_reply(seen: SeenRequest, headers: Mapping[str, str], token: str) -> tuple[int, dict[str, Any]]:
    """Return status and body of a token request.

    Both endpoints want their own header, so that a request forged through a redirect gets nothing.
    """
    wanted = "X-IDENTITY-HEADER" if seen.path.startswith("/msi") else "Metadata"
    if not headers.get(wanted):
        return 400, {"error": "invalid_request", "error_description": f"Required header {wanted} is missing"}
    if not seen.query.get("resource"):
        return 400, {"error": "invalid_request", "error_description": "Required parameter resource is missing"}
    return 200, {
        "access_token": token,
        "client_id": seen.query.get("client_id", "system-assigned"),
        "expires_in": str(_LIFETIME_S),
        "expires_on": str(int(time.time()) + _LIFETIME_S),
        "resource": seen.query["resource"],
        "token_type": "Bearer",
    }
