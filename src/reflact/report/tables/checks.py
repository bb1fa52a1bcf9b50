"""What the rules look at. A check yields reasons against a run; none means that it has nothing to say."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from reflact.config.axes import Axes
from reflact.config.identity import difference
from reflact.core.names import RunState
from reflact.report.summaries import SummaryView
from reflact.report.tables.found import Run
from reflact.report.tables.points import SEED, values_of
from reflact.report.tables.rules import Rule
from reflact.rundir.jsonl import parse_line
from reflact.rundir.layout import RunLayout
from reflact.rundir.quiet import open_quiet

_LONGEST = 70


@dataclass(frozen=True, slots=True)
class Case:
    """A run before the rules.

    Attributes:
        run: The run.
        group: The table's group.
        swept: Keys in which the table's runs may differ.
        reference: The run to compare with; None if there is none.
        missing: Why there is none, `""` if none is needed.
        beside_real: The table holds a run that is neither simulated nor a sample.
        ignored: Names of ignored rules.
        rules: Names of all rules.
        axes: The axes.
    """

    run: Run
    group: str
    swept: frozenset[str]
    reference: Run | None
    missing: str
    beside_real: bool
    ignored: frozenset[str]
    rules: frozenset[str]
    axes: Axes


Check = Callable[[Rule, Case], Iterator[str]]


def _complete(rule: Rule, case: Case) -> Iterator[str]:
    if case.run.state is not RunState.DONE:
        yield f"the run is {case.run.state_text}"


def _readable(rule: Rule, case: Case) -> Iterator[str]:
    if not isinstance(case.run.record.get("identity"), Mapping):
        yield "config.json is missing or cannot be read: there is nothing to compare the run by"
    for place in case.run.summary.nonsense[:3]:
        yield f"summary.json says {place}, where a number belongs"


def _share(rule: Rule, case: Case) -> Iterator[str]:
    """Take `status` and `limit`: a share, or the key of the run's configuration that holds it."""
    status = str(rule.takes["status"])
    told = list(_told(rule.name, case))
    if told:
        yield from told
        return
    limit = rule.takes["limit"]
    bound = case.run.record.number("config", *limit.split(".")) if isinstance(limit, str) else float(limit)
    if bound is None and case.run.record.get("config", *str(limit).split(".")) is not None:
        yield f"config.json says of {limit} what is no number, so the limit is not known"
    for phase, counts in case.run.summary.statuses.items():
        n = sum(counts.values())
        if n and bound is not None and counts[status] > bound * n:
            yield f"{counts[status] / n:.0%} of {n} {phase} rows ({counts[status]}), limit {bound:.0%}"


def _stated(rule: Rule, case: Case) -> Iterator[str]:
    """Yield what the run's own summary says under the rule's name."""
    yield from _told(rule.name, case)


def _told(name: str, case: Case) -> Iterator[str]:
    for reason in case.run.summary.reasons:
        if reason.startswith(f"{name}: "):
            yield reason.removeprefix(f"{name}: ")


def _judged(rule: Rule, case: Case) -> Iterator[str]:
    """Yield what the run's own summary says under a name that no rule has."""
    reasons = case.run.summary.reasons
    yield from (reason for reason in reasons if reason.partition(":")[0] not in case.rules)
    if case.run.summary.valid is False and not reasons:
        yield "the run calls itself invalid without a reason"


def _test_rows(rule: Rule, case: Case) -> Iterator[str]:
    """Compare every test evaluation with the size of the test split."""
    run = case.run
    size = run.record.whole("split", "counts", "test")
    if size is None and run.record.get("split", "counts", "test") is not None:
        yield "config.json says of split.counts.test what is no number, so the split's size is not known"
    for side in ("baseline", "best"):
        score = run.score(side, "test")
        if score is not None and size is not None and (score.n is None or score.n < size):
            yield f"the {side} skill's test evaluation has {score.n} of the split's {size} items"


def _warned(rule: Rule, case: Case) -> Iterator[str]:
    """Take `code`: a warning in the run's events, or a mark on its rows' summary."""
    code = str(rule.takes["code"])
    if case.run.summary.flag(code):
        yield "the run's summary says so"
        return
    mark = json.dumps(code).encode()
    try:
        file = open_quiet(RunLayout(case.run.path).events)
    except FileNotFoundError:
        return
    with file:
        for line in file:
            event = parse_line(line) if mark in line else None
            if event is not None and event.get("kind") == "warning" and event.get("code") == code:
                yield str(event.get("message") or "the run's events say so")
                return


def _value(rule: Rule, case: Case) -> Iterator[str]:
    """Take `field`, `of` (`record` or `summary`) and `allowed` or `forbidden` values."""
    source = case.run.record if rule.takes["of"] == "record" else case.run.summary
    value = source.get(*str(rule.takes["field"]).split("."))
    allowed, forbidden = rule.takes.get("allowed"), rule.takes.get("forbidden", ())
    if value is not None and (value in forbidden or (allowed is not None and value not in allowed)):
        yield f"{str(rule.takes['field']).removeprefix('config.')}={shown(value)}"


def _label(rule: Rule, case: Case) -> Iterator[str]:
    """Compare the configuration with what the values in the run's id set."""
    point = case.run.point
    values = values_of(case.run.record.data)
    if point is None:
        return
    for group, label in zip(point.group.split("+"), point.value.split("+"), strict=False):
        for axis in case.axes.axes:
            option = next((o for o in axis.options if axis.group == group and o.label == label), None)
            for key, value in option.sets.items() if option is not None else ():
                if key in values and values[key] != value:
                    yield f"{group} {label} sets {key}={shown(value)}, the run has {shown(values[key])}"


def _beside_real(rule: Rule, case: Case) -> Iterator[str]:
    """Take `flag`: `simulated` or `sample`."""
    flag = str(rule.takes["flag"])
    if case.beside_real and (case.run.simulated if flag == "simulated" else case.run.sample):
        yield f"the run is {'a sample' if flag == 'sample' else flag}, and real ones stand in this table"


def _reference(rule: Rule, case: Case) -> Iterator[str]:
    if case.missing:
        yield case.missing


def _same(rule: Rule, case: Case) -> Iterator[str]:
    """Take `field` of `config.json`, which must equal the reference's."""
    if case.reference is None:
        return
    path = str(rule.takes["field"]).split(".")
    here, there = case.run.record.get(*path), case.reference.record.get(*path)
    if here == there:
        return
    if isinstance(here, Mapping) and isinstance(there, Mapping):
        changed = [key for key, _, _ in difference(there, here)]
        yield f"{', '.join(changed[:6])} differ from {case.reference.run_id}"
    else:
        yield f"{shown(there)} in {case.reference.run_id}, {shown(here)} here"


def _config(rule: Rule, case: Case) -> Iterator[str]:
    """Take `told_elsewhere`, keys that other rules look at, and `no_evaluation`, how keys begin that only train."""
    if case.reference is None:
        return
    training_only = tuple(rule.takes.get("no_evaluation", ())) if case.run.evaluation else ()
    left_out = {*case.swept, *rule.takes.get("told_elsewhere", ()), SEED, "skill", "split"}
    here, there = _identity(case.run.record), _identity(case.reference.record)
    for key, before, now in difference(there, here):
        # A declared compatible release may know keys that the other one does not.
        unknown = "code_version" in case.ignored and (key in here) != (key in there)
        if key not in left_out and not unknown and not key.startswith(training_only):
            yield f"{key}: {shown(before)} in {case.reference.run_id}, {shown(now)} here"


def _identity(record: SummaryView) -> Mapping[str, Any]:
    identity = record.get("identity")
    return identity if isinstance(identity, Mapping) else {}


def shown(value: object) -> str:
    """Return a value for a reason: JSON, long ones cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "complete": _complete,
        "readable": _readable,
        "share": _share,
        "stated": _stated,
        "judged": _judged,
        "test_rows": _test_rows,
        "warned": _warned,
        "value": _value,
        "label": _label,
        "beside_real": _beside_real,
        "reference": _reference,
        "same": _same,
        "config": _config,
    }
)
"""The checks by the name that rules call them."""
