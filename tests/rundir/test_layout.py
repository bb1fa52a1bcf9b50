from __future__ import annotations

from pathlib import Path

from reflact.rundir.layout import RunLayout

ROOT = Path("/runs/a")


def names(*paths: Path) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def test_every_file_of_a_run_has_its_place() -> None:
    run = RunLayout(ROOT)
    assert names(run.hydra, run.claims, run.config, run.events, run.state, run.history, run.lr_history) == [
        ".hydra",
        "claims",
        "config.json",
        "events.jsonl",
        "state.json",
        "history.jsonl",
        "lr_history.jsonl",
    ]
    assert names(run.skill(0), run.skill(12), run.epoch_skill(3), run.best_skill, run.summary, run.log) == [
        "skills/step_0000.md",
        "skills/step_0012.md",
        "skills/epoch_03_slow.md",
        "best_skill.md",
        "summary.json",
        "train.log",
    ]


def test_a_step_has_its_folder() -> None:
    step = RunLayout(ROOT).step(7)
    assert names(
        step.rollout.results,
        step.patches,
        step.merged_patch,
        step.ranked_edits,
        step.lr_decision,
        step.candidate_skill,
        step.edit_apply_report,
        step.full_rewrite_result,
        step.rewrite_result,
        step.selection.summary,
        step.step_record,
    ) == [
        f"steps/step_0007/{name}"
        for name in (
            "rollout/results.jsonl",
            "patches",
            "merged_patch.json",
            "ranked_edits.json",
            "lr_decision.json",
            "candidate_skill.md",
            "edit_apply_report.json",
            "full_rewrite_result.json",
            "rewrite_result.json",
            "selection/summary.json",
            "step_record.json",
        )
    ]


def test_epochs_have_their_folders() -> None:
    run = RunLayout(ROOT)
    slow, meta, reflect = run.slow_update(2), run.meta_skill(2), run.meta_reflect(2)
    assert names(slow.slow_result, slow.comparison_pairs, slow.rollout_prev.conversations, slow.selection.path) == [
        "slow_update/epoch_02/slow_result.json",
        "slow_update/epoch_02/comparison_pairs.json",
        "slow_update/epoch_02/rollout_prev/conversations.jsonl",
        "slow_update/epoch_02/selection",
    ]
    assert names(meta.meta_skill_result, reflect.meta_reflect_result) == [
        "meta_skill/epoch_02/meta_skill_result.json",
        "meta_reflect/epoch_02/meta_reflect_result.json",
    ]


def test_an_evaluation_is_named_by_its_path_in_the_run() -> None:
    run = RunLayout(ROOT)
    folders = [run.baseline("selection"), run.test("best"), run.step(1).rollout, run.slow_update(2).rollout_curr]
    assert [folder.name for folder in folders] == [
        "baseline/selection",
        "test/best",
        "steps/step_0001/rollout",
        "slow_update/epoch_02/rollout_curr",
    ]
    assert all(folder.path == ROOT / folder.name for folder in folders)
