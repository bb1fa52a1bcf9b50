"""`reflact-eval`: one skill on one part of a split, with one harness."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reflact.cli.application import launch, number, shown

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from reflact.config.schema import Config
    from reflact.rundir.claim import Claim

PROGRAM = "reflact-eval"


def main() -> None:
    """Entry point."""
    launch(PROGRAM, evaluate)


def evaluate(node: DictConfig) -> float:
    """Do one job; returns the mean of `hard`."""
    from reflact.cli.job import perform

    return perform(PROGRAM, node, _evaluate)


def _evaluate(config: Config, claim: Claim | None) -> float:
    from reflact.engine.evaluate import evaluate as run

    return number(shown(run, config, claim).data["scores"]["hard"])


if __name__ == "__main__":
    main()
