"""`reflact-train`: one training run, or a sweep with `--multirun`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reflact.cli.application import launch, number, shown

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from reflact.config.schema import Config
    from reflact.rundir.claim import Claim

PROGRAM = "reflact-train"


def main() -> None:
    """Entry point."""
    launch(PROGRAM, train)


def train(node: DictConfig) -> float:
    """Do one job; returns the best selection score, for sweepers that optimise it."""
    from reflact.cli.job import perform

    return perform(PROGRAM, node, _train)


def _train(config: Config, claim: Claim | None) -> float:
    from reflact.engine.run import train as run

    return number(shown(run, config, claim).selection_score)


if __name__ == "__main__":
    main()
