"""The command line of a planned run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflact.config.operation import SweepConfig
from reflact.config.overrides import override
from reflact.sweep.context import key_of
from reflact.sweep.existing import Wanted
from reflact.sweep.planned import Planned
from reflact.sweep.points import last_wins
from reflact.sweep.queue import Job

# What belongs to the sweep as a whole and means nothing (or something else) for one run.
_SWEEP_ONLY = ("hydra.sweep", "hydra/sweeper", "hydra.launcher", "hydra/launcher", "hydra.mode", "hydra.run")
_REHEARSAL = (
    *("model.student_backend=rehearsal", "model.teacher_backend=rehearsal"),
    *("env.sample=true", "train.train_size=0"),
)


@dataclass(frozen=True, slots=True)
class JobLine:
    """Writes command lines.

    Attributes:
        root: The sweep's root.
        settings: The keys under `sweep.`.
        flags: Hydra's own flags (`--config-dir`).
        hydra: Overrides of Hydra's own keys on the sweep's command line.
    """

    root: str
    settings: SweepConfig
    flags: Sequence[str]
    hydra: Sequence[str]

    def job(self, entry: Planned, wanted: Wanted | None, number: int) -> Job:
        """Return the job of a planned run."""
        return Job(
            number=number,
            run_id=entry.point.run_id,
            benchmark=entry.point.benchmark,
            command=entry.point.command,
            arguments=self.arguments(entry),
            out_dir=str(entry.out_dir),
            identity="" if wanted is None else wanted.identity,
            code="" if wanted is None or wanted.any_code else wanted.code,
        )

    def arguments(self, entry: Planned) -> tuple[str, ...]:
        """Return the arguments of the command that does the run."""
        own = [line for line in self.hydra if not key_of(line).startswith(_SWEEP_ONLY)]
        place = [
            override("env.out_root", str(entry.out_dir)),
            override("run.resume", entry.resume),
            override("display.mode", "off"),
        ]
        return (*self.flags, *own, *last_wins([*self.overrides(entry), *place]))

    def overrides(self, entry: Planned) -> tuple[str, ...]:
        """Return the overrides of the run's configuration, without those that say where and how it is started."""
        lines = list(entry.point.overrides)
        if not any(key_of(line) == "evaluation.reuse" for line in lines):
            lines.append("evaluation.reuse=baseline")
        if self.settings.rehearse:
            lines += self._rehearsed(entry)
        lines.append(override("sweep.root", self.root))
        for key in ("max_tokens", "max_usd"):
            most = getattr(self.settings, key)
            if most > 0:
                lines.append(override(f"sweep.{key}", most))
        return last_wins(lines)

    @staticmethod
    def _rehearsed(entry: Planned) -> list[str]:
        """Swap the models and the data; what the run is called and stands for was settled before."""
        lacks = entry.point.source_skill and entry.config is not None and entry.config.env.skill_init == "default"
        return [*_REHEARSAL, *(["env.skill_init=default"] if lacks else [])]
