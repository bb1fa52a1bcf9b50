"""A sweep from its command line to its exit code: plan, look at everything, launch, settle the books."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra.core.config_loader import ConfigLoader
from omegaconf import DictConfig, OmegaConf

from reflact.config.axes import load_axes
from reflact.config.compose import Composer, typed
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, ExitCode, ReflactError
from reflact.core.names import RunState
from reflact.engine.run_record import content_fingerprints
from reflact.report.tables.rules import load_rules, require_names
from reflact.rundir.atomic import write_text
from reflact.rundir.code_version import code_version
from reflact.rundir.view import view_run
from reflact.sweep.closing import close
from reflact.sweep.command_line import GRID, PLAN_GROUP, given_beside_plan, grid_points
from reflact.sweep.context import composer, config_flags, key_of, sweep_command
from reflact.sweep.elsewhere import TAKEN
from reflact.sweep.existing import RESUME, Wanted, left_to_run, settle
from reflact.sweep.grids import read_grids
from reflact.sweep.identity import base_of_grid, base_of_plan, plan_identity
from reflact.sweep.job_line import JobLine
from reflact.sweep.launch import HydraLauncher, Launch, clear_dead_queues
from reflact.sweep.launchers import in_flight, require_launcher
from reflact.sweep.ledger import Ledger, compile_ledger
from reflact.sweep.plan_file import bound_plan, merged, write_plan
from reflact.sweep.planned import Planned
from reflact.sweep.planner import Planner
from reflact.sweep.points import Expander, Point
from reflact.sweep.queue import Job, Outcome, Rules, jobs_ended
from reflact.sweep.show import head, plan_text
from reflact.sweep.start_checks import require_benchmarks, require_data, require_services
from reflact.sweep.tables import TableBook, TableKeeper, compiled
from reflact.sweep.task import LaunchTask

_UNNAMED = "outputs/sweeps/<time>"
"""How the root is shown of a plan that is only looked at."""


@dataclass(frozen=True, slots=True)
class _Study:
    """What the command line asks for: points, and what binds a root to them."""

    name: str
    points: Sequence[Point]
    base: Mapping[str, Any]
    swept: Sequence[str]


class Sweep:
    """One `--multirun` command.

    Args:
        node: The sweep's own configuration, with the node `hydra`.
        arguments: The overrides with their lists of values.
        loader: Hydra's, for `glob`.
        command: `train` or `evaluate`.
    """

    def __init__(self, node: DictConfig, arguments: Sequence[str], loader: ConfigLoader, command: str) -> None:
        self._node = node
        self._arguments = arguments
        self._loader = loader
        self._command = command
        self._config: Config = typed(node)
        self._composer: Composer = composer(node)
        self._root = Path(str(node.hydra.sweep.dir) or _UNNAMED)
        self._shown_only = not str(node.hydra.sweep.dir)
        self._code = code_version()

    def run(self, launcher: HydraLauncher, task: LaunchTask, batch: int | None) -> list[Any]:
        """Plan, then run what is left to run; returns the score of each run.

        Raises:
            ReflactError: The plan cannot be carried out; nothing was started.
            SystemExit: With the sweep's exit code if a run failed (1) or stopped (75).
        """
        settings = self._config.sweep
        # What says how a sweep is run reaches no job, where it would be checked.
        self._composer.compose([line for line in self._arguments if key_of(line).startswith(f"{PLAN_GROUP}.")])
        require_benchmarks(settings.max_parallel, self._composer.options("benchmark"))
        require_names(self._config.validity.ignore, load_rules(), "validity.ignore")
        study = self._study()
        planner = Planner(self._composer, settings, self._config.validity.ignore, self._code)
        planned = planner.plan(study.points, self._root if self._shown_only else Path.cwd() / self._root)
        identity = plan_identity(study.name, study.base, study.swept, planned, rehearse=settings.rehearse)
        old = bound_plan(self._root, identity)
        lines = JobLine(
            root=str(Path.cwd() / self._root),
            settings=settings,
            flags=config_flags(self._node),
            hydra=[str(line) for line in self._node.hydra.overrides.hydra],
        )
        if settings.dry_run:
            want = self._wanted(planner, lines)
            plan = merged(study.name, identity, planned, old)
            self._show(study.name, planned, want, planner.notes, plan, old)
            return []
        want = self._wanted(planner, lines)
        self._settle(planned, want)
        runs = left_to_run(planned)
        if not settings.rehearse:
            require_data(runs)
            require_services(runs, settings)
        self._write_plan(merged(study.name, identity, planned, old))
        write_text(self._root / "multirun.yaml", OmegaConf.to_yaml(self._node))
        sys.stderr.write(f"reflact: {self._root}: {study.name}: {head(planned)}{in_flight(self._node)}\n")
        for note in planner.notes:
            sys.stderr.write(f"reflact: note: {note}\n")
        jobs = [lines.job(entry, _known(want, entry), number) for number, entry in enumerate(runs)]
        return self._launch(runs, jobs, launcher, task, batch)

    def _write_plan(self, plan: Mapping[str, Any]) -> None:
        program = "reflact-train" if self._command == "train" else "reflact-eval"
        write_plan(self._root, plan, sweep_command(program, self._node, self._arguments))

    def _study(self) -> _Study:
        if not any(line.lstrip("+").startswith("sweep=") for line in self._arguments):
            points = grid_points(self._arguments, self._loader, self._composer, self._command)
            require_launcher(self._node, [point.overrides for point in points], self._composer)
            base, swept = base_of_grid(self._composer, points)
            return _Study(GRID, points, base, swept)
        if self._command != "train":
            raise ConfigError("a named plan is run with reflact-train; its evaluations are among its points.")
        require_launcher(self._node, [self._arguments], self._composer)
        given = given_beside_plan(self._arguments, self._loader)
        plan = OmegaConf.to_container(OmegaConf.create(self._config.sweep.plan), resolve=True)
        assert isinstance(plan, dict)
        axes = load_axes()
        expander = Expander(axes, given, lambda overrides: self._composer.compose(overrides).model.student)
        points = expander.points(list(read_grids({str(key): value for key, value in plan.items()}, axes)))
        base = base_of_plan(self._composer, given, [point.benchmark for point in points])
        return _Study(str(plan.get("name")), points, base, ())

    def _wanted(self, planner: Planner, lines: JobLine) -> Callable[[Planned], Wanted]:
        def want(entry: Planned) -> Wanted:
            config = self._composer.compose(lines.overrides(entry))
            facts, skill = planner.shelf.facts(config), planner.skills.digest(config, entry.point.command)
            fingerprints = content_fingerprints(skill, facts.fingerprint)
            return Wanted(config, fingerprints, self._code, self._config.run.allow_code_change)

        return want

    def _settle(self, planned: Sequence[Planned], want: Callable[[Planned], Wanted]) -> None:
        settle(left_to_run(planned), want, RESUME if self._config.run.resume else self._config.sweep.existing)

    def _show(
        self,
        name: str,
        planned: Sequence[Planned],
        want: Callable[[Planned], Wanted],
        notes: Sequence[str],
        plan: Mapping[str, Any],
        old: Mapping[str, Any] | None,
    ) -> None:
        """Print the plan; a root that was named gets its `plan.json`.

        Raises:
            Refused: The sweep itself would be refused.
        """
        rehearse = self._config.sweep.rehearse
        try:
            self._settle(planned, want)
        finally:
            sys.stdout.write(plan_text(name, planned, notes, rehearse=rehearse))
            sys.stdout.flush()
        if not self._shown_only:
            self._write_plan(merged(name, plan["identity"], planned, old))

    def _launch(
        self, runs: Sequence[Planned], jobs: Sequence[Job], launcher: HydraLauncher, task: LaunchTask, batch: int | None
    ) -> list[Any]:
        settings, ledger = self._config.sweep, Ledger(self._root, time.time)
        labels = {entry.point.run_id: (*entry.point.overrides, "hydra.output_subdir=null") for entry in runs}
        rules = Rules(
            max_parallel=dict(settings.max_parallel),
            min_free_memory_gb=settings.min_free_memory_gb,
            max_run_s=settings.max_run_s,
            grace_s=settings.grace_s,
            on_failure=settings.on_failure,
        )
        launch = Launch(self._root, launcher, task, rules, settings.retries, lambda job: labels[job.run_id], batch)
        results: list[tuple[Job, Outcome]] = []
        book = TableBook(
            root=self._root,
            known_roots=[Path(root) for root in settings.known_roots],
            ignore=self._config.validity.ignore,
            imports=Path(settings.imports) if settings.imports else None,
        )
        try:
            for job in jobs:
                if view_run(Path(job.out_dir)).state not in TAKEN:  # what another sweep does is no plan any more
                    ledger.write(job.run_id, RunState.PLANNED, benchmark=job.benchmark, out_dir=job.out_dir)
            with TableKeeper(book, lambda: jobs_ended(self._root)):
                results = launch.run(jobs) if jobs else []
        finally:
            clear_dead_queues(self._root)
            compile_ledger(self._root)
            whole = compiled(book)
        code = close(results)
        if code is not ExitCode.DONE or not whole:
            raise SystemExit(int(code if whole else ExitCode.BUG))
        return [outcome.score for _, outcome in results]


def _known(want: Callable[[Planned], Wanted], entry: Planned) -> Wanted | None:
    """Return what a run has to be; None where only the run itself will find what its data or its skill lack."""
    try:
        return want(entry)
    except ReflactError:
        return None
