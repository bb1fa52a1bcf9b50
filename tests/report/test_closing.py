"""The closing summary must show what was measured, with its uncertainty, and nothing else."""

import copy
import io
import json

import pytest

from reflact.report.closing import print_closing


def score(hard, n=20, low=0.1, high=0.9, soft=None):
    return {"hard": hard, "soft": hard if soft is None else soft, "n": n, "scored": n, "ci95": [low, high]}


SUMMARY = {
    "run_id": "LR-orders-8", "benchmark": "orders", "harness": "openai_chat", "student": "small", "teacher": "large",
    "simulated": False, "sample": False, "stop_reason": "completed", "wall_time_s": 125.0,
    "split": {"train": 16, "selection": 20, "test": 60},
    "baseline": {"selection": score(0.35), "test": score(0.36, 60)},
    "best": {"step": 3, "origin": "step_0003", "selection": score(0.5), "test": score(0.405, 60),
             "skill_chars": 44, "skill_tokens": 11, "skill_sha256": "a"},
    "final": {"step": 4, "origin": "step_0004", "selection": score(0.5), "test": None, "skill_sha256": "b"},
    "delta_test": 0.045,
    "confidence": {"level": 0.95, "delta_test": [0.01, 0.08], "mcnemar_p": 0.0123},
    "steps": {"total": 4, "accepted": 2, "rejected": 1, "skipped": {"skip_no_patches": 1}},
    "rows": {"train": {"ok": 15, "timeout": 0, "empty": 1, "refused": 0, "error": 0},
             "selection": {"ok": 80, "timeout": 2, "empty": 0, "refused": 0, "error": 0}},
    "rate_limits": {"count_429": 3, "wait_s": 12.0},
    "usage": {"student": {"rollout": {"train": {"calls": 16, "failed_calls": 3, "prompt_tokens": 1000,
              "cached_tokens": 0, "completion_tokens": 500, "reasoning_tokens": 0}}}},
    "tokens_total": 1500, "cost_usd": 1.25, "validity": {"valid": True, "reasons": []},
}  # fmt: skip


class Run:
    """A run directory with a summary, and what is printed of it."""

    def __init__(self, root):
        self.root = root
        self.summary = copy.deepcopy(SUMMARY)
        self.initial = "# Skill\n\n- Answer.\n"
        self.best = "# Skill\n\n- Answer in one line.\n"

    def printed(self, columns=100) -> str:
        (self.root / "skills").mkdir(exist_ok=True)
        (self.root / "skills/step_0000.md").write_text(self.initial)
        (self.root / "best_skill.md").write_text(self.best)
        (self.root / "summary.json").write_text(json.dumps(self.summary))
        stream = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            assert print_closing(self.root, stream=stream)
        return stream.getvalue()


@pytest.fixture
def run(tmp_path) -> Run:
    return Run(tmp_path)


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_every_score_has_its_n_and_interval(run, columns):
    text = run.printed(columns)
    assert "0.350" in text and "0.405" in text
    assert text.count("[0.100, 0.900]") == 5
    assert "20/20" in text and "60/60" in text


def test_the_gain_has_its_paired_interval_and_p(run):
    text = run.printed()
    assert "+0.045 [0.010, 0.080] (paired 95%) · McNemar p = 0.0123" in text


def test_troubles_are_told_by_phase(run):
    text = run.printed()
    assert "ok 95, timeout 2, empty 1, refused 0, error 0" in text
    assert "train: empty ×1 of 16" in text
    assert "selection: timeout ×2 of 82" in text
    assert "429s       3, waited 12 s" in text


def test_steps_cost_and_place_of_the_skill(run):
    text = run.printed()
    assert "4: 2 accepted, 1 rejected, 1 skipped (no patches ×1)" in text
    assert "1.5k tokens · $1.25" in text
    assert f"{run.root}/best_skill.md (44 characters, 11 tokens)" in text


def test_an_unknown_price_is_said_not_invented(run):
    run.summary["cost_usd"] = None
    assert "price not known" in run.printed()
    assert "$" not in run.printed()


def test_an_invalid_run_says_why(run):
    run.summary["validity"] = {"valid": False, "reasons": ["empty: 62% of 8 selection rows; raise [the] cap"]}
    text = run.printed()
    assert "INVALID: it fills no table" in text
    assert "- empty: 62% of 8 selection rows; raise [the] cap" in text


def test_the_edits_are_shown_as_a_bounded_diff(run):
    text = run.printed()
    assert "\n-- Answer.\n" in text
    assert "\n+- Answer in one line.\n" in text
    run.best = "# Skill\n" + "".join(f"- rule {n}\n" for n in range(500))
    text = run.printed()
    assert "rule 20" in text and "rule 400" not in text
    assert "more lines: diff -u" in text


def test_a_skill_that_a_model_wrote_cannot_touch_the_terminal(run):
    run.best = "# Skill\n- \x1b[2J\x1b]0;owned\x07[red]x[/red]\u202e\n"
    run.summary["run_id"] = "x\x1b[31m[bold]"
    text = run.printed()
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert "[red]x[/red]" in text


def test_the_final_skill_is_shown_only_where_it_is_another(run):
    assert "final (step 0004)" in run.printed()
    run.summary["final"]["skill_sha256"] = "a"
    assert "final (step" not in run.printed()


def test_an_untouched_skill_is_not_shown_twice(run):
    for key in ("best", "final"):
        run.summary[key]["origin"] = "initial"
    text = run.printed()
    assert "best (initial)" in text and "final (" not in text


def test_simulated_numbers_say_so(run):
    run.summary["simulated"] = True
    text = run.printed()
    assert "SIMULATED" in text
    assert "These numbers are simulated" in text


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": {"test": {"ok": 3, "empty": 5}}}, "62% of the replies were empty"),
        ({"rows": {"test": {"ok": 3, "timeout": 5}}}, "raise env.exec_timeout"),
        ({"rows": {"test": {"ok": 3, "refused": 5}}}, "were refused"),
        ({"steps": {"total": 4, "accepted": 0, "rejected": 4, "skipped": {}}}, "No step was accepted"),
        ({"confidence": {"delta_test": [-0.01, 0.08]}}, "The interval of the gain on test holds zero"),
        ({"rate_limits": {"count_429": 500, "wait_s": 1}}, "500 answers with status 429"),
        ({"split": {"selection": 4}}, "The selection split has 4 items"),
    ],
)
def test_what_to_try_next_follows_from_what_went_wrong(run, change, sentence):
    run.summary |= {"rows": {}, "rate_limits": {}} | change
    assert sentence in run.printed(columns=300)


def test_waiting_without_a_429_is_no_reason_to_lower_anything(run):
    run.summary |= {"rate_limits": {"count_429": 0, "wait_s": 500.0}}
    assert "with status 429" not in run.printed(columns=300)


def test_a_teacher_that_proposed_nothing_is_not_blamed_on_the_gate(run):
    run.summary["steps"] = {"total": 4, "accepted": 0, "rejected": 0, "skipped": {"skip_no_patches": 4}}
    text = run.printed(columns=300)
    assert "proposed no edit in any step" in text and "steps/*/patches" in text
    assert "edit_apply_report" not in text


def test_the_next_command_can_be_typed_as_it_stands(run):
    run.summary |= {"harness": "local"}
    assert "reflact-train benchmark=orders harness=local env.due=true" in run.printed(columns=300)


def test_an_evaluation_of_one_skill_shows_its_one_score(run):
    for name in ("baseline", "best", "final", "steps", "delta_test", "confidence"):
        del run.summary[name]
    run.summary |= {
        "kind": "evaluation",
        "scores": score(0.4, 60),
        "skill": {"name": "none"},
        "split": {"part": "test"},
    }
    assert "skill none on the test split: hard 0.400 [0.100, 0.900], 60/60 scored" in run.printed()


@pytest.mark.parametrize("content", ["{}", '{"best": 3, "rows": [], "usage": 1, "steps": null, "validity": "x"}'])
def test_missing_and_odd_parts_are_left_out(run, content):
    run.summary = json.loads(content)
    assert "done" in run.printed()


@pytest.mark.parametrize("content", [None, "", "[]", "{torn"])
def test_without_a_result_it_says_how_to_go_on(tmp_path, content):
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    stream = io.StringIO()
    assert not print_closing(tmp_path, stream=stream)
    assert "run.resume=true" in stream.getvalue()


def test_a_terminal_without_utf8_gets_ascii(run):
    raw = io.BytesIO()
    run.printed()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    assert print_closing(run.root, stream=stream)
    stream.flush()
    assert b"LR-orders-8" in raw.getvalue()
