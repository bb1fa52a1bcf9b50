"""What people look for is there, and filters, links and the keyboard lead to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflact.report.html.build import build_report, write_report
from reflact.report.html.charts import charts
from reflact.report.html.entries import collect
from tests.report.html.browser import Browser
from tests.report.html.conftest import train

RUN = "#/run/study%2FDEFAULT-searchqa-5.5"
OTHER = "#/run/study%2FLR-searchqa-1"


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> Iterator[None]:
    """No view makes the console complain."""
    browser.size(1280, 900)
    browser.media()
    browser.complaints()
    yield
    assert browser.complaints() == []


def summary(study: Path, run: str) -> dict:
    return json.loads((study / run / "summary.json").read_text(encoding="utf-8"))


def history(study: Path, run: str) -> list[dict]:
    return [json.loads(line) for line in (study / run / "history.jsonl").read_text(encoding="utf-8").splitlines()]


def rows(study: Path, run: str, folder: str) -> dict[str, dict]:
    lines = (study / run / folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def test_the_study_shows_scores_with_intervals_and_says_that_they_are_simulated(study, page, browser):
    browser.open(page, fresh=True)
    told = summary(study, "LR-searchqa-1")
    (row,) = [text for text in browser.texts("#run-table tbody tr") if "LR-searchqa-1" in text]
    best = told["best"]["test"]
    assert f"{best['hard']:.3f}" in row and f"[{best['ci95'][0]:.3f}, {best['ci95'][1]:.3f}]" in row
    low, high = told["confidence"]["delta_test"]
    assert f"{told['delta_test']:+.3f}" in row and f"[{low:+.3f}, {high:+.3f}]" in row
    assert "SIMULATED all runs" in browser.text(".banner")
    browser.charts()
    marks = browser.run("return [...document.querySelectorAll('#forest [data-mark]')].map(m => m.ariaLabel)")
    assert len(marks) == 1 and "searchqa 1" in marks[0] and "n=16" in marks[0]
    browser.click("#forest button", "against the initial skill")
    browser.until("return document.querySelectorAll('#forest [data-mark]').length > 1")


def made_up(monkeypatch: pytest.MonkeyPatch, study: Path, out: Path, groups: dict[str, list[dict]]) -> Path:
    """The report of a study whose charts have other numbers."""
    rest = {"fill": "measured", "state": "done", "place": "", "versus": [None] * 5, "selection": None}
    charts = [
        {"name": name, "title": name, "rows": [{"run": f"{name}-{row['value']}", **rest, **row} for row in rows]}
        for name, rows in groups.items()
    ]
    monkeypatch.setattr("reflact.report.html.study.charts", lambda *_: charts)
    write_report(build_report([study]), out)
    return out


def test_on_a_phone_the_values_of_a_large_study_can_be_told_apart(study, browser, tmp_path, monkeypatch):
    """Names of benchmarks give way, and a chart that is higher than the screen repeats its axis at every heading."""
    names = ("livemathematicianbench", "searchqa")
    rows = [
        {"benchmark": name, "value": str(2**power), "versus": [0.1, -0.1, 0.3, 16, 0.5], "gain": [0.1, 0, 0.2, 16, 0.5],
         "tokens": 9.0, "cost": 1.0} for name in names for power in range(7)
    ]  # fmt: skip
    out = made_up(monkeypatch, study, tmp_path / "large.html", {"LR": rows, "BATCH": rows})
    browser.size(360, 740)
    browser.open(out, fresh=True)
    script = (
        "return [...document.querySelectorAll('#forest [data-mark]')].map(m => m.querySelector('text').textContent)"
    )
    browser.charts()
    labels = browser.run(script)
    assert len(labels) == 28 and len(set(labels)) == 14
    assert [label.split(" ")[1] for label in labels] == [row["value"] for row in rows] * 2
    ticks = browser.run("return [...document.querySelectorAll('#forest .tick')].map(t => t.textContent)")
    assert browser.sticking_out() == []
    assert ticks.count("0") == 2 and len(ticks) > 2  # one value alone is no scale


def test_the_line_through_costs_is_chosen_on_selection_not_on_test(study, browser, tmp_path, monkeypatch):
    numbers = {"1": (1.0, 0.5, 0.1), "2": (2.0, 0.4, 0.9), "3": (3.0, 0.9, 0.2)}
    rows = [
        {"benchmark": "searchqa", "value": value, "gain": [gain, None, None, 16, None], "tokens": 9.0, "cost": cost,
         "selection": selection} for value, (cost, selection, gain) in numbers.items()
    ]  # fmt: skip
    out = made_up(monkeypatch, study, tmp_path / "costs.html", {"LR": rows})
    browser.open(out, fresh=True)
    browser.charts()
    texts = browser.run("return [...document.querySelectorAll('#scatter svg text')].map(t => t.textContent)")
    assert [text for text in texts if text.startswith("LR ")] == ["LR 1", "LR 3"]
    assert "scores as high on selection" in browser.text("#scatter")


def test_the_line_through_costs_knows_the_scores_on_selection(study):
    content = collect([study])
    assert content.tables is not None
    found = {
        row["run"]: row["selection"]
        for group in charts(content.tables.grids, content.entries, {})
        for row in group["rows"]
    }
    assert found["LR-searchqa-1"] == summary(study, "LR-searchqa-1")["best"]["selection"]["hard"]


def test_runs_of_the_same_id_are_told_apart(study, browser, tmp_path):
    """As where a second machine did a run that the first one had too."""
    train(tmp_path / "second" / "LR-searchqa-1", "ablation/lr=lr1")
    out = tmp_path / "both.html"
    write_report(build_report([study, tmp_path / "second"]), out)
    browser.open(out, fresh=True)
    shown = [text.split("\t")[0] for text in browser.texts("#run-table tbody tr")]
    assert len(shown) == len(set(shown)) == 3
    assert {"LR-searchqa-1 in study", "LR-searchqa-1 in second"} <= set(shown)


def test_runs_can_be_searched_and_sorted(page, browser):
    browser.open(page, fresh=True)
    browser.choose("Search", "lr-")
    assert len(browser.texts("#run-table tbody tr")) == 1
    browser.choose("Search", "")
    heads = browser.run("return [...document.querySelectorAll('#run-table thead th')].map(h => h.textContent)")
    browser.click("#run-table thead th button", "tokens")
    column = heads.index("tokens")
    script = """
        const rows = [...document.querySelectorAll('#run-table tbody tr')];
        return rows.map(r => Number(r.cells[arguments[0]].dataset.sort))"""
    up = browser.run(script, column)
    browser.click("#run-table thead th button", "tokens")
    assert up == sorted(up) and browser.run(script, column) == up[::-1]


def test_a_run_shows_every_step_with_its_score_budget_and_decision(study, page, browser):
    browser.open(page, RUN)
    records = history(study, "DEFAULT-searchqa-5.5")
    browser.charts()
    assert browser.run("return document.querySelectorAll('#run figure').length") >= 5
    told = " | ".join(browser.run("return [...document.querySelectorAll('#run [data-mark]')].map(m => m.ariaLabel)"))
    for record in records:
        score = record["candidate"]["selection"]
        assert f"selection {score['hard']:.3f} [{score['ci95'][0]:.3f}, {score['ci95'][1]:.3f}] n={score['n']}" in told
        if record["kind"] == "step":
            assert f"step {record['step']}, rollout, hard {record['rollout']['hard']:.3f}" in told
            assert f"budget {record['edits']['budget']}" in told
    spent = summary(study, "DEFAULT-searchqa-5.5")["usage"]
    for role, stages in spent.items():
        for stage in stages:
            assert f"{role}, {stage.replace('_', ' ')}" in told
    assert "config hash" in browser.text("#run") and "Timeline" in browser.text("#run")


def test_the_skills_history_tells_what_changed_on_whose_evidence_and_why(study, page, browser):
    browser.open(page, f"{RUN}/skill")
    folder = study / "DEFAULT-searchqa-5.5" / "steps" / "step_0001"
    report = json.loads((folder / "edit_apply_report.json").read_text(encoding="utf-8"))["edits"]
    chapter = browser.run("return document.querySelector('.chapter').innerText")
    assert "Taken: better than the current skill, and the best so far." in chapter
    for edit in report:
        number = len(edit["support"])
        assert edit["content_preview"] in chapter and f"{number} trajector" in chapter
    added = browser.texts(".chapter:first-of-type .diff .plus")
    assert [line.removeprefix("+").strip() for line in added] == [edit["content_preview"] for edit in report]
    assert "Rejected" in browser.text("#run")
    browser.click(".chapter .supports a", report[0]["support"][0])
    browser.until("return document.querySelectorAll('.list li').length === 1")
    assert browser.texts(".list .id") == [report[0]["support"][0]]


def test_flips_statuses_and_texts_filter_the_trajectories(study, page, browser):
    browser.open(page, f"{RUN}/trajectories")
    before = rows(study, "DEFAULT-searchqa-5.5", "baseline/test")
    after = rows(study, "DEFAULT-searchqa-5.5", "test/best")
    flipped = [item for item, row in after.items() if row["hard"] > 0 and before[item]["hard"] == 0]
    assert flipped
    browser.choose("Phase", "test/best")
    browser.choose("Against before", "wrong to right")
    assert browser.texts(".list .id") == flipped
    browser.click(".list a", flipped[0])
    shown = browser.texts(".pair > section")
    assert len(shown) == 2 and "hard 1.000" in shown[0] and "hard 0.000" in shown[1]
    assert "Initial skill, test" in shown[1]
    browser.choose("Against before", "")
    browser.choose("Search in all texts", before[flipped[0]]["question"].lower())
    browser.until("return document.querySelectorAll('.list li').length === 1")
    assert "q=" in browser.run("return location.hash")  # what is looked at can be sent to somebody


def test_the_arrow_keys_and_the_tab_key_reach_everything(page, browser):
    from selenium.webdriver.common.keys import Keys

    browser.open(page, OTHER, fresh=True)
    browser.charts()
    browser.run("document.querySelector('#run figure svg[tabindex]').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert browser.run("return document.getElementById('tip').hidden") is False
    assert "selection" in browser.text("#tip") or "rollout" in browser.text("#tip")
    unnamed = browser.run("""
        const named = (n) => n.getAttribute('aria-label') || n.closest('label') || n.textContent.trim();
        const found = [...document.querySelectorAll('a, button, input, select, svg[tabindex], .scroll')];
        return found.filter(n => !named(n)).map(n => n.outerHTML.slice(0, 99))""")
    assert unnamed == []
    browser.open(page, f"{OTHER}/trajectories")
    browser.run("document.querySelector('.list a').focus()")
    browser.driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert browser.run("return [...document.querySelectorAll('.list a')].indexOf(document.activeElement)") == 1
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.until("return document.querySelector('.turn') !== null")


def test_an_address_leads_back_to_what_was_looked_at(page, browser):
    browser.open(page, f"{RUN}/trajectories/3?phase=test", fresh=True)
    assert browser.run("return document.querySelector('.list a').dataset.place !== '3'")
    assert browser.run("return document.querySelectorAll('.turn').length > 0")
    browser.open(page, "#/run/nowhere")
    assert "There is no such run" in browser.text("#run")
    browser.open(page, "#/")
    assert browser.run("return document.getElementById('study').hidden") is False


def test_the_configuration_names_what_differs(page, browser):
    browser.open(page, f"{OTHER}/configuration")
    assert any("optimizer.learning_rate" in text and "1" in text for text in browser.texts("#run tbody tr"))
    assert "ablation/lr=lr1" in browser.text("#run") or "optimizer.lr_scheduler" in browser.text("#run")


def test_an_unfinished_run_says_so_and_shows_what_there_is(study, tmp_path, browser):
    """Its summary is not written yet, and the last line of its events is torn."""
    root = tmp_path / "runs"
    shutil.copytree(study / "DEFAULT-searchqa-5.5", root / "cut")
    (root / "cut" / "summary.json").unlink()
    events = (root / "cut" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    kept = [line for line in events if '"kind": "run_finished"' not in line]
    (root / "cut" / "events.jsonl").write_text("\n".join(kept) + '\n{"t": 17', encoding="utf-8")
    out = tmp_path / "cut.html"
    write_report(build_report([root]), out)
    browser.open(out, "#/run/runs%2Fcut")
    assert "This run is " in browser.text("#run .notice")
    best = history(study, "DEFAULT-searchqa-5.5")[-1]["best"]["score"]
    assert f"→ {best:.3f}" in browser.text("#run .tiles")
    assert "3 of 7" in browser.text("#run .tiles")
    browser.open(out, "#/run/runs%2Fcut/trajectories?phase=nonsense")
    assert len(browser.texts(".list li")) == 100  # a filter that cannot be is none
