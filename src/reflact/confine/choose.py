"""Choosing the means of confinement that the configuration asks for and the machine has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from reflact.confine.bubblewrap import Bubblewrap
from reflact.confine.job import Confinement
from reflact.confine.plain import Unconfined
from reflact.confine.probe import problem_of, programs
from reflact.core.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Choice:
    """The means of a run.

    Attributes:
        confinement: Runs jobs.
        reason: Why jobs are not confined; `""` where they are.
    """

    confinement: Confinement
    reason: str = ""

    @property
    def record(self) -> str:
        """What rows and settings say: the means' name, or `unsandboxed`."""
        return self.confinement.name if self.confinement.confined else "unsandboxed"


def choose(
    mode: str,
    candidates: Callable[[], Iterable[Path]] = programs,
    problem: Callable[[Path], str | None] = problem_of,
) -> Choice:
    """Return the means that `env.sandbox` asks for; the machine is tried, once for each call.

    Args:
        mode: `auto`, `require` or `off`.
        candidates: Finds `bwrap` programs.
        problem: Tries one and says why it does not confine.

    Raises:
        Unavailable: `require`, and no program confines here; the message says why.
    """
    if mode == "off":
        return Choice(Unconfined(), "env.sandbox=off")
    problems = []
    for program in candidates():
        found = problem(program)
        if found is None:
            return Choice(Bubblewrap(program))
        problems.append(found)
    reason = "; ".join(problems) or "bubblewrap is not installed (no `bwrap` on PATH)"
    if mode == "require":
        raise Unavailable(
            f"env.sandbox=require: model-written code cannot be confined here: {reason}. Install bubblewrap "
            "(`apt-get install bubblewrap`), allow user namespaces, or choose env.sandbox=auto or off"
        )
    return Choice(Unconfined(), reason)
