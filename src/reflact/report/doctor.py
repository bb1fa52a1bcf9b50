"""What must hold before money is spent: checks in order, each with what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reflact.core.errors import ExitCode, ReflactError
from reflact.report.text import clean


class Level(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor.

    Attributes:
        name: What was looked at.
        level: How it ended.
        message: What was found, and what to do where it is not well.
        exit_code: What a failed check makes the command end with.
    """

    name: str
    level: Level
    message: str
    exit_code: ExitCode = ExitCode.DONE


def ok(name: str, message: str) -> Check:
    """A check that found all well."""
    return Check(name, Level.OK, message)


def warning(name: str, message: str) -> Check:
    """Something that a person should know; the run would begin."""
    return Check(name, Level.WARNING, message)


def failed(name: str, message: str, exit_code: ExitCode = ExitCode.USAGE) -> Check:
    """Something that would stop the run."""
    return Check(name, Level.FAILED, message, exit_code)


def failure(name: str, error: Exception) -> Check:
    """What an exception says; one that is not ours names its type, for it may be a bug of a plug-in."""
    if isinstance(error, ReflactError):
        return failed(name, clean(error, 2000), error.exit_code)
    return failed(name, f"{type(error).__name__}: {clean(error, 1000)}", ExitCode.USAGE)


def attempt(name: str, check: Callable[[], Iterator[Check]]) -> Iterator[Check]:
    """Run a check; whatever it raises is its result, so that the other checks are made all the same."""
    try:
        yield from check()
    except Exception as error:  # noqa: BLE001 - the doctor reports what it meets, also the failures of plug-ins
        yield failure(name, error)


def examine(overrides: Sequence[str], probe: int = 0) -> Iterator[Check]:
    """Make all checks for the configuration that overrides compose; each is given as soon as it is made.

    Args:
        overrides: As for `reflact-train`.
        probe: Train items that the student does for real; 0 is none.
    """
    from reflact.report import doctor_data, doctor_models, doctor_place
    from reflact.report.doctor_probe import check_probe

    yield from attempt("python", doctor_place.check_python)
    configured = doctor_data.compose_checked(overrides)
    yield from configured.checks
    config = configured.config
    if config is None:
        return
    loaded = doctor_data.load(config)
    yield from loaded.checks
    yield from attempt("directory", lambda: doctor_place.check_directory(config))
    yield from attempt("memory", lambda: doctor_place.check_memory(config))
    models = list(doctor_models.check_models(config))
    yield from models
    if probe > 0 and loaded.data is not None:
        if any(check.level is Level.FAILED for check in models):
            yield warning("probe", "not made, since a model does not answer")
        else:
            data = loaded.data
            yield from attempt("probe", lambda: check_probe(config, data, probe))


def exit_code(checks: Sequence[Check]) -> ExitCode:
    """Return the code of the whole: configuration and data first, then the directory, then services."""
    codes = {check.exit_code for check in checks if check.level is Level.FAILED}
    for code in (ExitCode.USAGE, ExitCode.REFUSED, ExitCode.UNAVAILABLE):
        if code in codes:
            return code
    return next(iter(sorted(codes)), ExitCode.DONE)
