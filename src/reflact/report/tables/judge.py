"""May a run fill a cell? Every rule is asked, and the first that speaks against it decides."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from reflact.config.axes import Axes
from reflact.core.errors import ConfigError
from reflact.report.tables.checks import CHECKS, Case
from reflact.report.tables.found import Run
from reflact.report.tables.points import GRID, Point, reference_point, swept_keys
from reflact.report.tables.rules import Rule

_COMPARING = frozenset({"same", "config", "reference"})


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule said: its reasons, and whether they count."""

    rule: str
    reasons: tuple[str, ...]
    ignored: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all rules said of a run in a table."""

    findings: tuple[Finding, ...]
    reference: Run | None

    @property
    def valid(self) -> bool:
        """Whether the run may fill its cell."""
        return self.decided_by is None

    @property
    def decided_by(self) -> str | None:
        """Name of the first rule that speaks against it."""
        return next((finding.rule for finding in self.findings if finding.reasons and not finding.ignored), None)

    @property
    def reasons(self) -> list[str]:
        """Reasons that count, each with the name of its rule."""
        return [
            f"{finding.rule}: {reason}"
            for finding in self.findings
            if not finding.ignored
            for reason in finding.reasons
        ]

    @property
    def ignored(self) -> list[str]:
        """Names of rules that spoke and were ignored."""
        return [finding.rule for finding in self.findings if finding.reasons and finding.ignored]


class Judge:
    """Judges the runs of a study.

    Args:
        runs: Runs with a point.
        rules: The rules.
        axes: The axes.
        ignore: Rules ignored for all runs, beside what each run's own `validity.ignore` says.
        grid: Keys in which the points of grids differ.
        imported: Points of older results.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        rules: Sequence[Rule],
        axes: Axes,
        ignore: Sequence[str] = (),
        grid: frozenset[str] = frozenset(),
        imported: Collection[Point] = (),
    ) -> None:
        self._runs = runs
        self._rules = rules
        self._axes = axes
        self._ignore = frozenset(ignore)
        self._grid = grid
        self._imported = imported
        self._names = frozenset(rule.name for rule in rules)
        self._known: dict[tuple[Run, str], Verdict] = {}
        self._real: dict[str, bool] = {}
        self._references: dict[tuple[str, Point], list[Run]] = {}
        for rule in rules:
            if rule.check not in CHECKS:
                raise ConfigError(f"rule {rule.name}: there is no check {rule.check}; there are {', '.join(CHECKS)}")

    def verdict(self, run: Run, group: str) -> Verdict:
        """Return what the rules say of a run in a group's table."""
        if (run, group) not in self._known:
            self._known[run, group] = self._judge(run, group)
        return self._known[run, group]

    def references(self, point: Point) -> list[Run]:
        """Return the complete runs that a point's table compares with, those that are sound by themselves if any."""
        wanted = reference_point(point, self._axes) or point
        key = (point.group, wanted)
        if key not in self._references:
            self._references[key] = self._find_references(point, wanted)
        return self._references[key]

    def _find_references(self, point: Point, wanted: Point) -> list[Run]:
        found = [run for run in self._runs if run.complete and run.point is not None and _at(run.point, wanted)]
        sound = [run for run in found if self._sound(run, point.group)]
        older = any(_at(entry, wanted) for entry in self._imported)
        if not found and (point.group == GRID or older):
            # A grid without the default, or one of which no configuration is known: the first run that is sound
            # stands for what all have in common.
            grid = [
                run for run in self._runs if run.complete and run.point is not None and _same_table(run.point, point)
            ]
            return [run for run in grid if self._sound(run, GRID)][:1] or grid[:1]
        return sound or found

    def _sound(self, run: Run, group: str) -> bool:
        return not any(self._findings(self._case(run, group), comparing=False))

    def _judge(self, run: Run, group: str) -> Verdict:
        case = self._case(run, group)
        if run.complete and run.point is not None:
            case = self._with_reference(case, run.point, group)
        return Verdict(tuple(self._said(rule, case) for rule in self._rules), case.reference)

    def _with_reference(self, case: Case, own: Point, group: str) -> Case:
        point = replace(own, group=group) if reference_point(own, self._axes) else own
        wanted = reference_point(point, self._axes)
        found = self.references(point)
        name = f"{wanted.group}-{point.benchmark}" if wanted is not None else ""
        if not found:
            return replace(case, missing=f"there is no complete {name} run to compare with")
        for other in found[1:]:
            against = replace(self._case(other, group), reference=found[0])
            spoken = next(self._findings(against, comparing=True), None)
            if spoken is not None:
                kind = name or f"{point.group}-{point.benchmark}"
                sides = f"{found[0].place} and {other.place}"
                return replace(case, missing=f"the {kind} runs {sides} differ ({spoken.rule}: {spoken.reasons[0]})")
        return replace(case, reference=found[0])

    def _case(self, run: Run, group: str) -> Case:
        own = run.record.get("config", "validity", "ignore")
        ignored = self._ignore | frozenset(str(name) for name in (own if isinstance(own, list) else ()))
        swept = self._grid if group == GRID else swept_keys(group, self._axes)
        return Case(run, group, swept, None, "", self._beside_real(group), ignored, self._names, self._axes)

    def _beside_real(self, group: str) -> bool:
        """Whether a real run stands in a group's table, those that it is compared with included."""
        if group not in self._real:
            placed = [(other, other.point) for other in self._runs if other.complete and other.point is not None]
            own = {point for _, point in placed if point.group == group}
            compared = {reference_point(point, self._axes) for point in own}
            self._real[group] = any(
                not other.simulated and not other.sample
                for other, point in placed
                if point in own or any(wanted is not None and _at(point, wanted) for wanted in compared)
            )
        return self._real[group]

    def _findings(self, case: Case, *, comparing: bool) -> Iterator[Finding]:
        """Yield what counts against a run: by itself, or compared with a reference."""
        for rule in self._rules:
            if (rule.check in _COMPARING) is comparing:
                finding = self._said(rule, case)
                if finding.reasons and not finding.ignored:
                    yield finding

    def _said(self, rule: Rule, case: Case) -> Finding:
        kind = "evaluation" if case.run.evaluation else "training"
        silent = kind not in rule.kinds or rule.silenced(case.swept)
        # A run without a result has only its state to be judged by.
        silent = silent or (not case.run.complete and rule.check != "complete")
        reasons = () if silent else tuple(CHECKS[rule.check](rule, case))
        return Finding(rule.name, reasons, rule.name in case.ignored and not rule.always)


def _same_table(point: Point, other: Point) -> bool:
    return (point.group, point.benchmark) == (other.group, other.benchmark)


def _at(point: Point, wanted: Point) -> bool:
    """Whether a run stands at a point; a reference's value is open where it does not say one."""
    return (point.group, point.benchmark) == (wanted.group, wanted.benchmark) and wanted.value in ("", point.value)
