"""What a sweep's root is: which study, on which base configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from reflact.config.compose import Composer
from reflact.config.identity import difference, effective
from reflact.config.overrides import override
from reflact.core.errors import Refused
from reflact.sweep.command_line import varying
from reflact.sweep.context import key_of
from reflact.sweep.planned import Planned
from reflact.sweep.points import Given, Point

_PLACES = ("env.split_root", "env.split_dir", "env.data_root", "env.image_root")
"""Where the data lie; what is in them is compared by its fingerprint."""
_AXIS = "ablation/"


def plan_identity(
    name: str, base: Mapping[str, Any], swept: Sequence[str], planned: Iterable[Planned], *, rehearse: bool
) -> dict[str, Any]:
    """Return what must be equal for a sweep to go on in a root.

    Args:
        name: The plan's name, `grid` for a sweep without one.
        base: By benchmark: what all points share.
        swept: Keys that a grid sweeps; a named plan has none.
        planned: The points.
        rehearse: Whether the models are simulated.
    """
    splits: dict[str, Any] = {}
    skills: dict[str, str] = {}
    for entry in planned:
        if entry.facts is not None:
            splits.setdefault(f"{entry.point.benchmark} {entry.facts.split}", entry.facts.to_json())
            if entry.point.source_skill:
                skills.setdefault(entry.point.benchmark, entry.skill)
    whole = {"plan": name, "rehearse": rehearse, "axes": list(swept), "base": base}
    plain: dict[str, Any] = json.loads(json.dumps({**whole, "splits": splits, "source_skills": skills}))
    return plain


def base_of_plan(composer: Composer, given: Given, benchmarks: Iterable[str]) -> dict[str, Any]:
    """Return what all points of a named plan share, by benchmark."""
    names = dict.fromkeys(benchmarks)
    return {name: _shared(composer, [override("benchmark", name), *given.overrides]) for name in names}


def base_of_grid(composer: Composer, points: Sequence[Point]) -> tuple[dict[str, Any], list[str]]:
    """Return what all points of a grid share, by benchmark, and the keys that it sweeps.

    A value of one of our axes is a point's own, whether there are others of it today or not: its run is named by it.
    """
    swept = [key for key in varying([point.overrides for point in points]) if not key.startswith(_AXIS)]
    base: dict[str, Any] = {}
    for point in points:
        if point.benchmark not in base:
            kept = [line for line in point.overrides if key_of(line) not in swept and not line.startswith(_AXIS)]
            lines = kept if "benchmark" not in swept else [override("benchmark", point.benchmark), *kept]
            values = _shared(composer, lines)
            base[point.benchmark] = {key: value for key, value in values.items() if key not in swept}
    return base, sorted(swept)


def _shared(composer: Composer, overrides: Sequence[str]) -> dict[str, Any]:
    values = effective(composer.compose(overrides))
    return {key: value for key, value in values.items() if key not in _PLACES}


def require_same_study(old: Mapping[str, Any], new: Mapping[str, Any], where: str) -> None:
    """Make sure that a sweep belongs to the study in its root.

    Benchmarks, points and values of an axis may be added; what nobody knew before (a fingerprint of data that were not
    there) may become known.

    Raises:
        Refused: With the differences.
    """
    rows = [(key, old.get(key), new.get(key)) for key in ("plan", "rehearse", "axes") if old.get(key) != new.get(key)]
    for benchmark, base in new["base"].items():
        before = old.get("base", {}).get(benchmark)
        if before is not None and not rows:
            rows += difference(before, base)
    for split, facts in new["splits"].items():
        before = old.get("splits", {}).get(split, {}).get("fingerprint")
        if None not in (before, facts["fingerprint"]) and before != facts["fingerprint"]:
            rows.append((f"items of {split}", before, facts["fingerprint"]))
    for benchmark, digest in new["source_skills"].items():
        before = old.get("source_skills", {}).get(benchmark, digest)
        if before != digest and not before.startswith("the source skill"):
            rows.append((f"source skill of {benchmark}", before, digest))
    if rows:
        lines = "\n".join(f"  {key}: {_shown(before)} -> {_shown(now)}" for key, before, now in rows)
        raise Refused(
            f"{where} holds another study, so nothing was started (there -> now):\n{lines}\n"
            "Give the values of the study, or another root: hydra.sweep.dir=..."
        )


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
