"""Whole rehearsal runs in which no edit helps: what the loop really decides."""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

import reflact
from bench.made import write_split
from bench.runs import scratch

SIZES = (18,)
RUNS = 40
_TAKEN = ("accept", "accept_new_best")
_DECIDED = (*_TAKEN, "reject")
Count = tuple[int, int]


def rehearse(items: int, rule: str, alpha: float) -> tuple[Count, Count]:
    """Return (accepted, decisions) of the first decisions of the runs and of all later ones."""
    with scratch() as name:
        folder = Path(name)
        write_split(folder / "split", train=40, val=items, test=1)
        work = partial(_run, folder, rule, alpha)
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            decisions = list(pool.map(work, range(RUNS)))
    first = [actions[0] for actions in decisions if actions]
    later = list(chain.from_iterable(actions[1:] for actions in decisions))
    return _count(first), _count(later)


def _run(folder: Path, rule: str, alpha: float, seed: int) -> list[str]:
    """Train once; return the actions of the steps whose candidate was measured."""
    root = folder / f"run-{seed}"
    config = reflact.compose(
        [
            "benchmark=searchqa",
            "harness=rehearsal",
            f"env.split_dir={folder / 'split'}",
            f"env.out_root={root}",
            f"rehearsal.seed={seed}",
            f"train.seed={seed}",
            "rehearsal.useless_edit_rate=1.0",
            "train.num_epochs=1",
            "train.batch_size=8",
            "optimizer.use_slow_update=false",
            f"evaluation.gate_rule={rule}",
            f"evaluation.gate_alpha={alpha}",
            "evaluation.eval_test=false",
            "display.mode=off",
        ]
    )
    reflact.train(config)
    lines = (root / "history.jsonl").read_text(encoding="utf-8").splitlines()
    # A text that was measured before is not decided anew.
    return [
        record["action"]
        for record in map(json.loads, lines)
        if record["action"] in _DECIDED and "cached" not in record["gate"]
    ]


def _count(actions: Sequence[str]) -> Count:
    return sum(action in _TAKEN for action in actions), len(actions)
