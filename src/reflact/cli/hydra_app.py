"""Starting a Hydra application so that its composition errors are ours."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra._internal import utils
from hydra._internal.utils import get_args_parser
from hydra.types import RunMode, TaskFunction

from reflact.cli.errors import say
from reflact.cli.sweep_keys import require_none
from reflact.config.axes import choosing
from reflact.config.check import check
from reflact.config.compose import CONFIG_NAME, VERSION_BASE, Composer, typed
from reflact.config.overrides import accepted
from reflact.config.paths import conf_dir
from reflact.core.errors import ConfigError, Stopped
from reflact.core.interrupts import interruption
from reflact.core.names import StopCause
from reflact.rundir.told import told
from reflact.sweep.start import NOTHING_BEGUN


def start(program: str, task: TaskFunction) -> None:
    """Hand the command line to Hydra.

    Hydra prints its own text and exits with 1 where overrides do not compose. So the configuration is composed and
    checked here first, which costs a tenth of a second.

    Args:
        program: What the command is called.
        task: The function for a job; its module gives the job its name.

    Raises:
        ConfigError: The overrides do not compose or hold a value that is not allowed, or a flag is unknown.
    """
    try:
        _prepare(program)
    except KeyboardInterrupt:
        raise Stopped(StopCause.INTERRUPTED, f"interrupted; {NOTHING_BEGUN}") from None
    with _telling_apart():
        hydra.main(version_base=VERSION_BASE, config_path=str(conf_dir()), config_name=CONFIG_NAME)(task)()


@contextmanager
def _telling_apart() -> Iterator[None]:
    """Let what is no bug pass by Hydra, which prints the traceback of every exception and exits with 1."""
    reported = utils.run_and_report

    def report(func: Any) -> Any:
        try:
            return func()
        except Exception as error:
            if interruption() or isinstance(error, BrokenPipeError) or told(error) is not None:
                raise
            return reported(partial(_again, error))

    utils.run_and_report = report
    try:
        yield
    finally:
        utils.run_and_report = reported


def _again(error: Exception) -> NoReturn:
    raise error


def _prepare(program: str) -> None:
    # A log that cannot be written (a full disk) is told once, by the run's own end, not with a traceback a line.
    logging.raiseExceptions = False
    args, unknown = get_args_parser().parse_known_args()
    if unknown and not any(argument.startswith("-") for argument in unknown):
        # Overrides on both sides of a flag, which Hydra does not take.
        overrides = [*args.overrides, *unknown]
        sys.argv[1:] = [*(argument for argument in sys.argv[1:] if argument not in overrides), *overrides]
        args, unknown = get_args_parser().parse_known_args()
    if unknown:
        raise ConfigError(
            f"{unknown[0]}: there is no such flag. Keys and groups are written without dashes, as KEY=VALUE: "
            f"{unknown[0].lstrip('-').partition('=')[0] or 'benchmark'}=...; see {program} --help"
        )
    _require_one_wish(program, args)
    composer = Composer(Path(args.config_dir) if args.config_dir else None, args.config_name or CONFIG_NAME)
    given, chosen = set(args.overrides), choosing(args.overrides)
    kept = [argument for argument in sys.argv[1:] if argument not in given or argument in chosen]
    sys.argv[1:] = [accepted(argument) if argument in given else argument for argument in kept]
    if _composes(args):
        _check(program, composer, args)


def _require_one_wish(program: str, args: argparse.Namespace) -> None:
    """Refuse flags that each want something else to be done; Hydra's own refusal is a traceback."""
    shows = [("--cfg", args.cfg), ("--info", args.info), ("--shell-completion", args.shell_completion)]
    wishes = [flag for flag, given in [("-m", args.multirun), ("--run", args.run), *shows] if given]
    if len(wishes) < 2 or args.hydra_help:
        return
    hint = ""
    if wishes[0] == "-m" and wishes[1] in ("--cfg", "--info"):
        hint = (
            f": {wishes[1]} shows one configuration; leave -m out and give every key one value. What a sweep would "
            f"run: {program} -m ... sweep.dry_run=true"
        )
    raise ConfigError(f"{' and '.join(wishes)} cannot be given together{hint}")


def _composes(args: argparse.Namespace) -> bool:
    """Whether the overrides are a configuration of ours (and not a request to the shell completion)."""
    own = args.config_path is None and args.experimental_rerun is None
    return own and not args.shell_completion and not args.hydra_help


def _check(program: str, composer: Composer, args: argparse.Namespace) -> None:
    sweep = args.multirun or any(line.startswith("hydra.mode=MULTIRUN") for line in args.overrides)
    node = composer.raw(args.overrides, mode=RunMode.MULTIRUN if sweep else RunMode.RUN)
    if sweep:
        return  # The sweeper checks every job before the first one starts.
    runs = args.run or not (args.cfg or args.info)
    config = typed(node)
    if runs:
        require_none(args.overrides, config.sweep.root)
    for warning in check(config):
        if runs:
            say(program, f"warning: {warning}")
