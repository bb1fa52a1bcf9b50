"""What must hold before anything is written: for the command line, before Hydra makes its own files."""

from __future__ import annotations

from pathlib import Path

from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.engine.method import require_method
from reflact.engine.prepare import Prepared, prepare
from reflact.engine.reuse import require_reuse
from reflact.engine.run_record import read_record, require_same_run
from reflact.harness.registry import agent_task, connect_student
from reflact.models.agent_endpoints import AGENTS
from reflact.models.registry import backends, connect_role
from reflact.optimizer.registry import TEMPLATE, without_teacher
from reflact.rundir.code_version import code_version
from reflact.rundir.layout import RunLayout


def preflight(config: Config, root: Path, *, skill: str | None = None) -> Prepared:
    """Check configuration, data, endpoints and, for a resume, that it is the same run; writes nothing.

    Args:
        config: The configuration.
        root: The run directory.
        skill: See `prepare`.

    Raises:
        ConfigError: Configuration or data are at fault.
        Unavailable: A credential or program is missing.
        Refused: The directory holds a run of another configuration or code version.
    """
    prepared = prepare(config, skill=skill)
    require_reuse(config)
    require_models(config if skill is None else without_teacher(config))
    if config.model.student_backend in AGENTS:
        agent_task(config, prepared.benchmark)
    require_method(config)
    if config.run.resume:
        record = read_record(RunLayout(root))
        if record is not None:
            require_same_run(record, prepared, code_version(), str(root))
    return prepared


def require_models(config: Config) -> None:
    """Make sure that endpoints and keys of both roles are there (no call is made).

    Raises:
        ConfigError: A backend is unknown, or two endpoints are given.
        Unavailable: A key, program or file is missing.
    """
    if config.model.student_backend in AGENTS or config.model.student_backend in backends():
        connect_student(config)
    if config.model.teacher_backend != TEMPLATE:
        connect_role(config, Role.TEACHER)
