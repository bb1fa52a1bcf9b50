"""The key of an evaluation: everything that decides what a row would be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from reflact.core.hashing import digest
from reflact.core.names import Part
from reflact.optimizer.protected import skill_key


@dataclass(slots=True)
class KeyMaker:
    """Makes evaluation keys.

    Attributes:
        fingerprints: Content fingerprint of each part of the split.
        setting: Student, harness, benchmark version and settings, caps and code version: all that rows of one
            run share.
    """

    fingerprints: Mapping[Part, str]
    setting: Mapping[str, Any]
    _cache: dict[tuple[str, Part, int], str] = field(default_factory=dict)
    _skills: dict[str, str] = field(default_factory=dict)

    def skill_key(self, skill: str) -> str:
        """Return the key of a skill's text, which leaves an empty protected block out."""
        if skill not in self._skills:
            self._skills[skill] = skill_key(skill)
        return self._skills[skill]

    def key(self, skill: str, part: Part, seed: int) -> str:
        """Return the key of rows made with `skill` on `part` under `seed`."""
        where = (self.skill_key(skill), part, seed)
        if where not in self._cache:
            self._cache[where] = digest(
                {
                    "skill": where[0],
                    "part": part.value,
                    "items": self.fingerprints[part],
                    "seed": seed,
                    "setting": self.setting,
                }
            )
        return self._cache[where]
