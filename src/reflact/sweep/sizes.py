"""What a plan must know of the data: how many items each part has, and of which content."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from reflact.benchmarks.protocol import Benchmark
from reflact.benchmarks.registry import load_benchmark
from reflact.benchmarks.splits import part_sizes
from reflact.config.keys import flatten
from reflact.config.schema import Config
from reflact.core.errors import DataError, Unavailable
from reflact.core.hashing import digest
from reflact.core.names import Part

# Keys under `env.` that cannot change which items there are.
_NOT_DATA = frozenset(
    {
        *("env.workers", "env.env_workers", "env.exec_timeout", "env.call_timeout", "env.idle_timeout"),
        *("env.max_completion_tokens", "env.max_turns", "env.mode", "env.skill_init", "env.out_root", "env.sandbox"),
        "env.recalculate",
    }
)
_USUAL_NAME = re.compile(r"(\d+-\d+-\d+|1shot|10pct)(?:_seed\d+)?")


@dataclass(frozen=True, slots=True)
class DataFacts:
    """What is known of a run's items.

    Attributes:
        split: Name of the split.
        sizes: Items of each part.
        fingerprint: Of the content; None where the data are not there.
        missing: Why the sizes are the published ones; `""` where they were counted.
        unreadable: What is missing is not the data but what reads them.
    """

    split: str
    sizes: Mapping[Part, int]
    fingerprint: str | None
    missing: str = ""
    unreadable: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON."""
        return {
            "sizes": {part.value: size for part, size in self.sizes.items()},
            "fingerprint": self.fingerprint,
            "source": "published counts" if self.missing else "data",
        }


class DataShelf:
    """Reads the data of each benchmark and split once.

    Args:
        only_shown: The plan is looked at and nothing is started, so what reads the data need not be installed either.
    """

    def __init__(self, *, only_shown: bool = False) -> None:
        self._only_shown = only_shown
        self._facts: dict[str, DataFacts] = {}

    def facts(self, config: Config) -> DataFacts:
        """Return what is known of a configuration's items.

        Raises:
            DataError: There are no data, and nothing is published of such a split either.
            Unavailable: What reads them is not installed.
        """
        key = digest({name: value for name, value in flatten(config).items() if _decides(name)})
        if key not in self._facts:
            self._facts[key] = _look(config, only_shown=self._only_shown)
        return self._facts[key]


def _decides(name: str) -> bool:
    return name.startswith(("benchmark.", "env.")) and name not in _NOT_DATA


def _look(config: Config, *, only_shown: bool) -> DataFacts:
    try:
        benchmark: Benchmark = load_benchmark(config)
        split = benchmark.load()
    except (DataError, Unavailable) as error:
        sizes = published_sizes(config)
        unreadable = isinstance(error, Unavailable)
        # Nothing is published of the made items.
        if sizes is None or (unreadable and (config.env.sample or not only_shown)):
            raise
        return DataFacts(_split_name(config), sizes, None, str(error), unreadable)
    sizes = {part: len(split.parts[part]) for part in Part}
    return DataFacts(split.name, sizes, split.fingerprint)


def published() -> Mapping[str, Any]:
    """Return `published.toml`."""
    return tomllib.loads((files("reflact.sweep") / "published.toml").read_text(encoding="utf-8"))


def published_sizes(config: Config) -> dict[Part, int] | None:
    """Return the published counts of a configuration's split; None where there are none."""
    if config.env.drop_constant_option:
        return None
    known, name, split = published(), config.benchmark.name, _split_name(config)
    parts = known["parts"].get(name, {}).get(split)
    if parts is not None:
        return dict(zip(Part, parts, strict=True))
    pool = known["pool"].get(name)
    return None if pool is None else part_sizes(pool, split)


def _split_name(config: Config) -> str:
    usual = _USUAL_NAME.fullmatch(Path(config.env.split_dir).name) if config.env.split_dir else None
    return config.env.split if usual is None else usual.group(1)
