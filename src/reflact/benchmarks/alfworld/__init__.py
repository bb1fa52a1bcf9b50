"""ALFWorld: household tasks in a text world, done turn by turn in the real engine."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reflact.benchmarks.alfworld.benchmark import ALFWorld

__all__ = ["ALFWorld"]


def __getattr__(name: str) -> Any:
    # Worker processes import this package too, and need nothing of the benchmark.
    if name == "ALFWorld":
        from reflact.benchmarks.alfworld.benchmark import ALFWorld

        return ALFWorld
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
