"""One start of the Azure CLI.

Not through azure-identity, which ends a hanging `az` by killing its shell wrapper alone: the Python program below it
stays and keeps the lock of the token cache, so that every later start hangs too.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
from contextlib import suppress
from datetime import datetime
from typing import Any

TIMEOUT_S = 45.0
"""`az` takes seconds, on busy machines more than ten; beyond this it hangs."""


class AzFailed(Exception):
    """`az` gave no token; the message is what it said."""


class AzHangs(AzFailed):
    """`az` did not end in time and was killed with everything it had started."""


def ask_az(program: str, resource: str, timeout_s: float = TIMEOUT_S) -> tuple[str, float]:
    """Return a bearer token and when it ends, in seconds since the epoch.

    Args:
        program: The `az` to start.
        resource: What the token is for.
        timeout_s: Seconds until it is given up.

    Raises:
        AzFailed: There is no token.
    """
    command = [program, "account", "get-access-token", "--output", "json", "--resource", resource]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            # Its login, proxies and certificates are the user's own settings.
            env={**os.environ, "AZURE_CORE_NO_COLOR": "true"},
            start_new_session=True,
        )
    except OSError as error:
        raise AzFailed(f"{program} cannot be started: {error.strerror or error}") from error

    def end() -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    atexit.register(end)  # it has a session of its own, so that Ctrl-C reaches only us
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise AzHangs(f"`az account get-access-token` did not end within {timeout_s:g} s") from None
    finally:
        end()
        process.wait()
        atexit.unregister(end)
    if process.returncode:
        raise AzFailed(_said(err) or f"`az account get-access-token` ended with {process.returncode}")
    return _read(out)


def _said(err: bytes) -> str:
    """Return the line that says what is wrong; warnings stand before it."""
    lines = [line.strip() for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "")[:300]


def _read(out: bytes) -> tuple[str, float]:
    # What it printed is never shown: it may hold the token.
    try:
        told: dict[str, Any] = json.loads(out)
        # `expiresOn` is local time; releases before 2.54 know nothing else.
        ends = told.get("expires_on") or datetime.fromisoformat(told["expiresOn"]).timestamp()
        return str(told["accessToken"]), float(ends)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise AzFailed("`az account get-access-token` printed no token that can be read") from None
