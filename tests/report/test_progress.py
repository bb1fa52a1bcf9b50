"""What a person reads of a run under way must be what its events say."""

import pytest

from reflact.report import describe
from reflact.report.progress import RunProgress
from tests.report.script import Script


@pytest.fixture
def script() -> Script:
    return Script()


def test_a_progress_bar_in_a_message_is_no_rate_limit(script):
    script.begin()
    script.start("baseline/selection", "selection", 494)
    script.retry(status=503, message="429/494 done")
    script.retry(status=None, cause="connection", message="HTTP 429")
    assert script.run.retries.rate_limits == 0
    assert script.run.retries.repeated == {"503": 1, "connection": 1}


def test_every_429_is_counted_also_the_last_one_of_a_call_that_was_given_up(script):
    script.begin()
    for attempt in range(1, 6):
        script.retry(status=429, cause="rate_limit", attempt=attempt, wait=3)
    script.give_up("rate_limit", failed=6)
    run = script.run
    assert run.retries.rate_limits == 6
    assert run.retries.wait_s == 15
    assert run.retries.waiting == []


def test_a_call_that_is_being_repeated_is_told_with_its_attempt_and_reason(script):
    script.begin()
    script.start("steps/step_0003/selection", "selection", 20, epoch=1, step=3)
    for item in range(19):
        script.row("steps/step_0003/selection", item)
    script.retry(status=503, attempt=1, wait=1)
    script.retry(status=503, attempt=2, wait=2, after=1)
    said = describe.phase_line(script.run, script.now + 2)
    assert said == "steps/step_0003/selection 19/20 · 1 waiting, retry 2 of 5 (503)"
    script.call(stage="gate", phase="selection", failed=2, after=4)
    assert "waiting" not in describe.phase_line(script.run, script.now)


def test_two_calls_that_wait_are_two_until_each_has_its_answer(script):
    script.begin()
    script.retry(attempt=1)
    script.retry(attempt=1)
    assert len(script.run.retries.waiting) == 2
    script.call(stage="gate", phase="selection", failed=1)
    assert len(script.run.retries.waiting) == 1
    script.call(stage="gate", phase="selection", failed=0)
    assert len(script.run.retries.waiting) == 1, "a call that was never repeated answers for no other"


def test_a_silent_last_item_is_told_before_its_first_retry(script):
    script.begin()
    script.start("baseline/selection", "selection", 20)
    for item in range(19):
        script.row("baseline/selection", item)
    assert "waiting" not in describe.phase_line(script.run, script.now + 5)
    assert "19/20 · 1 waiting for an answer, 60 s" not in describe.phase_line(script.run, script.now + 59)
    assert "19/20 · 1 waiting for an answer, 59 s since the last row" in describe.phase_line(
        script.run, script.now + 59
    )


def test_an_item_that_is_run_again_after_an_error_counts_once(script):
    script.begin()
    script.start("baseline/selection", "selection", 3)
    script.row("baseline/selection", "a")
    script.row("baseline/selection", "b", "error", cause="server")
    script.row("baseline/selection", "c", "empty", hard=0.0)
    assert script.run.statuses == {"ok": 1, "error": 1, "empty": 1}
    script.row("baseline/selection", "b", attempt=2)
    phase = script.run.phase
    assert (phase.done, phase.n) == (3, 3)
    assert {name: number for name, number in script.run.statuses.items() if number} == {"ok": 2, "empty": 1}
    assert phase.hard == pytest.approx(2 / 3), "an error has no score and is in no mean"


def test_a_resumed_run_goes_on_counting_where_it_stood(script):
    script.begin()
    script.start("baseline/selection", "selection", 4)
    script.row("baseline/selection", "a")
    script.row("baseline/selection", "b")
    script.begin(resumed=True, after=3600)
    assert script.run.elapsed_s(script.now) == 2, "nobody worked between the two processes"
    script.start("baseline/selection", "selection", 4, done=2)
    script.row("baseline/selection", "c")
    run = script.run
    assert (run.phase.done, run.statuses["ok"]) == (3, 3)
    script.row("baseline/selection", "d")
    script.end("baseline/selection", {"ok": 4}, hard=0.75)
    assert (script.run.baseline, script.run.statuses["ok"]) == (0.75, 4)


def test_rows_that_a_crash_lost_are_not_counted_twice(script):
    script.begin()
    script.start("baseline/selection", "selection", 3)
    script.row("baseline/selection", "a")
    script.row("baseline/selection", "b")
    script.begin(resumed=True, after=60)
    script.start("baseline/selection", "selection", 3, done=1)
    script.row("baseline/selection", "b")
    script.row("baseline/selection", "c")
    script.end("baseline/selection", {"ok": 3})
    assert script.run.statuses["ok"] == 3


def test_a_phase_that_one_process_extends_keeps_what_its_first_part_counted(script):
    script.begin()
    script.phase("slow_update/epoch_02/rollout_curr", "slow", 5, epoch=2)
    script.phase("slow_update/epoch_02/rollout_curr", "slow", 5, epoch=2)
    assert script.run.statuses["ok"] == 10


def test_decisions_that_a_resumed_run_repeats_count_once(script):
    script.begin()
    script.decide(1, "reject")
    script.begin(resumed=True)
    script.decide(1, "reject")
    script.decide(2, "accept_new_best", best=0.7, preview="Quote dates")
    run = script.run
    assert run.verdicts.actions == {"reject": 1, "accept_new_best": 1}
    assert run.best == 0.7
    assert run.verdicts.last_taken.preview == "Quote dates"


def test_cost_is_unknown_as_soon_as_one_price_is(script):
    script.begin()
    script.call(cost=0.5)
    assert script.run.spending.cost_usd == 0.5
    script.call(cost=None)
    assert script.run.spending.cost_usd is None
    assert "price not known" in describe.spending_text(script.run)
    assert "$0" not in describe.spending_text(script.run)


def test_tokens_include_those_of_calls_that_failed(script):
    script.begin()
    script.call(tokens=100)
    script.give_up()
    assert script.run.spending.tokens_total == 110 + 10


def test_background_work_is_not_what_the_run_waits_for(script):
    script.begin()
    script.start("baseline/test", "test", 60, background=True)
    script.start("steps/step_0001/rollout", "train", 20, epoch=1, step=1)
    run = script.run
    assert run.phase.name == "steps/step_0001/rollout"
    assert [phase.name for phase in run.background] == ["baseline/test"]


def test_between_phases_the_teachers_stage_is_told(script):
    script.begin()
    script.start("baseline/test", "test", 60, background=True)
    script.phase("steps/step_0001/rollout", "train", 4, epoch=1, step=1)
    script.call("teacher", "reflect")
    script.call("teacher", "reflect")
    assert describe.phase_line(script.run, script.now) == "teacher: reflect, 2 calls"


def test_rate_counts_the_last_minutes_not_idle_time(script):
    script.begin()
    script.start("baseline/selection", "selection", 200, after=600)
    for item in range(60):
        script.row("baseline/selection", item, after=1)
    assert script.run.rate.per_minute(script.now) == pytest.approx(60, rel=0.05)


def test_the_time_left_is_near_the_truth_and_falls(script):
    script.begin(epochs=1, steps=2, counts={"train": 20, "selection": 20, "test": 0})
    script.phase("baseline/selection", "selection", 20, each=2.0)
    script.phase("steps/step_0001/rollout", "train", 10, each=2.0, epoch=1, step=1)
    script.call("teacher", "reflect", after=30)
    script.phase("steps/step_0001/selection", "selection", 20, each=2.0, epoch=1, step=1)
    script.decide(1)
    # One step is left: 10 rows and 20 rows at 2 s each, and 30 s of teacher work.
    first = script.run.eta_s(script.now)
    assert first == pytest.approx(10 * 2 + 20 * 2 + 30, rel=0.02)
    script.phase("steps/step_0002/rollout", "train", 10, each=2.0, epoch=1, step=2)
    assert script.run.eta_s(script.now) < first


def test_no_time_is_promised_before_the_first_row_or_after_the_end(script):
    script.begin()
    assert script.run.eta_s(script.now) is None
    script.phase("baseline/selection", "selection", 20)
    assert script.run.eta_s(script.now) is not None
    script.finish()
    assert script.run.eta_s(script.now) is None
    assert script.run.state == "done"


def test_how_a_run_ended_is_told(script):
    script.begin()
    script.stop("stopped", "rate_limit", "429 after 6 attempts")
    run = script.run
    assert (run.state, run.cause, run.message) == ("stopped", "rate_limit", "429 after 6 attempts")
    script.begin(resumed=True)
    assert (script.run.state, script.run.cause) == ("running", "")


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"t": None, "kind": "row"},
        {"t": 1.0},
        {"t": 1.0, "kind": "of another version"},
        {"t": 1.0, "kind": "phase_started", "name": "x", "n": "many"},
        {"t": 1.0, "kind": "call", "usage": [1]},
        {"t": 1.0, "kind": "row", "name": "never started"},
        {"t": 1.0, "kind": "decision", "edits_applied": {}},
        {"t": 1.0, "kind": "phase_ended", "name": "x", "statuses": 3},
        {"t": "2026-01-01T00:00:00+00:00", "kind": "retry", "attempt": "x"},
    ],
)
def test_a_malformed_event_never_ends_a_display(event):
    run = RunProgress()
    run.feed(event)
    assert describe.phase_line(run, 2.0) == ""


def test_a_phase_that_is_read_again_is_not_counted_again(script):
    script.begin()
    script.phase("baseline/test", "test", 5)
    script.start("baseline/test", "test", 5, done=5)
    script.end("baseline/test", {"ok": 5})
    assert script.run.statuses["ok"] == 5
