"""How long a server asks to wait."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def retry_after_s(headers: Mapping[str, str], now: float) -> float | None:
    """Read `retry-after-ms` or `Retry-After` (RFC 9110, section 10.2.3: seconds or an HTTP date).

    Args:
        headers: Headers of the reply; the mapping ignores case.
        now: Seconds since the epoch.

    Returns:
        Seconds to wait, never negative; None if nothing usable was said.
    """
    exact = _number(headers.get("retry-after-ms"))
    if exact is not None:
        return max(0.0, exact / 1000)
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is None and value is not None:
        seconds = _date(value, now)
    return None if seconds is None else max(0.0, seconds)


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and number < float("inf") else None


def _date(value: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:  # a date without a zone is in GMT
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime.fromtimestamp(now, UTC)).total_seconds()
