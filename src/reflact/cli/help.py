"""The help of the two Hydra applications: one screen, printed before anything heavy is imported."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from importlib.metadata import entry_points
from pathlib import Path

from reflact.config.paths import conf_dir

_TRAIN = """\
reflact-train trains a skill: a Markdown document that a frozen model reads.

usage: reflact-train [-m] [GROUP=OPTION ...] [KEY=VALUE ...]

  reflact-train harness=rehearsal      the demo task, simulated: no key, no cost
  reflact-train harness=local          the same with a small real model
  reflact-train benchmark=docvqa optimizer.learning_rate=8      one run
  reflact-train -m benchmark=docvqa ablation/lr=lr2,lr8         a sweep
  reflact-train env.out_root=DIR run.resume=true                after a stop
"""
_EVALUATE = """\
reflact-eval measures one skill on one part of a split.

usage: reflact-eval [-m] [skill=PATH|default|none] [split=train|val|test]
                    [GROUP=OPTION ...] [KEY=VALUE ...]

  reflact-eval harness=rehearsal skill=default              the demo task
  reflact-eval benchmark=searchqa skill=best.md split=test  one evaluation
  reflact-eval -m benchmark=searchqa skill=none,default     initial against none
"""
_FLAGS = """\
  --cfg job     print the configuration    --info            where it comes from
  -m            run every combination      --config-dir DIR  options of your own
  --hydra-help  all of Hydra's flags       --shell-completion install=bash

All keys: reflact keys [WORD]. Exit codes: 0 done, 1 bug, 2 usage, 69 service
or credential missing, 73 directory refused, 75 stopped and resumable
"""
_WIDTH = 79


def wanted(arguments: Sequence[str]) -> bool:
    """Whether the command line asks for help."""
    return any(argument in ("-h", "--help") for argument in arguments)


def usage(program: str) -> str:
    """Return the part of the help that does not depend on what is installed."""
    return "\n".join([_EVALUATE if program == "reflact-eval" else _TRAIN, _FLAGS])


def text(program: str, arguments: Sequence[str] = ()) -> str:
    """Return the help.

    Args:
        program: `reflact-train` or `reflact-eval`.
        arguments: The command line; the options in its `--config-dir` are listed too.
    """
    folders = [conf_dir(), *_config_dirs(arguments)]
    axes = sorted(path.name for path in (folders[0] / "ablation").iterdir() if path.is_dir())
    rows = {
        "benchmark=": _options(folders, "benchmark", "reflact.benchmarks"),
        "harness=": _options(folders, "harness", "reflact.models"),
        "ablation/AXIS=": axes,
    }
    if any((folder / "sweep").is_dir() for folder in folders):
        rows["-m +sweep="] = _options(folders, "sweep", None)
    lines = [_row(name, options) for name, options in rows.items()]
    return "\n".join([_EVALUATE if program == "reflact-eval" else _TRAIN, *lines, "", _FLAGS])


def _options(folders: Sequence[Path], group: str, plugins: str | None) -> list[str]:
    names = {path.stem for folder in folders for path in (folder / group).glob("*.yaml")}
    if plugins is not None:
        names |= {point.name for point in entry_points(group=plugins)}
    return sorted(names)


def _row(name: str, options: Sequence[str]) -> str:
    hang = " " * 18
    return textwrap.fill(
        " | ".join(options), _WIDTH, initial_indent=f"  {name:<16}", subsequent_indent=hang, break_on_hyphens=False
    )


def _config_dirs(arguments: Sequence[str]) -> list[Path]:
    found = []
    for argument, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if argument in ("--config-dir", "-cd"):
            found.append(Path(following))
        elif argument.startswith("--config-dir="):
            found.append(Path(argument.partition("=")[2]))
    return found
