"""The commands that the prompt names, and the ones that a game knows."""

from __future__ import annotations

import re

COMMANDS = (
    "go to (place)",
    "open (place)",
    "close (place)",
    "take (thing) from (place)",
    "move (thing) to (place)",
    "use (thing)",
    "heat (thing) with (place)",
    "cool (thing) with (place)",
    "clean (thing) with (place)",
    "slice (thing) with (thing)",
    "examine (place or thing)",
    "inventory",
    "look",
)
"""The forms that the student is told."""

HELP = "help"
"""Possible everywhere and never shown: it lists the commands in the engine's words and costs a turn."""

_BLANK = re.compile(r"\([^)]*\)|\{[^}]*\}|\[[^\]]*\]")
_COMMENT = re.compile(r";.*")
_IN_DOMAIN = re.compile(r"\(:action\s+([\w-]+)")
_IN_GRAMMAR = re.compile(r"\baction\s+([\w-]+)\s*\{\s*template\s*::\s*\"([^\"]*)\"")


def shape(form: str) -> str:
    """Return a form's fixed words: `take from` for `take {o} from {r}`."""
    return " ".join(_BLANK.sub(" ", form).split())


def shapes_of(domain: str, grammar: str) -> frozenset[str]:
    """Return the shapes of the commands that a game knows: those of the grammar whose action the domain has."""
    actions = set(_IN_DOMAIN.findall(_COMMENT.sub("", domain)))
    return frozenset(shape(form) for name, form in _IN_GRAMMAR.findall(grammar) if name in actions)


def unknown_shapes(shapes: frozenset[str]) -> tuple[str, ...]:
    """Return the shapes that the prompt does not name."""
    return tuple(sorted(shapes - {shape(form) for form in COMMANDS} - {HELP}))


def missing_shapes(shapes: frozenset[str]) -> tuple[str, ...]:
    """Return the shapes that the prompt names and a game does not know."""
    return tuple(sorted({shape(form) for form in COMMANDS} - shapes))
