"""Finding benchmarks by the names of their entry points."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from reflact.benchmarks.protocol import Benchmark
from reflact.config.schema import Config
from reflact.core.errors import ConfigError

GROUP = "reflact.benchmarks"


def benchmark_names() -> tuple[str, ...]:
    """Return the names of all installed benchmarks, sorted; nothing is imported."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


def load_benchmark(config: Config) -> Benchmark:
    """Import and make the benchmark that `benchmark.name` says.

    Raises:
        ConfigError: The name is unknown or empty, two distributions claim it, or its code cannot be imported.
    """
    return make_benchmark(config, tuple(entry_points(group=GROUP)))


def make_benchmark(config: Config, entries: Sequence[EntryPoint]) -> Benchmark:
    """Do the work of `load_benchmark` over given entry points."""
    name = config.benchmark.name
    entry = _choose(name, entries)
    origin = f"benchmark {name!r} ({entry.value}, from {_distribution(entry)})"
    try:
        factory = entry.load()
    except Exception as error:
        # Whatever a foreign module does when it is imported, the user has to hear whose module it was.
        raise ConfigError(f"{origin} cannot be imported: {type(error).__name__}: {error}") from error
    if not callable(factory):
        raise ConfigError(f"{origin} is not a callable that takes the configuration")
    benchmark: Benchmark = factory(config)
    return benchmark


def _choose(name: str, entries: Sequence[EntryPoint]) -> EntryPoint:
    names = sorted({entry.name for entry in entries})
    if not name:
        raise ConfigError(f"no benchmark is chosen: add benchmark=<name>, one of: {', '.join(names)}")
    # The same distribution may be listed twice (an editable install beside its build), which is no conflict.
    found = {(entry.value, _distribution(entry)): entry for entry in entries if entry.name == name}
    if not found:
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ConfigError(f"unknown benchmark {name!r}: {hint}installed: {', '.join(names) or 'none'}")
    if len(found) > 1:
        owners = ", ".join(sorted(f"{value} from {owner}" for value, owner in found))
        raise ConfigError(f"benchmark {name!r} is claimed more than once: {owners}; uninstall all but one")
    return next(iter(found.values()))


def _distribution(entry: EntryPoint) -> str:
    if entry.dist is None:
        return "an unknown distribution"
    return f"{entry.dist.name} {entry.dist.version}"
