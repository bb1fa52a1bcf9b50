"""Keeping the garbage collector away from what lives as long as the run."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def settled_heap() -> Iterator[None]:
    """Leave everything that is there now out of collections while the block runs.

    Libraries, configuration and items are some hundred thousand objects. A full collection looks at all of them, which
    takes a tenth of a second, and meanwhile no reply is read and no request is sent.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
