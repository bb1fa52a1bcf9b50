"""How a key of the configuration is declared: default, meaning, allowed values, role in a run's identity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any


def opt(
    default: Any,
    doc: str,
    *,
    choices: Sequence[Any] | None = None,
    low: float | None = None,
    high: float | None = None,
    free: bool = False,
    path: bool = False,
) -> Any:
    """Declare a key.

    Args:
        default: Value if nobody sets one; a callable (such as `list`) makes a new one each time.
        doc: One sentence for the reference and error messages.
        choices: The allowed values, if they are few.
        low: Smallest allowed number.
        high: Largest allowed number.
        free: The key does not change what a run computes: it may differ on resume and is left out of the
            configuration's hash.
        path: The key names a file or folder: what counts for a run's identity is the content, not the name.
    """
    metadata = {"doc": doc, "choices": choices, "low": low, "high": high, "free": free, "path": path}
    if isinstance(default, Callable):  # type: ignore[arg-type]
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)
