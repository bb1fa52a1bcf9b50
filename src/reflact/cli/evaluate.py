"""`reflact-eval`: one skill on one part of a split, with one harness."""

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

PROGRAM = "reflact-eval"


def main() -> None:
    """Entry point."""
    ensure_utf8()
    guarded(PROGRAM, _start)


def _start() -> None:
    if help.wanted(sys.argv[1:]):
        sys.stdout.write(help.text(PROGRAM, sys.argv[1:]))
        return
    from reflact.cli.hydra_app import start

    start(PROGRAM, evaluate)


def evaluate(node: DictConfig) -> float:
    """Do one job; returns the mean of `hard`."""
    from reflact.cli.job import perform

    return perform(PROGRAM, node, _evaluate)


def _evaluate(config: Config, claim: Claim) -> float:
    from reflact.engine.evaluate import evaluate as run
    from reflact.report.closing import print_closing
    from reflact.report.live import make_display

    with make_display(config) as emit:
        evaluation = run(config, claim=claim, listeners=(emit,))
    if config.display.mode != "off":
        tell(lambda: print_closing(claim.root))
    hard = evaluation.to_json().get("hard")
    return float(hard) if isinstance(hard, int | float) else float("nan")


if __name__ == "__main__":
    main()
