"""`reflact-train`: one training run, or a sweep with `--multirun`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from reflact.cli import help
from reflact.cli.errors import guarded, tell
from reflact.cli.utf8 import ensure_utf8

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from reflact.config.schema import Config
    from reflact.rundir.claim import Claim

PROGRAM = "reflact-train"


def main() -> None:
    """Entry point."""
    ensure_utf8()
    guarded(PROGRAM, _start)


def _start() -> None:
    if help.wanted(sys.argv[1:]):
        sys.stdout.write(help.text(PROGRAM, sys.argv[1:]))
        return
    from reflact.cli.hydra_app import start

    start(PROGRAM, train)


def train(node: DictConfig) -> float:
    """Do one job; returns the best selection score, for sweepers that optimise it."""
    from reflact.cli.job import perform

    return perform(PROGRAM, node, _train)


def _train(config: Config, claim: Claim) -> float:
    from reflact.engine.run import train as run
    from reflact.report.closing import print_closing
    from reflact.report.live import make_display

    with make_display(config) as emit:
        summary = run(config, claim=claim, listeners=(emit,))
    if config.display.mode != "off":
        tell(lambda: print_closing(claim.root))
    return _score(summary.to_json())


def _score(summary: dict[str, object]) -> float:
    best = summary.get("best")
    selection = best.get("selection") if isinstance(best, dict) else None
    hard = selection.get("hard") if isinstance(selection, dict) else None
    return float(hard) if isinstance(hard, int | float) else float("nan")


if __name__ == "__main__":
    main()
