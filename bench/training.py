"""A training run of SearchQA's shape against the bound of its schedule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

from bench.bound import bound, phases_of
from bench.made import brain_script, write_split
from bench.runs import LATENCY_S, SLOTS, Measured, run, scratch
from bench.table import share, show
from bench.virtual import trace

TRAIN, VAL, TEST = 400, 200, 1400
TEACHER_SLOTS = 16
VARIANTS = {
    "as it is": (),
    "baseline test at the end": ("evaluation.overlap_baseline_test=false",),
}
"""Every line is the same training; only how it is carried out differs."""
TRACED = {
    **VARIANTS,
    "early_reject": ("evaluation.early_reject=true",),
    "speculate": ("train.speculate=true",),
}
"""What is also run on a clock of its own, where the machine's noise has no part."""


def main() -> None:
    """Measure and print."""
    with scratch() as name:
        folder = Path(name)
        answers = write_split(folder / "split", train=TRAIN, val=VAL, test=TEST)
        script = brain_script(answers)
        runs = {
            variant: run("train", script, folder / f"run-{number}", [*_settings(folder), *overrides])
            for number, (variant, overrides) in enumerate(VARIANTS.items())
        }
        _show_time(runs)
        _show_phases(runs)
        _show_cost(runs)
        _show_traces(folder)


def _settings(folder: Path) -> list[str]:
    return [
        "benchmark=searchqa",
        f"env.split_dir={folder / 'split'}",
        "train.num_epochs=1",
        "train.batch_size=40",
        f"gradient.analyst_workers={TEACHER_SLOTS}",
    ]


def _show_time(runs: Mapping[str, Measured]) -> None:
    rows = []
    for name, measured in runs.items():
        student, teacher = _latencies(measured)
        phases, final = phases_of(measured.root)
        span = measured.span_s
        overlapped = "end" not in name
        limits = [
            bound(
                phases,
                background=TEST if overlapped else 0,
                final=final if overlapped else final + TEST,
                latency_s=student,
                teacher_s=teacher,
                slots=SLOTS,
                whole_calls=whole,
            )
            for whole in (False, True)
        ]
        fluid, whole = limits
        rows.append(
            [
                name,
                span,
                fluid.total_s,
                share(fluid.total_s, span),
                whole.total_s,
                share(whole.total_s, span),
                share(measured.summed_s / SLOTS, span),
                fluid.idle_slot_s,
                fluid.background_slot_s,
            ]
        )
    show(
        f"training: {TRAIN}/{VAL}/{TEST} items, one epoch, {SLOTS} + {TEACHER_SLOTS} slots, {LATENCY_S} s a call",
        [
            "run",
            "measured",
            "bound",
            "bound/meas.",
            "whole calls",
            "whole/meas.",
            "sum/slots/meas.",
            "idle slot-s",
            "baseline test slot-s",
        ],
        rows,
        [
            "bound: seconds, the sum over the phases that follow one another of max(latency, n*latency/slots), the",
            "baseline's test in their idle slots, what does not fit and the other tests after them; mean latencies as",
            "the server logged them.",
            "whole calls: the same with ceil(n/slots)*latency, since a call cannot be cut in pieces.",
        ],
    )


def _latencies(measured: Measured) -> tuple[float, float]:
    teacher = [call.seconds for call in measured.calls if call.teacher]
    return fmean(call.seconds for call in measured.calls if not call.teacher), fmean(teacher)


def _show_phases(runs: Mapping[str, Measured]) -> None:
    """Where the time goes: busy student slots while training, and what the gaps between phases cost."""
    rows = []
    for name, measured in runs.items():
        student = [call for call in measured.calls if not call.teacher]
        teacher = [call for call in measured.calls if call.teacher]
        rows.append(
            [
                name,
                len(student),
                len(teacher),
                sum(call.left for call in measured.calls),
                measured.span_s - _covered(measured),
            ]
        )
    show("training: calls", ["run", "student", "teacher", "left", "seconds without any call"], rows)


def _covered(measured: Measured) -> float:
    """Return the seconds in which at least one call was open."""
    covered, until = 0.0, 0.0
    for call in measured.calls:
        covered += max(0.0, call.ended - max(call.started, until))
        until = max(until, call.ended)
    return covered


def _show_cost(runs: Mapping[str, Measured]) -> None:
    rows = [
        [
            name,
            measured.cpu_ms,
            float(measured.figures["wall_s"]),
            float(measured.figures["peak_mb"]),
            float(measured.figures["queued_s"]),
            sum(path.is_file() for path in measured.root.rglob("*")),
        ]
        for name, measured in runs.items()
    ]
    show(
        "training: what it costs",
        ["run", "CPU ms/call", "whole command s", "peak MB", "waited for a core s", "files"],
        rows,
    )


def _show_traces(folder: Path) -> None:
    """The schedule alone: simulated models, virtual time."""
    rows = []
    for even in (True, False):
        for number, (name, overrides) in enumerate(TRACED.items()):
            root = folder / f"trace-{even}-{number}"
            settings = [*_settings(folder), *overrides, f"env.out_root={root}", f"env.workers={SLOTS}"]
            events, _ = trace([*settings, f"rehearsal.latency_s={LATENCY_S}"], even=even)
            phases, final = phases_of(root)
            span = events.events[-1][0]
            fluid, whole = (
                bound(
                    phases,
                    background=TEST,
                    final=final,
                    latency_s=LATENCY_S,
                    teacher_s=LATENCY_S,
                    slots=SLOTS,
                    whole_calls=whole,
                ).total_s
                for whole in (False, True)
            )
            calls = "all alike" if even else "0.5 to 1.5 x"
            rows.append([name, calls, span, fluid, share(fluid, span), whole, share(whole, span)])
    show(
        "training: the schedule alone, simulated models in virtual time (the same on every machine)",
        ["run", "latencies", "seconds", "bound", "bound/sec.", "whole calls", "whole/sec."],
        rows,
        [
            "The bound is that of a run with the baseline's test in idle slots. Where latencies differ, a phase ends",
            "with its longest call, which no bound made of means knows.",
        ],
    )
