from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from reflact.config.compose import compose
from reflact.core.events import Emit
from reflact.engine.run import train
from reflact.engine.summary import Summary

SIMULATED = (
    "benchmark=orders",
    "harness=rehearsal",
    "env.workers=8",
    "optimizer.use_slow_update=true",
    "optimizer.use_meta_skill=true",
)


@pytest.fixture
def rehearse(tmp_path: Path) -> Callable[..., tuple[Summary, Path]]:
    """Train with simulated models in a folder of its own; returns the summary and the run directory."""

    def run(*overrides: str, name: str = "run", listeners: Sequence[Emit] = ()) -> tuple[Summary, Path]:
        config = compose([*SIMULATED, *overrides])
        config.env.out_root = str(tmp_path / name)
        return train(config, listeners=listeners), tmp_path / name

    return run
