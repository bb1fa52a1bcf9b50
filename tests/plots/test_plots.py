"""Figures: the numbers of the tables, the same bytes for the same runs, and nothing that was not measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from matplotlib.figure import Figure

from reflact.core.errors import ConfigError, DataError, Unavailable
from reflact.plots import axes, cost, forest, learning, style
from reflact.plots.kinds import KINDS, Choice, plot
from reflact.plots.points import benchmarks_of, read_groups
from reflact.plots.style import COLOURS, looking
from reflact.report.tables.compile import compile_tables, open_desk
from tests.report.tables.made import BEFORE, BETTER, LR8, Made, score

WORSE = (1, 0, 0, 1, 1, 0, 1, 0, 0, 1)
SELECTION = [1, 0, 1, 0, 1]


def lr(value: int) -> dict:
    return {**LR8, "optimizer.learning_rate": value}


def step(number: int, values: list[int], *, taken: bool) -> dict:
    return {
        "kind": "step", "epoch": 1, "step": number, "action": "accept_new_best" if taken else "reject",
        "candidate": {"sha256": f"s{number}", "selection": score(values)},
        "current": {"sha256": f"s{number}" if taken else "before"},
    }  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two benchmarks with DEFAULT and learning rates; one run is invalid."""
    study = tmp_path / "study"
    for benchmark in ("docvqa", "searchqa"):
        Made(study, f"DEFAULT-{benchmark}-5.5", benchmark=benchmark).write()
        Made(study, f"LR-{benchmark}-8", sets=lr(8), best=WORSE, benchmark=benchmark).write()
        Made(study, f"LR-{benchmark}-16", sets=lr(16), best=BETTER, benchmark=benchmark).write()
    bad = Made(study, "LR-docvqa-2", sets=lr(2))
    bad.summary["rows"]["test"]["error"] = 3
    bad.write()
    for path in study.iterdir():
        records = [step(1, SELECTION, taken=True), step(2, [0, 0, 0, 0, 1], taken=False), step(3, [1] * 5, taken=True)]
        (path / "history.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return study


def points(figure: Figure, panel: int = 0) -> list[tuple[float, float]]:
    """Return the points that a panel draws with a marker."""
    lines = [line for line in figure.axes[panel].get_lines() if line.get_marker() not in ("", "None", None)]
    return [(float(x), float(y)) for line in lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]


def raws(root: Path, name: str) -> list[dict]:
    return [dict(raw) for grid in compile_tables(open_desk([root])).grids if grid.name == name for raw in grid.raw]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_same_runs_give_the_same_bytes(root: Path, tmp_path: Path, kind: str, ending: str) -> None:
    for name in ("a", "b"):
        plot(kind, [root], tmp_path / f"{name}.{ending}")
    first = (tmp_path / f"a.{ending}").read_bytes()
    assert first == (tmp_path / f"b.{ending}").read_bytes()
    assert len(first) > 2000
    assert not re.search(rb"20\d\d-\d\d-\d\dT|matplotlib\.org|D:20\d\d", first)


def test_axes_show_the_test_scores_of_the_table_with_their_intervals(root: Path) -> None:
    figure = axes.draw(read_groups(open_desk([root]), ["LR"], ["docvqa"]), 3.4)
    shown = {round(y, 6) for _, y in points(figure)}
    table = [raw for raw in raws(root, "lr") if raw["benchmark"] == "docvqa" and raw["best_test"] is not None]
    assert shown == {round(raw["best_test"], 6) for raw in table}
    (bars,) = figure.axes[0].collections
    ends = sorted(tuple(round(float(y), 6) for _, y in segment) for segment in bars.get_segments())
    assert ends == sorted((round(raw["best_test_low"], 6), round(raw["best_test_high"], 6)) for raw in table)


def test_axes_order_numbers_by_size(root: Path) -> None:
    figure = axes.draw(read_groups(open_desk([root]), ["LR"], []), 7.0)
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["2", "8", "16"]


def test_the_forest_shows_the_paired_differences_of_the_table(root: Path) -> None:
    figure = forest.draw(read_groups(open_desk([root]), [], ["docvqa"]), 3.4)
    shown = sorted(round(x, 6) for x, _ in points(figure))
    table = [raw for raw in raws(root, "lr") if raw["benchmark"] == "docvqa" and raw["delta_default"] is not None]
    assert shown == sorted(round(raw["delta_default"], 6) for raw in table) and len(shown) == 2
    low, high = figure.axes[0].get_xlim()
    assert low == -high, "zero is in the middle"


def test_the_frontier_is_chosen_on_selection_and_never_on_test(tmp_path: Path) -> None:
    cheap = Made(tmp_path, "LR-docvqa-8", sets=lr(8), best=BEFORE)
    cheap.summary["cost_usd"] = 1.0
    dear = Made(tmp_path, "LR-docvqa-16", sets=lr(16), best=BETTER)  # better on test, not on selection
    dear.summary |= {"cost_usd": 9.0}
    dear.summary["best"]["selection"] = score([0, 0, 0, 0, 1])
    default = Made(tmp_path)
    for made in (cheap, dear, default):
        made.write()
    groups = read_groups(open_desk([tmp_path]), [], [])
    rows = [row for group in groups for row in group.rows if row.fill == "measured"]
    spent = [cost.Spent(row, row.measures.cost_usd, row.measures.scores["best", "test"],
                        row.measures.scores["best", "selection"].value) for row in rows]  # fmt: skip
    assert [found.row.point.value for found in cost.frontier(spent)] == ["8"]


def test_tokens_stand_in_where_a_price_is_not_known(root: Path) -> None:
    path = root / "LR-docvqa-8" / "summary.json"
    summary = json.loads(path.read_text())
    path.write_text(json.dumps({**summary, "cost_usd": None}))
    figure = cost.draw(read_groups(open_desk([root]), [], []), 3.4)
    assert figure.axes[0].get_xlabel() == "tokens a run"


def test_learning_curves_follow_the_current_skill(root: Path) -> None:
    (run,) = [run for run in open_desk([root]).study.runs if run.run_id == "DEFAULT-docvqa-5.5"]
    curve = learning.read_curve(run)
    assert curve is not None
    assert (curve.steps, curve.current) == ([0, 1, 2, 3], [0.4, 0.6, 0.6, 1.0])
    assert curve.rejected == [(2, 0.2)]
    assert all(low <= middle <= high for low, middle, high in zip(curve.low, curve.current, curve.high, strict=True))


def test_an_invalid_run_is_left_out_and_named(root: Path, tmp_path: Path) -> None:
    notes = plot("axes", [root], tmp_path / "a.svg")
    assert any("LR-docvqa-2" in note and "error" in note for note in notes)
    groups = read_groups(open_desk([root]), ["LR"], [])
    assert all(row.measures is None for row in groups[0].rows if row.point.value == "2")
    assert benchmarks_of(groups) == ["searchqa", "docvqa"]


def test_simulated_runs_are_marked_in_every_panel(tmp_path: Path) -> None:
    for made in (Made(tmp_path / "s"), Made(tmp_path / "s", "LR-docvqa-8", sets=lr(8))):
        made.record["simulated"] = made.summary["simulated"] = True
        made.write()
    with looking():
        figure = forest.draw(read_groups(open_desk([tmp_path / "s"]), [], []), 3.4)
    assert all("SIMULATED" in panel.get_title(loc="left") for panel in figure.axes)


@pytest.mark.parametrize("extra", [1, len(COLOURS)])
def test_simulated_learning_curves_are_marked_however_many_they_are(tmp_path: Path, extra: int) -> None:
    for number in range(extra + 1):
        made = Made(
            tmp_path, f"LR-docvqa-{number}" if number else "DEFAULT-docvqa-5.5", sets=lr(number) if number else {}
        )
        made.record["simulated"] = made.summary["simulated"] = True
        made.write()
        (made.path / "history.jsonl").write_text(json.dumps(step(1, SELECTION, taken=True)) + "\n")
    figure = learning.draw(open_desk([tmp_path]).study.runs, 3.4)
    assert [panel.get_title(loc="left") or panel.get_title() for panel in figure.axes] == ["docvqa (SIMULATED)"]


def test_real_runs_and_simulated_ones_are_told_apart_in_one_panel(tmp_path: Path) -> None:
    for number in range(len(COLOURS) + 1):
        made = Made(
            tmp_path, f"LR-docvqa-{number}" if number else "DEFAULT-docvqa-5.5", sets=lr(number) if number else {}
        )
        made.record["simulated"] = made.summary["simulated"] = number % 2 == 1
        made.write()
        (made.path / "history.jsonl").write_text(json.dumps(step(1, SELECTION, taken=True)) + "\n")
    figure = learning.draw(open_desk([tmp_path]).study.runs, 3.4)
    assert set(figure.axes[0].get_legend_handles_labels()[1]) == {"DEFAULT", "other runs", "other runs (simulated)"}


def test_the_axis_of_costs_has_more_than_one_number_within_a_decade(root: Path) -> None:
    with looking():
        figure = cost.draw(read_groups(open_desk([root]), [], []), 3.4)
        figure.draw_without_rendering()
    for panel in figure.axes:
        low, high = panel.get_xlim()
        assert len([tick for tick in panel.get_xticks() if low <= tick <= high]) > 1


def test_no_two_groups_of_axes_share_colour_and_marker() -> None:
    looks = [(style.colour(place), style.marker(place)) for place in range(14)]
    assert len(set(looks)) == len(looks)


def test_a_matplotlibrc_of_the_user_changes_nothing(root: Path, tmp_path: Path) -> None:
    import matplotlib

    plot("axes", [root], tmp_path / "a.svg")
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "black"}):
        plot("axes", [root], tmp_path / "b.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_colours_stay_apart_in_grey_and_for_the_colour_blind() -> None:
    """Machado, Oliveira and Fernandes (2009), severity 1: each pair keeps a distance in simulated RGB."""
    kinds = {
        "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
        "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
        "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
        "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
    }
    for matrix in kinds.values():
        seen = []
        for name in COLOURS[:6]:
            linear = [(int(name[at : at + 2], 16) / 255) ** 2.2 for at in (1, 3, 5)]
            seen.append([sum(a * b for a, b in zip(line, linear, strict=True)) for line in matrix])
        distances = [
            sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5
            for place, one in enumerate(seen)
            for other in seen[:place]
        ]
        assert min(distances) > 0.08


@pytest.mark.parametrize(
    ("kind", "name", "choice", "said"),
    [
        ("pie", "a.svg", Choice(), "there are learning, axes, forest, cost"),
        ("axes", "a.jpg", Choice(), r"\.svg, \.png, \.pdf"),
        ("axes", "a.svg", Choice(groups=["LRR"]), "--group LRR"),
        ("axes", "a.svg", Choice(benchmarks=["alfworld"]), "--benchmark alfworld"),
        ("learning", "a.svg", Choice(runs=["LR-x"]), "--run LR-x"),
        ("axes", "a.svg", Choice(width="wide"), "column, page"),
        ("axes", "a.svg", Choice(groups=["DEFAULT"]), "nothing to draw"),
    ],
)
def test_what_cannot_be_drawn_is_named(
    root: Path, tmp_path: Path, kind: str, name: str, choice: Choice, said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        plot(kind, [root], tmp_path / name, choice)
    assert not (tmp_path / name).exists()


def test_without_the_extra_its_name_is_told(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"reflact\[plots\]"):
        plot("axes", [root], tmp_path / "a.svg")


def test_text_stays_inside_the_figure_at_column_width(root: Path) -> None:
    with looking():
        figure = forest.draw(read_groups(open_desk([root]), [], []), 3.4)
        figure.draw_without_rendering()
        box = figure.get_tightbbox()
    assert box is not None and box.x0 >= -0.01 and box.x1 <= 3.41


@pytest.mark.parametrize(
    "record", ['{"kind": 7}', '{"step": "x"}', '{"step": 1, "candidate": {"selection": {"hard": 1}}}']
)
def test_a_record_that_is_none_is_named_with_its_file(root: Path, tmp_path: Path, record: str) -> None:
    [history, *_] = sorted(root.rglob("history.jsonl"))
    history.write_text(record + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(f"{history}: a record is damaged")):
        plot("learning", [root], tmp_path / "out.svg")
