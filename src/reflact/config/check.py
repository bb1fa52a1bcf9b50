"""Checks of values: each key against its declaration, then the rules across keys.

Whatever needs files (splits, skills, images) is checked when a run starts, not here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reflact.config.keys import Key, all_keys, get, show
from reflact.config.nearest import suggestion
from reflact.config.rules import problems, warnings
from reflact.config.schema import Config
from reflact.core.errors import ConfigError


def check(config: Config) -> list[str]:
    """Check a configuration and return warnings: things that are allowed but rarely meant.

    Raises:
        ConfigError: At least one value is not allowed; the message names all of them.
    """
    found = [*_declarations(config), *problems(config)]
    if found:
        raise ConfigError(" ".join(found))
    return list(warnings(config))


def _declarations(config: Config) -> Iterator[str]:
    for key in all_keys().values():
        value = get(config, key.name)
        if not _allowed(key, value):
            hint = suggestion(str(value), map(str, key.choices or ()))
            yield f"{key.name}={show(value)} is not allowed{hint}: it takes {key.allowed()}. {key.doc}"


def _allowed(key: Key, value: Any) -> bool:
    if key.choices is not None:
        # `True == 1`: a choice must have the type too.
        return any(value == choice and type(value) is type(choice) for choice in key.choices)
    if isinstance(value, bool):
        return bool in key.kinds
    if isinstance(value, int | float):
        inside = (key.low is None or value >= key.low) and (key.high is None or value <= key.high)
        return math.isfinite(value) and inside
    return True
