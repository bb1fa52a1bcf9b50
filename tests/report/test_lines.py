"""Plain lines must tell a log's reader what happened, without one line a row."""

import pytest

from reflact.report.lines import PlainLines
from reflact.report.progress import RunProgress
from tests.report.script import Script


class Log:
    """Feeds a script to plain lines and keeps what they said, without the time of day."""

    def __init__(self, interval_s: float = 10.0) -> None:
        self.script = Script()
        self.said: list[str] = []
        self.run = RunProgress()
        self._lines = PlainLines(self.run, interval_s, lambda line: self.said.append(line[9:]))

    def show(self, wait: float = 0.0) -> list[str]:
        """Feed what was said since the last call, let time pass, and return the new lines."""
        before = len(self.said)
        for event in self.script.events:
            self.run.feed(event)
            self._lines.event(event)
            self._lines.tick(event["t"])
        self.script.events.clear()
        self.script.now += wait
        self._lines.tick(self.script.now)
        return self.said[before:]


@pytest.fixture
def log() -> Log:
    return Log()


def test_a_run_tells_its_start_phases_decisions_and_end(log):
    log.script.begin()
    log.script.phase("baseline/selection", "selection", 5, each=0.1)
    log.script.decide(1, preview="Quote \x1b[31mdates[/red]")
    log.script.finish()
    said = log.show()
    assert said == [
        "run LR-orders-8 begins: orders, openai_chat; student small, teacher large; 2 epochs, 4 steps",
        "baseline/selection: 5 rows",
        "baseline/selection done: hard 0.500 over 5 of 5; ok 5",
        "step 1: accept_new_best, candidate 0.600, current 0.600, best 0.600, 2 of 4 edits",
        "  edit: Quote dates[/red]",
        "done (completed): 0 tokens",
    ]


def test_progress_comes_by_the_interval_not_by_the_row(log):
    log.script.begin()
    log.script.start("baseline/selection", "selection", 100)
    for item in range(35):
        log.script.row("baseline/selection", item, after=1)
    said = [line for line in log.show() if "/100" in line]
    assert [line.partition(" · ")[0] for line in said] == [f"baseline/selection {done}/100" for done in (10, 20, 30)]


def test_a_run_that_stands_still_says_for_how_long(log):
    log.script.begin()
    log.script.start("baseline/selection", "selection", 2)
    log.script.row("baseline/selection", "a")
    log.show()
    said = log.show(wait=40)
    assert len(said) == 1
    assert "1/2 · 1 waiting for an answer, 40 s since the last row" in said[0]


def test_retries_are_summed_up_by_status(log):
    log.script.begin()
    log.script.start("baseline/selection", "selection", 2)
    log.script.retry(429, cause="rate_limit", wait=30)
    log.script.retry(429, cause="rate_limit", wait=30)
    log.script.retry(None, cause="no_answer")
    said = log.show(wait=11)
    assert "retries since the last line: 429 ×2, no answer ×1" in said
    assert any("3 waiting, retry 1 of 5" in line for line in said)
    log.script.row("baseline/selection", "a", after=10)
    assert not any("retries" in line for line in log.show(wait=11)), "each retry is told once"


def test_warnings_and_calls_given_up_are_told_at_once(log):
    from reflact.core.events import Warned

    log.script.begin()
    log.script.say(Warned("foreign_rows", "3 rows\nare ignored"))
    log.script.give_up("auth", failed=1)
    said = log.show()
    assert "warning (foreign_rows): 3 rows are ignored" in said
    assert "student call (gate) given up: auth: no" in said


def test_why_a_run_stops_is_left_to_its_last_message(log):
    """The command ends with the whole message and with how to go on; it is not to be read twice."""
    log.script.begin()
    log.script.stop(cause="errors", message="the service answers nothing")
    assert log.show()[-1] == "stopped: errors"


def test_simulated_runs_say_so_at_once(log):
    log.script.begin(simulated=True)
    assert any("SIMULATED" in line for line in log.show())


def test_an_evaluation_that_was_cut_shows_no_score(log):
    log.script.begin()
    log.script.start("steps/step_0001/selection", "selection", 20, epoch=1, step=1)
    log.script.row("steps/step_0001/selection", 1, hard=0.0)
    log.script.end("steps/step_0001/selection", {"ok": 1}, hard=None, n=20)
    assert "steps/step_0001/selection done: 1 row of 20, stopped early: it could no longer win; ok 1" in log.show()
