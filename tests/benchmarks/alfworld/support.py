"""What the tests of ALFWorld share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.alfworld.benchmark import ALFWorld
from reflact.benchmarks.alfworld.installed import missing_packages
from reflact.benchmarks.alfworld.simulator.limits import Limits
from reflact.benchmarks.alfworld.simulator.pool import Pool
from reflact.config.schema import Config

FAKE = (sys.executable, str(Path(__file__).with_name("fake_worker.py")))
QUICK = Limits(start_s=20.0, open_s=5.0, step_s=1.0)

needs_engine = pytest.mark.skipif(
    bool(missing_packages()), reason="absent: the engine of ALFWorld (make setup-alfworld)"
)

DOMAIN = "(define (domain alfred)\n (:action look)\n ; (:action Old)\n (:action GotoLocation) (:action PutObject))"
GRAMMAR = (
    'action look { template :: "look"; } action Old { template :: "put {o} in {r}"; }\n'
    'action GotoLocation {\n template :: "go to [{r.name | x(r:receptacle)}]"; }\n'
    'action PutObject { template :: "move {o} to {r}"; }\n'
    '{"task": [{"rhs": "Your task is to: %s."}]}'
)


def fake_pool(size: int = 2, limits: Limits = QUICK) -> Pool:
    return Pool(size, program=FAKE, limits=limits)


def write_game(folder: Path, task: str = "put a mug in the desk", **changes: Any) -> Path:
    """Write a game file that only a fake worker plays."""
    data = {
        "pddl_domain": DOMAIN,
        "grammar": GRAMMAR % task,
        "pddl_problem": f"(define (problem {folder.name}))",
        "solvable": True,
        "walkthrough": ["go to desk 1", "win"],
        **changes,
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "game.tw-pddl"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def benchmark(pool: Pool | None = None, **env: Any) -> ALFWorld:
    config = Config()
    config.benchmark.name = "alfworld"
    for key, value in env.items():
        assert hasattr(config.env, key)
        setattr(config.env, key, value)
    return ALFWorld(config, pool)
