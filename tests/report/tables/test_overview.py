"""The main table keeps no skill, initial skill and best skill apart."""

import pytest

from tests.report.tables.made import BEFORE, Made, point, write_plan
from tests.report.tables.reading import grids, reasons

NONE = (0, 0, 0, 1, 0, 0, 0, 0, 0, 0)


def lines(root):
    return {(raw["benchmark"], raw["harness"], raw["skill"]): raw for raw in grids(root)["main"].raw}


@pytest.fixture
def root(tmp_path):
    Made(tmp_path).write()
    Made(tmp_path, "skill-none-docvqa-5.5", best=NONE).evaluation().write()
    return tmp_path


def test_three_rows_with_skill_models_and_score(root):
    found = lines(root)
    assert list(found) == [("docvqa", "openai_chat", skill) for skill in ("no skill", "initial", "best")]
    no_skill, initial, best = found.values()
    assert (no_skill["test"], initial["test"], best["test"]) == (0.1, 0.3, 0.9)
    assert (no_skill["skill_sha256"], initial["skill_sha256"], best["skill_sha256"]) == ("e", "skill", "c" * 64)
    assert (no_skill["skill_tokens"], best["skill_tokens"]) == (0, 9)
    assert (no_skill["student"], no_skill["teacher"], best["teacher"]) == ("gpt-5.5", "", "gpt-5.5")
    assert no_skill["delta_initial"] == pytest.approx((sum(NONE) - sum(BEFORE)) / 10)
    assert best["delta_initial"] == pytest.approx(0.6)
    assert initial["delta_initial"] is None


def test_no_skill_without_a_default_is_not_shown(tmp_path):
    Made(tmp_path, "skill-none-docvqa-5.5", best=NONE).evaluation().write()
    grid = grids(tmp_path)["main"]
    assert grid.raw[0]["test"] is None
    assert reasons(grid)["skill-none-docvqa-5.5"].startswith("reference: ")


def test_an_evaluation_of_another_part_is_no_test_score(root):
    run = Made(root, "skill-none-searchqa-5.5", benchmark="searchqa").evaluation()
    run.summary["split"]["part"] = "val"
    run.write()
    Made(root, "DEFAULT-searchqa-5.5", benchmark="searchqa").write()
    assert reasons(grids(root)["main"])["skill-none-searchqa-5.5"] == "part: split.part=val"


def test_agents_have_rows_of_their_own(root):
    for run_id in ("HARNESS-BESTSETTING-docvqa-codex", "HARNESS-BESTSKILL-docvqa-codex"):
        run = Made(root, run_id)
        run.summary["harness"] = run.record["harness"] = "codex_exec"
        run.write()
    write_plan(root, point("HARNESS-BESTSETTING-docvqa-claude"))
    found = lines(root)
    skills = [skill for _, harness, skill in found if harness == "codex_exec"]
    assert skills == ["initial", "best", "source", "best from source"]
    assert found["docvqa", "codex_exec", "best from source"]["delta_initial"] == pytest.approx(0.6)
    assert found["docvqa", "claude", "best"]["state"] == "planned"


def test_evaluations_of_other_skills_belong_nowhere(root):
    Made(root, "mine", best=NONE).evaluation("best_skill.md").write()
    assert len(lines(root)) == 3
