"""From points to a plan: composed, compared with each other and with what is done elsewhere, estimated."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from reflact.config.axes import load_axes
from reflact.config.compose import Composer
from reflact.config.nearest import suggestion
from reflact.config.operation import SweepConfig
from reflact.config.overrides import override
from reflact.core.errors import ConfigError
from reflact.report.tables.imported import Imported, read_imports
from reflact.report.tables.points import Point as StudyPoint
from reflact.report.tables.points import point_of_id
from reflact.sweep.context import key_of
from reflact.sweep.estimate import Experience
from reflact.sweep.known import KnownRun, known_runs
from reflact.sweep.normal import normal_form
from reflact.sweep.planned import Planned, PointState
from reflact.sweep.points import Point
from reflact.sweep.sizes import DataShelf
from reflact.sweep.skills import DEFAULT, SkillShelf, missing_text, require_one, source_skill

DEFAULT_GROUP = "DEFAULT"
_MOST_SHOWN = 8


@dataclass(slots=True)
class Planner:
    """Makes plans.

    Attributes:
        composer: Composes the points; one composer for all of them.
        settings: The keys under `sweep.`.
        ignored: `validity.ignore`.
        code: This code's version.
        shelf: The data.
        skills: The skills.
        notes: What a person should know of the last plan.
    """

    composer: Composer
    settings: SweepConfig
    ignored: Sequence[str]
    code: str
    shelf: DataShelf = field(init=False)
    skills: SkillShelf = field(default_factory=SkillShelf)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Make the shelf that the settings want."""
        self.shelf = DataShelf(only_shown=self.settings.dry_run)

    def plan(self, points: Sequence[Point], root: Path) -> list[Planned]:
        """Return the points with what becomes of them; nothing is written.

        Raises:
            ConfigError: A point does not compose, an id of `sweep.only` or `sweep.exclude` does not exist, or skills
                or data are at fault.
        """
        planned = [Planned(self._with_source(point), root / point.run_id) for point in points]
        self._select(planned)
        for entry in _left(planned):
            self._look(entry)
        self._require_sources(planned)
        runs = [run for folder in self.settings.known_roots for run in known_runs(Path(folder))]
        self._take_imported(planned)
        self._compare_with(runs, planned)
        if not self.settings.keep_duplicates:
            _merge_equal(planned)
        self._estimate(planned, runs)
        return planned

    def _with_source(self, point: Point) -> Point:
        if not point.source_skill or any(key_of(line) == "env.skill_init" for line in point.overrides):
            return point
        path = source_skill(self.settings.source_skills, point.benchmark)
        if path is None:
            return point
        return replace(point, overrides=(*point.overrides, override("env.skill_init", path)))

    def _select(self, planned: Sequence[Planned]) -> None:
        names = [entry.point.run_id for entry in planned]
        only, exclude = self.settings.only, self.settings.exclude
        for key, wanted in (("only", only), ("exclude", exclude)):
            for run_id in wanted:
                if run_id not in names:
                    raise ConfigError(f"sweep.{key}: the plan has no point {run_id}{suggestion(run_id, names)}")
        for entry in planned:
            if entry.point.fixed:
                entry.skip(entry.point.fixed)
            elif only and entry.point.run_id not in only:
                entry.skip("not in sweep.only")
            elif entry.point.run_id in exclude:
                entry.skip("excluded")

    def _look(self, entry: Planned) -> None:
        point = entry.point
        config = entry.config = self.composer.compose(point.overrides)
        entry.facts = self.shelf.facts(config)
        if self._lacks_source(entry):
            entry.skill = f"the source skill of {point.benchmark}"
        else:
            entry.skill = self.skills.digest(config, point.command)
        entry.form = normal_form(config, entry.facts.sizes, entry.skill, point.command)

    @staticmethod
    def _lacks_source(entry: Planned) -> bool:
        return entry.point.source_skill and entry.config is not None and entry.config.env.skill_init == DEFAULT

    def _require_sources(self, planned: Sequence[Planned]) -> None:
        """Leave out what lacks its source skill; a plan of nothing else is refused. A rehearsal needs none."""
        left = _left(planned)
        lacking = [entry for entry in left if self._lacks_source(entry)]
        whole = [entry for entry in left if entry.point.source_skill and entry not in lacking]
        require_one((entry.point.benchmark, entry.point.run_id, entry.skill) for entry in whole)
        if not lacking or self.settings.rehearse:
            return
        if len(lacking) == len(left):
            names = sorted({entry.point.benchmark for entry in lacking})
            raise ConfigError(
                f"{lacking[0].point.run_id} {missing_text(lacking[0].point.benchmark)} (needed for: {', '.join(names)})"
            )
        for entry in lacking:
            entry.skip(missing_text(entry.point.benchmark))

    def _take_imported(self, planned: Sequence[Planned]) -> None:
        """Leave out what older results tell already, and let what equals such a point be its alias."""
        path = self.settings.imports
        if not path:
            return
        axes, imports = load_axes(), read_imports(Path(path))
        told = {entry.point for entry in imports if entry.is_result}
        points = {entry.point.run_id: point_of_id(entry.point.run_id, entry.point.benchmark, axes) for entry in planned}
        self._note_imports(imports, set(points.values()))
        known: dict[str, str] = {}
        for entry in _left(planned):
            if points[entry.point.run_id] in told:
                known[entry.key] = entry.point.run_id
                entry.skip(f"imported from {path}")
        for entry in _left(planned) if not self.settings.keep_duplicates else ():
            if entry.key in known:
                entry.alias(known[entry.key], f"imported from {path}")

    def _note_imports(self, imports: Sequence[Imported], points: Collection[StudyPoint | None]) -> None:
        """Say which older results keep no run from being done again: a misspelt one costs a whole run."""
        path = self.settings.imports
        for what, names in (
            ("of no point of this plan", [entry.point.name for entry in imports if entry.point not in points]),
            (
                "without a score on test (best_test), so that they are run",
                [entry.point.name for entry in imports if entry.point in points and not entry.is_result],
            ),
        ):
            if names:
                more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
                shown = ", ".join(names[:_MOST_SHOWN])
                self.notes.append(f"results in {path} {what}: {shown}{more}")

    def _compare_with(self, runs: Sequence[KnownRun], planned: Sequence[Planned]) -> None:
        for entry in _left(planned):
            assert entry.facts is not None
            same = [run for run in runs if run.form == entry.form and run.same_data(entry.facts)]
            usable = [run for run in same if run.code_version == self.code or "code_version" in self.ignored]
            own = next((run for run in usable if run.run_id == entry.point.run_id), None)
            if own is not None:
                entry.skip(own.where)
                entry.out_dir = own.path
            elif usable and not self.settings.keep_duplicates:
                best = min(usable, key=lambda run: not run.run_id.startswith(f"{DEFAULT_GROUP}-"))
                entry.alias(best.run_id, best.where)
                entry.out_dir = best.path
            elif same:
                entry.why = (
                    f"{same[0].where}, but by code version {same[0].code_version}; "
                    "validity.ignore=[code_version] takes it all the same"
                )

    def _estimate(self, planned: Sequence[Planned], runs: Sequence[KnownRun]) -> None:
        experience = Experience()
        experience.learn(run.summary for run in runs if run.summary is not None)
        for entry in planned:
            if entry.config is not None and entry.facts is not None:
                entry.estimate = experience.estimate(entry.config, entry.facts.sizes, entry.point.command)


def _left(planned: Iterable[Planned]) -> list[Planned]:
    return [entry for entry in planned if entry.state is PointState.RUN]


def _merge_equal(planned: Sequence[Planned]) -> None:
    """Let points that compute the same run once: the default point's run if it is among them, else the first."""
    groups: dict[str, list[Planned]] = {}
    for entry in _left(planned):
        groups.setdefault(entry.key, []).append(entry)
    for equal in groups.values():
        chosen = min(equal, key=lambda entry: entry.point.group != DEFAULT_GROUP)
        for entry in equal:
            if entry is not chosen:
                entry.alias(chosen.point.run_id, "computes the same")
