"""The rules of validity: data, read from `conf/validity`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from reflact.config.nearest import suggestion
from reflact.config.paths import conf_dir
from reflact.core.errors import ConfigError

KINDS = ("training", "evaluation")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        name: What reasons begin with, and what `validity.ignore` names.
        check: Name of the function in `checks` that looks at the run.
        kinds: Kinds of runs that it is for.
        always: It cannot be ignored.
        swept_by: Keys, also as patterns; in a table that sweeps one of them it says nothing.
        takes: What the check takes.
    """

    name: str
    check: str
    kinds: tuple[str, ...]
    always: bool
    swept_by: frozenset[str]
    takes: Mapping[str, Any]

    def silenced(self, swept: Collection[str]) -> bool:
        """Whether a table that sweeps these keys is not asked."""
        return any(fnmatchcase(key, pattern) for key in swept for pattern in self.swept_by)


def load_rules(folder: Path | None = None) -> tuple[Rule, ...]:
    """Read the rules of all files in a folder (by default `conf/validity`), in the order of their names.

    Raises:
        ConfigError: A rule is incomplete, or two have one name.
    """
    folder = folder if folder is not None else conf_dir() / "validity"
    rules: list[Rule] = []
    for path in sorted(folder.glob("*.yaml")):
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        entries = data.get("rules") if isinstance(data, Mapping) else None
        if not isinstance(entries, list):
            raise ConfigError(f"{path}: there is no list `rules`")
        rules += [_rule(entry, path) for entry in entries]
    names = [rule.name for rule in rules]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{folder}: more than one rule is called {', '.join(twice)}")
    if not rules:
        raise ConfigError(f"{folder}: no rules of validity are there")
    return tuple(rules)


def _rule(entry: Any, path: Path) -> Rule:
    if not isinstance(entry, Mapping) or not entry.get("name") or not entry.get("check"):
        raise ConfigError(f"{path}: a rule needs name and check: {entry}")
    takes = {key: value for key, value in entry.items() if key not in ("name", "check", "kinds", "always", "swept_by")}
    kinds = tuple(entry.get("kinds", KINDS))
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ConfigError(f"{path}: rule {entry['name']}: kinds={unknown}; there are {', '.join(KINDS)}")
    return Rule(
        name=str(entry["name"]),
        check=str(entry["check"]),
        kinds=kinds,
        always=entry.get("always") is True,
        swept_by=frozenset(entry.get("swept_by", ())),
        takes=takes,
    )


def require_names(names: Collection[str], rules: Collection[Rule], where: str) -> None:
    """Make sure that names are those of rules that may be ignored.

    Raises:
        ConfigError: With the names there are.
    """
    free = [rule.name for rule in rules if not rule.always]
    for name in names:
        if name not in free:
            hint = suggestion(name, free)
            raise ConfigError(
                f"{where}={name}: no rule of that name can be ignored{hint}. There are {', '.join(free)}."
            )
