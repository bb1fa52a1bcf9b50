"""Everything that is checked before a directory is claimed or a call is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.protocol import Benchmark, Finding, Split
from reflact.benchmarks.registry import load_benchmark
from reflact.config.check import check
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, DataError
from reflact.core.hashing import text_digest
from reflact.core.names import Part
from reflact.engine.batches import Schedule, make_schedule
from reflact.engine.gate import improvements_needed
from reflact.rundir.short_text import read_short_text

MOST_SKILL_BYTES = 1 << 20
"""No model reads more than this before each task."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A configuration with the content that it names.

    Attributes:
        config: The configuration.
        benchmark: The benchmark.
        split: Its items.
        schedule: Sizes and seeds.
        skill: Text of the initial skill (or of the skill to evaluate).
        warnings: What a person should know before spending money.
    """

    config: Config
    benchmark: Benchmark
    split: Split
    schedule: Schedule
    skill: str
    warnings: tuple[Finding, ...]

    @property
    def contents(self) -> Mapping[str, str]:
        """What the paths of the configuration hold: fingerprints instead of names, for the run's identity."""
        return {
            "split": self.split.fingerprint,
            "skill": text_digest(self.skill),
        }


def prepare(config: Config, *, skill: str | None = None) -> Prepared:
    """Check the configuration and load what it names.

    Args:
        config: The configuration.
        skill: What names the skill, if not `env.skill_init`: a path, `default` or `none`.

    Raises:
        ConfigError: A value is not allowed, or data are missing or malformed.
    """
    findings = [Finding("warning", "config", message) for message in check(config)]
    benchmark = load_benchmark(config)
    split = benchmark.load()
    findings += benchmark.check(split)
    errors = [finding.message for finding in findings if finding.level == "error"]
    if errors:
        raise DataError("; ".join(errors))
    schedule = make_schedule(config.train, len(split.parts[Part.TRAIN]))
    findings += _gate_findings(config, len(split.parts[Part.VAL]))
    text = read_skill(benchmark, config.env.skill_init if skill is None else skill)
    return Prepared(config, benchmark, split, schedule, text, tuple(findings))


def read_skill(benchmark: Benchmark, name: str) -> str:
    """Return a skill's text: `default` is the benchmark's own, `none` is no skill, anything else is a path.

    Raises:
        ConfigError: The file cannot be read.
    """
    if name == "default":
        return benchmark.initial_skill()
    if name == "none":
        return ""
    instead = "give a Markdown file, `default` (the benchmark's own initial skill) or `none`"
    return read_short_text(Path(name), "the skill", MOST_SKILL_BYTES, instead)


def _gate_findings(config: Config, size: int) -> list[Finding]:
    evaluation = config.evaluation
    n = min(size, evaluation.sel_env_num) if evaluation.sel_env_num > 0 else size
    findings = []
    if n < 10:
        findings.append(
            Finding("warning", "small_selection", f"the selection split has only {n} items: the gate will be noisy")
        )
    if evaluation.use_gate and evaluation.gate_rule == "paired":
        needed = improvements_needed(evaluation.gate_alpha, n)
        if needed is None:
            raise ConfigError(
                f"evaluation.gate_rule=paired with gate_alpha={evaluation.gate_alpha} can accept nothing on "
                f"{n} selection items: even {n} improvements and no worsening would not reach it. Take more selection "
                "items, a larger evaluation.gate_alpha, or evaluation.gate_rule=strict"
            )
        if needed <= 5:
            message = f"{needed} improved items are enough for the paired rule (alpha {evaluation.gate_alpha})"
            findings.append(Finding("warning", "weak_evidence", message))
    return findings
