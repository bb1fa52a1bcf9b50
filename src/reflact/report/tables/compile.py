"""All tables of a study, compiled and written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reflact.config.axes import Axes, load_axes
from reflact.core.errors import ConfigError
from reflact.report.outputs import output_folder, writing
from reflact.report.tables.escape import markdown
from reflact.report.tables.formats import to_csv, to_html, to_latex, to_markdown
from reflact.report.tables.found import Run, Study, read_study
from reflact.report.tables.grid import Grid
from reflact.report.tables.group import group_grid, spent_note
from reflact.report.tables.imported import Imported, read_imports
from reflact.report.tables.judge import Judge
from reflact.report.tables.overview import GROUPS, main_grid
from reflact.report.tables.points import DEFAULT
from reflact.report.tables.rows import Layout
from reflact.report.tables.rules import load_rules, require_names
from reflact.report.tables.strangers import strangers
from reflact.rundir.atomic import write_text
from reflact.rundir.encoding import text_bytes

LIST = "tables.json"
"""Names of the files of the last compilation: what is no longer made is removed."""
TITLE = "Result tables"


@dataclass(frozen=True, slots=True)
class Tables:
    """Compiled tables.

    Attributes:
        grids: The tables in order.
        notes: What concerns all of them.
        runs: Runs that were found, strays included.
    """

    grids: tuple[Grid, ...]
    notes: tuple[str, ...]
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Desk:
    """What tables are made of.

    Attributes:
        study: The runs and plans.
        judge: Says which runs are valid.
        layout: The rows.
        axes: The axes.
        notes: What a reader should know about what was (not) found.
    """

    study: Study
    judge: Judge
    layout: Layout
    axes: Axes
    notes: tuple[str, ...] = ()


def open_desk(roots: Sequence[Path], *, imports: Path | None = None, ignore: Sequence[str] = ()) -> Desk:
    """Read everything below some roots.

    Args:
        roots: Run directories, sweeps or folders above them.
        imports: A CSV file with older results.
        ignore: Rules that do not count, for all runs.

    Raises:
        ReflactError: A root is no directory, a plan or the CSV file cannot be read, or a rule does not exist.
    """
    for root in roots:
        if not root.is_dir():
            raise ConfigError(f"{root} is not a directory; reflact tables takes run directories or folders above them")
    axes, rules = load_axes(), load_rules()
    require_names(ignore, rules, "validity.ignore")
    study = read_study(roots, axes)
    entries: list[Imported] = read_imports(imports) if imports is not None else []
    judge = Judge(study.runs, rules, axes, ignore, study.swept, [entry.point for entry in entries])
    layout = Layout(study, entries, judge, axes)
    return Desk(study, judge, layout, axes, (*study.notes, *strangers(entries, layout.of_study, axes)))


def compile_tables(desk: Desk, *, test_max: bool = False) -> Tables:
    """Arrange all tables: the main one, then one a group."""
    main = main_grid(desk.layout, desk.judge)
    groups = [group for group in desk.layout.groups if group not in GROUPS or group == DEFAULT]
    made = [group_grid(group, desk.layout, desk.judge, desk.axes, test_max=test_max) for group in groups]
    runs = (*desk.study.runs, *desk.study.strays)
    return Tables(tuple(grid for grid in (main, *made) if grid is not None), tuple(_notes(desk, test_max)), runs)


def _notes(desk: Desk, test_max: bool) -> Iterator[str]:
    yield from desk.notes
    yield (
        "Scores are means of `hard` with 95% intervals; differences are paired over the items of both sides; p is the "
        "exact McNemar value with Holm's correction over its table; `noise` says that the interval holds zero."
    )
    if test_max:
        yield "The highest test score was chosen on the test split itself. It is no result to report."
    strays = [f"{run.place} ({run.state_text})" for run in desk.study.strays]
    strays += [f"{plan.run_id} (planned)" for plan in desk.layout.unplaced]
    if strays:
        yield f"Runs that are no point of the study: {', '.join(strays)}."
    yield from spent_note([*desk.study.runs, *desk.study.strays], "below the roots, in tables or not")


def files_of(tables: Tables) -> dict[str, str]:
    """Return all files by name."""
    files: dict[str, str] = {}
    for grid in tables.grids:
        files[f"{grid.name}.md"] = to_markdown(grid)
        files[f"{grid.name}.tex"] = to_latex(grid)
        files[f"{grid.name}.csv"] = to_csv(grid.raw)
        files[f"{grid.name}.html"] = to_html([grid], grid.title)
        if grid.raw_invalid:
            files[f"{grid.name}.invalid.csv"] = to_csv(grid.raw_invalid)
    head = "\n".join([f"# {TITLE}", "", *(f"{markdown(note)}\n" for note in tables.notes)])
    files["tables.md"] = "\n".join([head, *(to_markdown(grid, 2) for grid in tables.grids)])
    files["tables.html"] = to_html(tables.grids, TITLE, tables.notes)
    return files


def write_tables(tables: Tables, out: Path) -> list[Path]:
    """Write all tables into a folder; what would not change is left alone, files of tables that went are removed.

    Raises:
        ConfigError: The folder lies in a run directory, is no folder, or cannot be written.
    """
    output_folder(out)
    files = files_of(tables)
    with writing(out):
        for name in _earlier(out):
            if name not in files:
                (out / name).unlink(missing_ok=True)
        files[LIST] = json.dumps(sorted(files), indent=1) + "\n"
        for name, text in files.items():
            path = out / name
            if not path.is_file() or path.read_bytes() != text_bytes(text):
                write_text(path, text)
    return [out / name for name in files]


def _earlier(out: Path) -> list[str]:
    """Return the names of files that an earlier compilation wrote, as far as they are plain names of ours."""
    try:
        names = json.loads((out / LIST).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    endings = (".md", ".tex", ".csv", ".html")
    return [
        name
        for name in (names if isinstance(names, list) else ())
        if isinstance(name, str) and Path(name).name == name and name.endswith(endings)
    ]
