"""How often each rule of the gate accepts an edit that does nothing, and one that helps."""

from __future__ import annotations

from bench.gate_noise import NOISES, Judge, accepted, study
from bench.gate_rehearsal import SIZES as REHEARSED
from bench.gate_rehearsal import rehearse
from bench.table import show
from reflact.engine.gate import PairedRule, Rule, StrictRule
from reflact.engine.stats import wilson

SIZES = (10, 18, 40, 107, 200)
ALPHA = 0.05
DECISIONS = 20_000
RUNS = 5_000
STEPS = 10
GAINS = (0.1, 0.2, 0.4)
RULES: dict[str, Rule] = {"strict": StrictRule(), "paired": PairedRule(ALPHA)}


def main() -> None:
    """Simulate and print."""
    _show_decisions()
    _show_power()
    _show_runs()
    _show_rehearsals()


def _show_decisions() -> None:
    rows = [
        [n, noise.name, *(_shown(accepted(Judge(rule, n), noise, DECISIONS), DECISIONS) for rule in RULES.values())]
        for n in SIZES
        for noise in NOISES
    ]
    show(
        f"gate: share of useless edits that are accepted, one decision, {DECISIONS} of each kind [95% Wilson]",
        ["items", "chance of an item", *RULES],
        rows,
        [f"paired: alpha {ALPHA}. An edit that does nothing is accepted by luck alone."],
    )


def _show_power() -> None:
    mixed = NOISES[-1]
    rows = [
        [
            n,
            f"+{gain / 2:.2f}",
            *(_shown(accepted(Judge(rule, n), mixed, DECISIONS, gain=gain), DECISIONS) for rule in RULES.values()),
        ]
        for n in SIZES
        for gain in GAINS
    ]
    show("gate: share of edits accepted that really help, items mixed", ["items", "true gain", *RULES], rows)


def _show_runs() -> None:
    mixed = NOISES[-1]
    rows = []
    for n in SIZES:
        for name, rule in RULES.items():
            found = study(Judge(rule, n), mixed, RUNS, STEPS)
            rows.append([n, name, found.any_accepted, found.taken, f"{100 * found.optimism:+.1f}"])
    show(
        f"gate: runs of {STEPS} useless edits each, items mixed, {RUNS} runs",
        ["items", "rule", "took at least one", "edits taken", "best's score - truth, points"],
        rows,
    )


def _show_rehearsals() -> None:
    rows = []
    for n in REHEARSED:
        for name in RULES:
            first, later = rehearse(n, name, ALPHA)
            rows.append([n, name, _shown(*first), f"{first[0]}/{first[1]}", _shown(*later), f"{later[0]}/{later[1]}"])
    show(
        "gate: rehearsal runs whose teacher proposes nothing useful",
        ["items", "rule", "first decision", "n", "later decisions", "n"],
        rows,
        ["Later candidates meet a current skill that is there because it was lucky, so fewer of them win."],
    )


def _shown(hits: int, n: int) -> str:
    interval = wilson(hits, n)
    return "-" if interval is None else f"{hits / n:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
