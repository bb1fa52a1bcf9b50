"""`reflact data`: look at a benchmark's items before they are used, and make games."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from reflact.benchmarks.commands import DataReport, check_data
from reflact.benchmarks.registry import load_benchmark
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, ExitCode
from reflact.report.console import make_console

app = typer.Typer(help="Look at a benchmark's items.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """Look at a benchmark's items."""


@app.command()
def check(
    benchmark: Annotated[str, typer.Argument(help="Name of the benchmark.")],
    split: Annotated[str, typer.Option(help="As env.split.")] = "2-1-7",
    split_dir: Annotated[str, typer.Option(help="As env.split_dir.")] = "",
    split_root: Annotated[str, typer.Option(help="As env.split_root.")] = "",
    data_root: Annotated[str, typer.Option(help="As env.data_root.")] = "",
    image_root: Annotated[str, typer.Option(help="As env.image_root.")] = "",
    sample: Annotated[bool, typer.Option("--sample", help="As env.sample=true.")] = False,
    drop_constant_option: Annotated[
        bool, typer.Option("--drop-constant-option", help="As env.drop_constant_option=true.")
    ] = False,
) -> None:
    """Load the items and say what would make scores misleading. Exits with 2 if they cannot be used."""
    config = Config()
    config.benchmark.name = benchmark
    env = config.env
    env.split, env.split_dir, env.split_root = split, split_dir, split_root
    env.data_root = data_root if data_root or sample else _usual_data_root(benchmark)
    env.image_root, env.sample, env.drop_constant_option = image_root, sample, drop_constant_option
    report = check_data(load_benchmark(config))
    _show(report)
    if not report.usable:
        raise typer.Exit(ExitCode.USAGE)


@app.command("make-games")
def make_games(
    out: Annotated[Path, typer.Argument(help="Folder for the games; env.data_root can name it.")],
    train: Annotated[int, typer.Option(min=0, help="Games of each task type in train.")] = 6,
    seen: Annotated[int, typer.Option(min=0, help="Games of each task type in valid_seen.")] = 3,
    unseen: Annotated[int, typer.Option(min=0, help="Games of each task type in valid_unseen.")] = 6,
    seed: Annotated[int, typer.Option(help="Seed of the rooms.")] = 42,
    extra_places: Annotated[int, typer.Option(min=0, help="More places in every room: larger, slower games.")] = 0,
    workers: Annotated[int, typer.Option(min=1, help="Processes that play the games.")] = 2,
) -> None:
    """Make small ALFWorld games. Each is played to its end, to show that it can be won."""
    from reflact.benchmarks.alfworld.making.command import make_games as make

    counts = {"train": train, "valid_seen": seen, "valid_unseen": unseen}
    report = make(out, counts, seed=seed, extra_places=extra_places, workers=workers)
    console = make_console(sys.stdout, soft_wrap=True, markup=True)
    state = "written" if report.written else "already there"
    console.print(f"{escape(str(report.root))}: {report.games} games {state}, each won in the engine")
    console.print(f"  {report.steps} commands in all, {report.steps / report.games:.1f} a game")
    console.print(f"  reflact splits make alfworld --source {escape(str(report.root))}")


def _usual_data_root(benchmark: str) -> str:
    """Return where a run of the benchmark takes its data from; one without a configuration has no such place."""
    from reflact.config.compose import compose

    try:
        return compose([f"benchmark={benchmark}"]).env.data_root
    except ConfigError:
        return ""


def _show(report: DataReport) -> None:
    console = make_console(sys.stdout, soft_wrap=True, markup=True)
    console.print(f"{report.benchmark}, split {escape(report.split)} from {escape(report.source)}")
    console.print("  " + ", ".join(f"{part} {count}" for part, count in report.counts.items()))
    console.print(f"  fingerprint {report.fingerprint}")
    for finding in report.findings:
        colour = "red" if finding.level == "error" else "yellow"
        console.print(f"  [{colour}]{finding.level}[/{colour}] {finding.code}: {escape(finding.message)}")
    if not report.findings:
        console.print("  nothing found that would make scores misleading")
