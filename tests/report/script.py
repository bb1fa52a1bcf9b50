"""A run told by hand: the events that a real one would emit, at times that a test chooses."""

import json
from pathlib import Path

from reflact.core.events import (
    CallFailed,
    CallFinished,
    CallRetried,
    Decision,
    Event,
    PhaseEnded,
    PhaseStarted,
    RowFinished,
    RunFinished,
    RunStarted,
    RunStopped,
)
from reflact.core.usage import Usage
from reflact.report.progress import RunProgress, event_json

START = 1_700_000_000.0
COUNTS = {"train": 40, "selection": 20, "test": 60, "slow": 20}


class Script:
    """Events in order; each `say` lets time pass first."""

    def __init__(self, start: float = START) -> None:
        self.now = start
        self.events: list[dict] = []

    def say(self, event: Event, after: float = 0.0) -> None:
        self.now += after
        self.events.append(event_json(event, self.now))

    def begin(self, *, epochs=2, steps=4, counts=None, after=0.0, **fields) -> None:
        facts = {
            "run_id": "LR-orders-8", "benchmark": "orders", "harness": "openai_chat", "student": "small",
            "teacher": "large", "simulated": False, "resumed": False, "pid": 7, "host": "here", **fields,
        }  # fmt: skip
        self.say(RunStarted(epochs=epochs, steps=steps, counts=COUNTS if counts is None else counts, **facts), after)

    def start(self, name, phase, n, *, done=0, after=0.0, **fields) -> None:
        self.say(PhaseStarted(name=name, phase=phase, n=n, done=done, **fields), after)

    def row(self, name, item, status="ok", *, hard=1.0, attempt=1, cause=None, after=1.0) -> None:
        scored = None if status == "error" else hard
        self.say(RowFinished(name, str(item), status, cause, scored, scored, attempt, 0.5, 0.0), after)

    def end(self, name, statuses, *, hard=0.5, n=None, after=0.0) -> None:
        total = sum(statuses.values())
        scored = total - statuses.get("error", 0)
        self.say(PhaseEnded(name, n or total, scored, hard, hard, statuses), after)

    def phase(self, name, phase, n, *, hard=0.5, each=1.0, **fields) -> None:
        """A whole phase without trouble."""
        self.start(name, phase, n, **fields)
        for item in range(n):
            self.row(name, item, hard=hard, after=each)
        self.end(name, {"ok": n}, hard=hard)

    def call(
        self, role="student", stage="rollout", phase="train", *, tokens=100, failed=0, cost=0.01, after=0.0
    ) -> None:
        usage = Usage(1, failed, tokens, 0, tokens // 10, 0)
        self.say(CallFinished(role, stage, phase, "m", usage, 0.5, 0.0, cost), after)

    def retry(
        self,
        status=503,
        attempt=1,
        *,
        wait=2.0,
        cause="server",
        role="student",
        stage="gate",
        phase="selection",
        most=6,
        after=0.0,
        message="",
    ) -> None:
        self.say(CallRetried(role, stage, phase, cause, status, attempt, most, wait, None, message), after)

    def give_up(
        self, cause="rate_limit", failed=6, *, role="student", stage="gate", phase="selection", after=0.0
    ) -> None:
        self.say(CallFailed(role, stage, phase, "m", Usage(0, failed, 10, 0, 0, 0), cause, "no"), after)

    def decide(
        self,
        step=1,
        action="accept_new_best",
        *,
        epoch=1,
        candidate=0.6,
        current=0.6,
        best=0.6,
        what="step",
        preview="",
        after=0.0,
    ) -> None:
        self.say(Decision(what, epoch, step, action, candidate, current, best, 2, 4, 500, preview), after)

    def stop(self, state="stopped", cause="budget", message="the budget is spent", after=0.0) -> None:
        self.say(RunStopped(state, cause, message), after)

    def finish(self, after=0.0) -> None:
        self.say(RunFinished("completed"), after)

    @property
    def run(self) -> RunProgress:
        progress = RunProgress()
        progress.feed_all(self.events)
        return progress

    def lines(self) -> bytes:
        return b"".join(json.dumps(event).encode() + b"\n" for event in self.events)

    def write(self, root: Path) -> Path:
        """Append what was said to the `events.jsonl` of a run directory and forget it."""
        root.mkdir(parents=True, exist_ok=True)
        with (root / "events.jsonl").open("ab") as file:
            file.write(self.lines())
        self.events.clear()
        return root
