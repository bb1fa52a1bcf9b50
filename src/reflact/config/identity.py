"""When two configurations are the same run: what counts, its hash, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from reflact.config.keys import all_keys, flatten
from reflact.config.schema import Config
from reflact.core.hashing import digest

Difference = tuple[str, Any, Any]
"""A key with its value on either side; None where a side does not have the key."""


def to_json(config: Config) -> dict[str, Any]:
    """Return the configuration as nested JSON, as it is written to `config.json`."""
    return asdict(config)


def effective(config: Config, fingerprints: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what a run's result depends on, by dotted key.

    Keys that may differ on resume are left out, and the floor of the learning rate is resolved.

    Args:
        config: The configuration.
        fingerprints: Hashes of the content behind keys that name files or folders (`env.split_dir`,
            `env.skill_init`). They replace the paths, so that the same content elsewhere is the same run. With one
            for `env.split_dir` the other two keys that lead to a split (`env.split_root`, `env.split`) no longer
            count. Without a fingerprint the text counts.
    """
    known = dict(fingerprints or {})
    values = {name: value for name, value in flatten(config).items() if not all_keys()[name].free}
    values["optimizer.min_learning_rate"] = floor(config)
    if "env.split_dir" in known:
        del values["env.split_root"], values["env.split"]
    return {name: {"sha256": known[name]} if name in known else value for name, value in values.items()}


def floor(config: Config) -> int:
    """Return the smallest edit budget of the schedule: as set, else min(2, learning rate)."""
    optimizer = config.optimizer
    if optimizer.min_learning_rate is None:
        return min(2, optimizer.learning_rate)
    return optimizer.min_learning_rate


def config_hash(config: Config, fingerprints: Mapping[str, str] | None = None) -> str:
    """Return the hash (hex) of `effective`."""
    return digest(effective(config, fingerprints))


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """Return the keys in which two results of `effective` differ, in order."""
    names = dict.fromkeys([*old, *new])
    return [
        (name, old.get(name), new.get(name))
        for name in names
        if not _same(old.get(name), new.get(name)) or (name in old) != (name in new)
    ]


def free_difference(old: Config, new: Config) -> list[Difference]:
    """Return the differing keys that may differ on resume."""
    before, after = flatten(old), flatten(new)
    return [
        (name, before[name], after[name])
        for name, key in all_keys().items()
        if key.free and not _same(before[name], after[name])
    ]


def config_diff(config: Config, default: Config) -> dict[str, list[Any]]:
    """Return the keys that differ from the benchmark's default, each with [default, value]; free keys left out."""
    return {name: [old, new] for name, old, new in difference(effective(default), effective(config))}


def _same(old: Any, new: Any) -> bool:
    # 1 == True and 1 == 1.0 in Python, but `1` and `true` are not one setting.
    return old == new and isinstance(old, bool) == isinstance(new, bool)
