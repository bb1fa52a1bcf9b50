"""`reflact splits`: make and verify split folders."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from reflact.benchmarks.commands import SplitReport, make_split, verify_split
from reflact.benchmarks.folders import read_manifest
from reflact.benchmarks.loading import split_folder
from reflact.benchmarks.registry import load_benchmark
from reflact.benchmarks.splits import DEFAULT_SEED
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, ExitCode
from reflact.report.console import make_console

app = typer.Typer(help="Make and verify split folders.", no_args_is_help=True)


@app.command()
def make(
    benchmark: Annotated[str, typer.Argument(help="Name of the benchmark.")],
    source: Annotated[Path, typer.Option(help="The benchmark's own source: a file or a folder.")],
    split: Annotated[
        str, typer.Option(help="2-1-7, 1-1-8, 4-1-5, 1shot, 10pct, or any ratio train-val-test.")
    ] = "2-1-7",
    out: Annotated[Path | None, typer.Option(help="The split folder; else data/<benchmark>/splits/<split>.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the shuffle.")] = DEFAULT_SEED,
    ids: Annotated[Path | None, typer.Option(help="An id manifest: ids by part, or the pool to draw from.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="Draw from the first that many items; 0 takes all.")] = 0,
    drop_constant_option: Annotated[
        bool, typer.Option("--drop-constant-option", help="Leave out items with a constant right option.")
    ] = False,
) -> None:
    """Draw a split from a source and write its folder and manifest."""
    config = _config(benchmark)
    config.env.split = split
    config.env.drop_constant_option = drop_constant_option
    folder = split_folder(config.env, benchmark) if out is None else out
    report = make_split(load_benchmark(config), source, folder, split=split, seed=seed, ids=ids, limit=limit)
    _show(report, "written" if report.written else "already there, with the same items")


@app.command()
def verify(
    folder: Annotated[Path, typer.Argument(help="The split folder.")],
    benchmark: Annotated[str, typer.Option(help="Name of the benchmark; else what the manifest says.")] = "",
    source: Annotated[Path | None, typer.Option(help="Draw again from this source and compare.")] = None,
    ids: Annotated[Path | None, typer.Option(help="The id manifest it was made with.")] = None,
) -> None:
    """Compare a split folder with its manifest. Exits with 2 if something is wrong."""
    if not folder.is_dir():
        raise ConfigError(f"{folder} is no folder; reflact splits verify takes one that reflact splits make wrote")
    manifest = read_manifest(folder)
    name = benchmark if benchmark else str(manifest.get("benchmark", ""))
    if not name:
        raise ConfigError(f"{folder} does not say of which benchmark it is: add --benchmark <name>")
    config = _config(name)
    config.env.drop_constant_option = "left_out" in manifest
    report = verify_split(load_benchmark(config), folder, source=source, ids=ids)
    _show(report, "as it should be" if not report.problems else "not as it should be")
    if report.problems:
        raise typer.Exit(ExitCode.USAGE)


def _config(name: str) -> Config:
    config = Config()
    config.benchmark.name = name
    return config


def _show(report: SplitReport, state: str) -> None:
    console = make_console(sys.stdout, soft_wrap=True, markup=True)
    console.print(f"{escape(str(report.folder))}: {state}")
    if report.counts:
        console.print("  " + ", ".join(f"{part} {count}" for part, count in report.counts.items()))
        console.print(f"  fingerprint {report.fingerprint}")
    for problem in report.problems:
        console.print(f"  [red]problem[/red] {escape(problem)}")
