"""From run directories to the file: what is in it, the same bytes each time, and what happens to damaged ones."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import zlib
from pathlib import Path

import pytest

import reflact
from reflact.cli.report import report
from reflact.core.errors import ConfigError
from reflact.report.html.build import build_report
from reflact.report.html.page import SCRIPTS, sources
from tests.cli.commands import run, tree
from tests.report.html.conftest import SAMPLE, train
from tests.report.tables.made import Made, point, write_plan


def packs(page: str) -> dict[str, object]:
    found = re.findall(r'<script type="application/octet-stream" id="([\w-]+)">([^<]*)</script>', page)
    return {name: json.loads(zlib.decompress(base64.b64decode(text))) for name, text in found}


def rows_of(page: str, place: int = 0) -> list[dict]:
    """Return a run's rows with their texts."""
    inside = packs(page)
    pack, pool = inside[f"rows-{place}"], inside.get("pool-0", [])
    names = pack["fields"]

    def text(number):
        return None if number is None else pack["texts"][number] if number >= 0 else pool[-1 - number]

    rows = []
    for values in pack["rows"]:
        row = dict(zip(names, values, strict=True))
        row |= {name: text(row[name]) for name in ("question", "answer", "reason", "extra")}
        row |= {"turns": [(role, text(number)) for role, number in row["turns"]], "phase": pack["phases"][row["phase"]]}
        rows.append(row)
    return rows


def copied(study: Path, to: Path) -> Path:
    shutil.copytree(study, to)
    return to


def test_the_same_runs_give_the_same_bytes_and_nothing_in_them_changes(study, tmp_path, monkeypatch):
    before = tree(study)
    first = build_report([study]).page
    monkeypatch.chdir(study.parent)
    assert build_report([Path(study.name)]).page == first
    assert build_report([Path(study.name) / "LR-searchqa-1", Path(study.name)]).runs == 2
    assert tree(study) == before


def test_every_row_is_there_with_what_was_said(study):
    page = build_report([study]).page
    rows = rows_of(page)
    run_path = study / "DEFAULT-searchqa-5.5"
    folders = {str(path.parent.relative_to(run_path)) for path in run_path.rglob("results.jsonl")}
    assert {row["phase"]["name"] for row in rows} == folders
    for folder in folders:
        lines = [json.loads(line) for line in (run_path / folder / "results.jsonl").read_text().splitlines()]
        talks = [json.loads(line) for line in (run_path / folder / "conversations.jsonl").read_text().splitlines()]
        said = {talk["id"]: [(turn["role"], turn["content"]) for turn in talk["turns"]] for talk in talks}
        mine = {row["id"]: row for row in rows if row["phase"]["name"] == folder}
        assert set(mine) == {line["id"] for line in lines}
        for line in lines:
            row = mine[line["id"]]
            assert (row["hard"], row["question"], row["answer"]) == (
                line["hard"], line["question"], line["predicted_answer"],
            )  # fmt: skip
            assert row["turns"] == said[line["id"]]


def test_rows_are_compared_with_the_skill_of_before(study):
    rows = rows_of(build_report([study]).page)
    seen = {(row["phase"]["name"], rows[row["other"]]["phase"]["name"]) for row in rows if row["other"] >= 0}
    assert ("test/best", "baseline/test") in seen
    assert ("steps/step_0001/selection", "baseline/selection") in seen
    assert ("steps/step_0002/rollout", "steps/step_0001/rollout") in seen
    history = [json.loads(line) for line in (study / "DEFAULT-searchqa-5.5" / "history.jsonl").read_text().splitlines()]
    current = "baseline/selection"
    for record in history:
        name = f"steps/step_{record['step']:04d}/selection"
        if record["kind"] == "step" and record["candidate"]:
            assert (name, current) in seen
        origin = record["current"]["origin"]
        kind = "steps" if origin.startswith("step_") else "slow_update"
        current = f"{kind}/{origin.removesuffix('_slow')}/selection"
    assert all(rows[row["other"]]["id"] == row["id"] for row in rows if row["other"] >= 0)


def test_texts_that_runs_share_are_in_the_file_once(study):
    page = build_report([study]).page
    inside = packs(page)
    prompts = {row["turns"][0][1] for place in (0, 1) for row in rows_of(page, place)}
    assert set(inside["pool-0"]) >= prompts
    assert not prompts & {text for place in (0, 1) for text in inside[f"rows-{place}"]["texts"]}


def test_long_conversations_are_cut_in_the_middle_and_say_so(study):
    whole = rows_of(build_report([study]).page)
    short = rows_of(build_report([study], chars=300).page)
    none = rows_of(build_report([study], chars=0).page)
    for before, after in zip(whole, short, strict=True):
        text = "".join(content for _, content in after["turns"])
        assert len(text) < 700 and "left out" in text
        assert before["turns"][0][1].startswith(after["turns"][0][1][:100])
        assert before["turns"][-1][1].endswith(after["turns"][-1][1][-20:])
    assert all(row["turns"] == [] and row["question"] for row in none)


def test_the_policy_names_what_is_in_the_page(study):
    page = build_report([study]).page
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1].replace("&#39;", "'")
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'") and "unsafe" not in policy
    assert not re.search(r"\bon\w+=|\bstyle=|https?://(?!www\.w3\.org/2000/svg)", re.sub(r">[^<]{500,}<", "><", page))


def test_every_script_takes_from_earlier_ones_what_they_give():
    given: dict[str, set[str]] = {}
    for name, text in sources().items():
        for names, other in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";$', text, re.MULTILINE):
            assert {part.strip() for part in names.split(",")} <= given[other], f"{name}.js imports from {other}.js"
        given[name] = set(re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.MULTILINE))
    folder = Path(reflact.__file__).parent / "report" / "html" / "assets" / "js"
    assert sorted(path.stem for path in folder.iterdir()) == sorted(SCRIPTS)
    assert not [name for name, text in sources().items() if "innerHTML" in text or "eval(" in text]


@pytest.fixture
def unfinished(tmp_path):
    """Runs that stopped, died at birth, and were archived, beside one that is complete."""
    root = tmp_path / "runs"
    train(root / "done", "optimizer=one_shot")
    with pytest.raises(reflact.core.errors.Stopped):
        train(root / "stopped", "budget.max_tokens=30000")
    (root / "stale" / "claims").mkdir(parents=True)
    (root / "stale" / "claims" / "0001.released").write_text("")
    (root / "stale" / "events.jsonl").write_text('{"t": 1.0, "kind": "run_started", "run_id": "stale"}\n{"t": 2.0, "ki')
    done = run(tmp_path, "reflact", "archive", str(root / "done"))
    assert done.code == 0, done.err
    return root


def test_runs_in_any_state_are_shown(unfinished):
    index = packs(build_report([unfinished]).page)["index"]
    assert {run["id"]: run["state"] for run in index["runs"]} == {"stopped": "stopped", "stale": "stale"}
    assert next(run["cause"] for run in index["runs"] if run["id"] == "stopped") == "budget"
    made = build_report([unfinished], archived=True)
    states = {run["state"] for run in packs(made.page)["index"]["runs"]}
    assert states == {"stopped", "stale", "archived"}
    assert any("stale: config.json" in problem for problem in made.problems)
    places = {run["id"]: place for place, run in enumerate(index["runs"])}
    stopped = packs(build_report([unfinished]).page)[f"run-{places['stopped']}"]
    assert len(stopped["curve"]) >= 2 and stopped["chapters"] and stopped["spent"]


def damaged_files(root: Path) -> dict[str, bytes]:
    return {
        "steps/step_0001/merged_patch.json": b'{"changes": [',
        "steps/step_0001/patches/failure_000.json": b"\xff\xfe[]",
        "steps/step_0002/rollout/results.jsonl": b'{"key"\n'
        + (root / "steps/step_0002/rollout/results.jsonl").read_bytes(),
        "history.jsonl": b"[]\n" + (root / "history.jsonl").read_bytes(),
        "events.jsonl": b"nonsense\n" + (root / "events.jsonl").read_bytes(),
        "config.json": b"{",
        "best_skill.md": b"\xff\xff not UTF-8",
    }


def test_damaged_files_are_named_and_the_rest_is_shown(study, tmp_path):
    root = copied(study, tmp_path / "study")
    run_path = root / "DEFAULT-searchqa-5.5"
    for name, content in damaged_files(run_path).items():
        (run_path / name).write_bytes(content)
    made = build_report([root])
    assert made.runs == 2
    for name in damaged_files(run_path):
        assert name == "best_skill.md" or any(name in problem for problem in made.problems), name
    view = packs(made.page)["run-0"]
    assert len(view["chapters"]) == 7 and view["chapters"][1]["diff"]
    assert view["best_skill"].endswith("not UTF-8")


def test_rows_that_tables_cannot_read_keep_one_run_out_of_them_and_not_all(study, tmp_path):
    root = copied(study, tmp_path / "study")
    path = root / "LR-searchqa-1" / "test" / "best" / "results.jsonl"
    path.write_bytes(b"{torn\n" + path.read_bytes())
    made = build_report([root])
    assert any("LR-searchqa-1 is in no table" in problem and "results.jsonl" in problem for problem in made.problems)
    assert "DEFAULT-searchqa-5.5" in made.page and made.runs == 2
    (root / "plan.json").write_text("{")
    worse = build_report([root])
    assert any("There are no tables" in problem and "plan.json" in problem for problem in worse.problems)
    assert worse.runs == 2


@pytest.mark.parametrize("turn", [0, 3])
def test_files_that_say_nonsense_break_nothing(study, tmp_path, turn):
    """Every value of every JSON file replaced by one of another type, file by file."""
    root = copied(study, tmp_path / "study")
    run_path = root / "DEFAULT-searchqa-5.5"
    wrong = [None, -1, 1e400, "text", [], {}, [[1]], True]
    wrong = [*wrong[turn:], *wrong[:turn]]
    for place, path in enumerate(sorted(run_path.rglob("*.json"))):
        if "claims" in path.parts or path.name == "summary.json":
            continue
        value = json.loads(path.read_text())
        path.write_text(json.dumps({key: wrong[(place + at) % len(wrong)] for at, key in enumerate(value)}))
    for name in ("history.jsonl", "events.jsonl", "steps/step_0001/rollout/results.jsonl"):
        lines = [json.loads(line) for line in (run_path / name).read_text().splitlines()]
        for place, line in enumerate(lines):
            line |= {key: wrong[(place + at) % len(wrong)] for at, key in enumerate(line) if key not in ("t", "kind")}
        (run_path / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert build_report([root]).runs == 2


def test_invalid_runs_stand_below_the_table_with_their_reasons(tmp_path):
    Made(tmp_path, "DEFAULT-docvqa-5.5").write()
    bad = Made(tmp_path, "LR-docvqa-8")
    bad.summary["rows"]["test"] = {"ok": 5, "timeout": 0, "empty": 5, "refused": 0, "error": 0}
    bad.write()
    write_plan(tmp_path, point("DEFAULT-docvqa-5.5"), point("LR-docvqa-8"), point("LR-docvqa-2"))
    page = build_report([tmp_path]).page
    index = packs(page)["index"]
    (run,) = [run for run in index["runs"] if run["id"] == "LR-docvqa-8"]
    assert run["valid"] is False and any("empty: 50% of 10 test rows" in reason for reason in run["reasons"])
    assert "Not in the table" in page and "50% of 10 test rows" in page
    assert "LR-docvqa-2" in page  # planned and not begun
    assert "SIMULATED" not in page.split("<script")[0]


def test_the_command_writes_one_file_and_says_what_is_in_it(study, tmp_path):
    out = tmp_path / "report.html"
    done = run(tmp_path, "reflact", "report", str(study), "--out", str(out))
    assert (done.code, done.err) == (0, "") and "2 runs" in done.out and "trajectories" in done.out
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert out.read_text(encoding="utf-8") == build_report([study]).page


@pytest.mark.parametrize(
    ("out", "what"),
    [
        ("missing/report.html", "there is no folder"),
        (".", "is a folder"),
        ("study/DEFAULT-searchqa-5.5/r.html", "inside a run"),
    ],
)
def test_a_place_where_no_report_can_lie_is_named_before_anything_is_read(study, tmp_path, monkeypatch, out, what):
    monkeypatch.chdir(study.parent)
    monkeypatch.setattr("reflact.report.html.build.build_report", None)
    with pytest.raises(ConfigError, match=f"--out {re.escape(out)}.*{what}"):
        report([study], Path(out))


def test_roots_without_a_run_are_named(tmp_path):
    with pytest.raises(ConfigError, match="no runs below"):
        build_report([tmp_path])
    with pytest.raises(ConfigError, match="is not a directory"):
        build_report([tmp_path / "nowhere"])
    done = run(tmp_path, "reflact", "report", str(tmp_path))
    assert done.code == 2 and "--out" in done.err


def test_a_folder_that_cannot_be_written_is_named(study):
    done = run(Path("/"), "reflact", "report", str(study), "--out", "/proc/report.html")
    assert done.code == 2 and "--out /proc/report.html cannot be written" in done.err


def test_all_ways_to_train_have_a_history(tmp_path):
    """Suggestions, whole drafts, the teacher's own learning rate with both reflections, and an evaluation."""
    root = tmp_path / "runs"
    train(root / "suggestions", "optimizer.skill_update_mode=rewrite_from_suggestions", "train.num_epochs=1")
    train(root / "autonomous", "optimizer.lr_control_mode=autonomous", "optimizer.use_meta_reflect=true",
          "gradient.use_deep_reflect=true", "train.num_epochs=2")  # fmt: skip
    config = reflact.compose([*SAMPLE, "split=test", "skill=none"])
    config.env.out_root = str(root / "evaluated")
    reflact.evaluate(config)
    page = build_report([root]).page
    inside = packs(page)
    by_id = {run["place"].partition("/")[2]: place for place, run in enumerate(inside["index"]["runs"])}
    suggested = inside[f"run-{by_id['suggestions']}"]["chapters"][0]
    assert {edit["status"] for edit in suggested["edits"]} == {"carried out by the rewriter"} and suggested["diff"]
    autonomous = inside[f"run-{by_id['autonomous']}"]["chapters"]
    assert "meta_reflect" in {chapter["kind"] for chapter in autonomous}
    assert "lr decision" in {reply["name"].replace("_", " ") for reply in autonomous[0]["replies"]}
    assert {row["phase"]["name"] for row in rows_of(page, by_id["evaluated"])} == {"evaluation"}
