"""Every key of the configuration by its dotted name, read off the schema."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from typing import Any

from reflact.config.schema import Config


@dataclass(frozen=True, slots=True)
class Key:
    """A key.

    Attributes:
        name: The dotted name (`optimizer.learning_rate`).
        annotation: Its type.
        default: The schema's default.
        doc: One sentence.
        choices: The allowed values, None where they are not a list.
        low: Smallest allowed number.
        high: Largest allowed number.
        free: See `reflact.config.fields.opt`.
        path: See `reflact.config.fields.opt`.
    """

    name: str
    annotation: Any
    default: Any
    doc: str
    choices: tuple[Any, ...] | None
    low: float | None
    high: float | None
    free: bool
    path: bool

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types that a value may have, unions taken apart."""
        if isinstance(self.annotation, types.UnionType):
            return typing.get_args(self.annotation)
        return (self.annotation,)

    def allowed(self) -> str:
        """Say in words which values are allowed."""
        if self.choices is not None:
            return "one of " + ", ".join(show(choice) for choice in self.choices)
        words = " or ".join(_WORDS.get(kind, _container_word(kind)) for kind in self.kinds if kind is not _NULL)
        if self.low is not None and self.high is not None:
            words += f" from {self.low:g} to {self.high:g}"
        elif self.low is not None:
            words += f" of at least {self.low:g}"
        return f"{words}, or null" if _NULL in self.kinds else words


_WORDS: Mapping[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
}
_NULL = type(None)


def _container_word(kind: Any) -> str:
    return "a list" if typing.get_origin(kind) is list else "a mapping"


def show(value: Any) -> str:
    """Return a value as it is written on a command line, without quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return '""' if value == "" else str(value)


@cache
def all_keys() -> Mapping[str, Key]:
    """Return every key by name, in the schema's order."""
    return {key.name: key for key in _walk(Config, "")}


@cache
def sections() -> frozenset[str]:
    """Return the names of the nodes that hold keys (`optimizer`)."""
    return frozenset(name.rpartition(".")[0] for name in all_keys()) - {""}


def _walk(node: type, prefix: str) -> Iterator[Key]:
    hints = typing.get_type_hints(node)
    for item in fields(node):
        name, annotation = prefix + item.name, hints[item.name]
        if is_dataclass(annotation):
            yield from _walk(typing.cast(type, annotation), name + ".")
            continue
        meta = item.metadata
        default = item.default_factory() if item.default_factory is not MISSING else item.default
        choices = None if meta["choices"] is None else tuple(meta["choices"])
        yield Key(
            name, annotation, default, meta["doc"], choices, meta["low"], meta["high"], meta["free"], meta["path"]
        )


def get(config: Config, name: str) -> Any:
    """Return the value of a key."""
    node: Any = config
    for part in name.split("."):
        node = getattr(node, part)
    return node


def flatten(config: Config) -> dict[str, Any]:
    """Return every key with its value, in the schema's order."""
    return {name: get(config, name) for name in all_keys()}
