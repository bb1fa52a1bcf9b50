"""What the two commands that do runs share: how they start, and how a run is shown."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from reflact.cli import help
from reflact.cli.errors import guarded, say, tell
from reflact.cli.streams import ensure_streams
from reflact.cli.utf8 import ensure_utf8

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from reflact.config.schema import Config
    from reflact.core.events import Emit
    from reflact.engine.summary import Summary
    from reflact.rundir.claim import Claim


class Run(Protocol):
    """What a command does in a directory: `reflact.engine.run.train` and its like."""

    def __call__(self, config: Config, *, claim: Claim | None, listeners: Sequence[Emit]) -> Summary:
        """Do it."""
        ...


def launch(program: str, task: Callable[[DictConfig], float]) -> None:
    """Do what the command line says.

    Args:
        program: What the command is called.
        task: Does one job; Hydra names the job after its module.
    """
    ensure_streams()
    ensure_utf8()
    guarded(program, lambda: _start(program, task))


def _start(program: str, task: Callable[[DictConfig], float]) -> None:
    if help.wanted(sys.argv[1:]):
        sys.stdout.write(help.text(program, sys.argv[1:]))
        return
    from reflact.cli.hydra_app import start

    start(program, task)


def shown(run: Run, config: Config, claim: Claim | None) -> Summary:
    """Do a run with the display that the configuration asks for, and print its closing summary."""
    from pathlib import Path

    from reflact.report.closing import print_closing
    from reflact.report.live import make_display
    from reflact.trackers.listening import tracking

    tracked = tracking(config, lambda message: say("reflact", message))
    # The display closes first, so that it does not stand on the terminal while trackers finish.
    with tracked as listeners, make_display(config) as emit:
        summary = run(config, claim=claim, listeners=(emit, *listeners))
    if config.display.mode != "off":
        tell(lambda: print_closing(Path(config.env.out_root)))
    return summary


def number(value: object) -> float:
    """Return a score for Hydra; NaN where there is none."""
    return float(value) if isinstance(value, int | float) else float("nan")
