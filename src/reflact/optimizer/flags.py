"""What a person should look at in a new skill: links, shell commands and answers of train items."""

from __future__ import annotations

import re
from collections.abc import Iterable

_EXCERPT_CHARS = 120
# Shorter answers (option letters, small numbers) are in any text by chance.
_SHORTEST_GOLD = 4

_URL = re.compile(r"\b(?:https?|ftp|file)://[^\s<>\"')\]]+|\bwww\.[\w-]+\.[^\s<>\"')\]]+", re.IGNORECASE)
_SHELL = re.compile(
    r"""^[ \t]*(?:```|~~~)[ \t]*(?:bash|sh|shell|zsh|console|powershell)\b[^\n]*   # a fenced shell block
      | ^[ \t]*\$[ \t]+\S[^\n]*                                                    # a prompt with a command
      | \b(?:sudo|curl|wget|chmod|chown|ssh|scp|nc|eval)[ \t]+(?:-|\.{0,2}/|\w+[./:@])[^\n`]*
      | \brm[ \t]+-\w+[^\n`]*
      | \b(?:pip3?|npm|apt|apt-get|brew|conda)[ \t]+install\b[^\n`]*
      | \b(?:bash|sh|zsh)[ \t]+-\w*c\b[^\n`]*
      | \|[ \t]*(?:bash|sh|zsh)\b
    """,
    re.MULTILINE | re.VERBOSE,
)


def flag_skill(text: str, golds: Iterable[str], *, before: str = "") -> list[dict[str, str]]:
    """Return what is new in a skill and deserves a look; nothing is refused for it.

    Each row is `{kind: url | shell_command | gold, excerpt}`.

    Args:
        text: The new skill.
        golds: Answers of train items. They are looked for as whole words, without case; answers under four
            characters are left out.
        before: The skill that it came from: what was there already is not flagged again.
    """
    flags = [{"kind": "url", "excerpt": match} for match in _new(_URL, text, before)]
    flags += [{"kind": "shell_command", "excerpt": match} for match in _new(_SHELL, text, before)]
    lowered, former = text.casefold(), before.casefold()
    for gold in dict.fromkeys(gold.strip() for gold in golds):
        wanted = gold.casefold()
        if len(gold) >= _SHORTEST_GOLD and _holds(lowered, wanted) and not _holds(former, wanted):
            flags.append({"kind": "gold", "excerpt": gold[:_EXCERPT_CHARS]})
    return flags


def _new(pattern: re.Pattern[str], text: str, before: str) -> list[str]:
    found = dict.fromkeys(match.group().strip()[:_EXCERPT_CHARS] for match in pattern.finditer(text))
    return [excerpt for excerpt in found if excerpt not in before]


def _holds(text: str, wanted: str) -> bool:
    """Whether `wanted` is in `text` without a letter or digit right before or after it."""
    place = text.find(wanted)
    while place >= 0:
        end = place + len(wanted)
        if not text[max(place - 1, 0) : place].isalnum() and not text[end : end + 1].isalnum():
            return True
        place = text.find(wanted, place + 1)
    return False
