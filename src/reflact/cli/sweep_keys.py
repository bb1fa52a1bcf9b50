"""Keys of sweeps on the command line of a single run, which would not hear of them."""

from __future__ import annotations

from collections.abc import Sequence

from reflact.core.errors import ConfigError
from reflact.sweep.context import key_of

_HEARD = frozenset({"sweep.root", "sweep.max_tokens", "sweep.max_usd"})
"""What a run of a sweep is told; without a root the two ceilings mean nothing either."""


def require_none(overrides: Sequence[str], root: str) -> None:
    """Make sure that a single run is given no key that is for sweeps: whoever set a ceiling believes in it.

    Args:
        overrides: The command line's.
        root: `sweep.root`, `""` for a run that belongs to no sweep.

    Raises:
        ConfigError: Naming the override and what to do.
    """
    for line in overrides:
        key = key_of(line)
        if key == "sweep":
            raise ConfigError(f"{line} names a plan of many runs: it needs -m (reflact-train -m {line} ...)")
        if key.startswith("sweep.") and not (root and key in _HEARD):
            own = key.removeprefix("sweep.")
            instead = f"; for one run it is budget.{own}" if own in ("max_tokens", "max_usd") else ""
            raise ConfigError(
                f"{line} is for sweeps (-m), and a single run would not hear of it: leave it out{instead}"
            )
