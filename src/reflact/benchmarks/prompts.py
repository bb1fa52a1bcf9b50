"""Prompt files: Markdown with a version, filled in by name.

A prompt file begins with a line `<!-- version: 3 -->`; `$name` stands for a value. Values are put in once and
never read again, so that a `$` in an item changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from reflact.core.hashing import text_digest

_HEADER = re.compile(r"<!--\s*version:\s*(\S+)\s*-->\s*")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt file.

    Attributes:
        name: The file's name without suffix.
        version: What its first line says.
        text: The template.
    """

    name: str
    version: str
    text: str

    def fill(self, **values: str) -> str:
        """Return the text with every `$name` replaced.

        Raises:
            KeyError: A name has no value.
        """
        return Template(self.text).substitute(values)

    def record(self) -> dict[str, str]:
        """Return version and hash, as they are recorded."""
        return {"version": self.version, "sha256": text_digest(self.text)}


def load_prompt(package: str, name: str) -> Prompt:
    """Read `prompts/<name>.md` of a package.

    Raises:
        ValueError: The file does not begin with its version.
    """
    raw = files(package).joinpath("prompts", f"{name}.md").read_text(encoding="utf-8")
    header = _HEADER.match(raw)
    if header is None:
        raise ValueError(f"{package}: prompts/{name}.md must begin with <!-- version: ... -->")
    return Prompt(name, header.group(1), raw[header.end() :].strip())


def with_skill(system: str, skill: str) -> str:
    """Return a system prompt that shows the skill as a block of its own; without a skill, the prompt alone."""
    if not skill.strip():
        return system
    return f"{system}\n\nFollow this skill where it applies:\n\n<skill>\n{skill.strip()}\n</skill>"
