"""What tests of the model in this process share."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from reflact.core.errors import Unavailable
from reflact.models.local_weights import RUNTIME, find_weights


def missing() -> str | None:
    """Say what of runtime and weights is not installed."""
    if find_spec(RUNTIME) is None:
        return f"the package {RUNTIME} is not installed: run `reflact local install`"
    try:
        find_weights("")
    except Unavailable as error:
        return str(error)
    return None


REASON = missing()
needs_local_model = pytest.mark.skipif(REASON is not None, reason=f"absent: {REASON}")
