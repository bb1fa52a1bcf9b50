"""Values written as overrides that Hydra reads back as the same values, and whole commands for a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

OPEN = frozenset({"benchmark.options", "pricing.models", "sweep.max_parallel"})
"""Keys that are mappings with any entries."""

Value = str | int | float | bool | None | Sequence[Any] | Mapping[str, Any]

# Texts that Hydra's grammar reads as one text without quotes. They start with a letter, `_` or `/`, so that no
# number is among them, and hold no blank, because a reader should see where a value ends.
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_/.@%+-]*")
_WORDS = frozenset({"true", "false", "null", "inf", "nan"})
_FOREIGN = re.compile(r"""[^,=(){}\[\]'"$\\]+""")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*([.-][A-Za-z0-9_-]+)*")
# OmegaConf takes `${` for an interpolation unless it is escaped, and then halves the backslashes before it.
_INTERPOLATION = re.compile(r"(\\*)\$\{")


def override(key: str, value: Value) -> str:
    r"""Return `key=value` such that Hydra's parser gives the same value back.

    >>> override("model.student", "gpt-5.5")
    'model.student=gpt-5.5'
    >>> override("env.skill_init", "a,b")
    "env.skill_init='a,b'"

    Raises:
        ValueError: Hydra cannot express the value: the text `???`, or a mapping's key with quotes, blanks or letters
            outside ASCII.
    """
    return f"{key}={quoted(value)}"


def quoted(value: Value) -> str:
    """Return the right side of an override; see `override`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_key(key)}:{quoted(item)}" for key, item in value.items()) + "}"
    return "[" + ",".join(quoted(item) for item in value) + "]"


def accepted(line: str) -> str:
    """Return an override as Hydra reads it: a value with letters outside ASCII gets the quotes that it needs.

    Hydra's grammar knows only ASCII outside quotes, so that `env.out_root=outputs/李明` would be a syntax error.
    Values that hold any of Hydra's own syntax are left alone. A whole mapping for a key that takes any entries
    (`sweep.max_parallel={alfworld:1}`) gets the mark without which Hydra would take no new entry.
    """
    key, _, value = line.partition("=")
    if key in OPEN and value.startswith("{"):
        return f"++{line}"
    return override(key, value) if _FOREIGN.fullmatch(value) and not value.isascii() else line


def command(program: str, overrides: Iterable[str]) -> str:
    """Return a command line that a POSIX shell splits back into exactly these overrides."""
    return shlex.join([program, *overrides])


def _text(value: str) -> str:
    if value == "???":
        raise ValueError("`???` is how Hydra writes a missing value; no override can express it as a text.")
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    escaped = _INTERPOLATION.sub(lambda found: found[1] * 2 + r"\${", value)
    # Inside quotes a backslash counts only in front of a quote (or the end), where it must be doubled.
    return "'" + re.sub(r"(\\*)('|\Z)", _escape, escaped) + "'"


def _escape(found: re.Match[str]) -> str:
    backslashes, end = found[1] * 2, found[2]
    return backslashes + (r"\'" if end else "")


def _key(key: Any) -> str:
    if not isinstance(key, str) or not _PLAIN_KEY.fullmatch(key) or key.lower() in _WORDS:
        raise ValueError(f"Hydra's override grammar cannot express the mapping key {key!r}.")
    return key
