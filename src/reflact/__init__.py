"""reflact trains a skill: a Markdown document that a frozen language model reads.

import reflact

config = reflact.compose(["benchmark=orders", "harness=rehearsal"])
summary = reflact.train(config)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reflact.api import compose, evaluate, train

__all__ = ["__version__", "compose", "evaluate", "train"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Imported when they are first used: a command's --help must not wait for the engine.
    if name in ("compose", "evaluate", "train"):
        from reflact import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
