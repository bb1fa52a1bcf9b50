"""Property tests run beside others on a busy machine: they are bounded by examples, not by time."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("optimizer", deadline=None)
settings.load_profile("optimizer")
