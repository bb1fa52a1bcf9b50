"""Where in the study a run belongs: a group of the axes, a benchmark, a value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflact.config.axes import Axes

DEFAULT = "DEFAULT"
NO_SKILL = "NO-SKILL"
GRID = "GRID"
"""Group of the points of a sweep over any keys, which have no id of the study."""
BEST_SKILL = "HARNESS-BESTSKILL"
BEST_SETTING = "HARNESS-BESTSETTING"
AGENTS = {"HARNESS-Codex": "codex", "HARNESS-Claude": "claude"}
"""Groups of the agents' plans, with what the runs with default settings call the harness."""

SEED = "train.seed"
_PLACES = frozenset({"env.split_root", "env.data_root", "env.image_root"})
_SEED_SUFFIX = re.compile(r"[-_+.](?:train\.)?seed[=_-]?\d+$")
_AGENT = re.compile(r"(HARNESS-(?:Codex|Claude))-([^-]+)-(.+)")
_BEST = re.compile(r"(HARNESS-BEST(?:SETTING|SKILL))-(.+)-(codex|claude)")
_SHORT = {"Spreadsheet": "spreadsheetbench", "LiveMath": "livemathematicianbench", "DocVQA10": "docvqa"}

_OTHER_GROUPS = (DEFAULT, NO_SKILL, GRID, BEST_SKILL, BEST_SETTING, *AGENTS)

Rest = frozenset[str]
"""What a configuration sets beside the axes, as `key=value` texts."""


@dataclass(frozen=True, slots=True)
class Point:
    """A cell of the study.

    Attributes:
        group: `LR`; `LR+BATCH` where several axes differ.
        benchmark: Name of the benchmark.
        value: Label of the value; `8+24` where several axes differ.
    """

    group: str
    benchmark: str
    value: str

    @property
    def name(self) -> str:
        """The point in one word."""
        return "-".join((self.group, self.benchmark, self.value))


def point_of_id(run_id: str, benchmark: str, axes: Axes) -> Point | None:
    """Return the point that a run id names; None for an id of another form.

    Args:
        run_id: `LR-docvqa-8`, `DEFAULT-docvqa-5.5`, `HARNESS-Codex-DocVQA10-lr8`; the suffix of a repeat is left out.
        benchmark: The run's benchmark, `""` if only its id is known.
        axes: The axes.
    """
    name = _SEED_SUFFIX.sub("", run_id)
    if match := _BEST.fullmatch(name):
        return Point(match[1], benchmark or match[2], match[3])
    if match := _AGENT.fullmatch(name):
        return Point(match[1], benchmark or _SHORT.get(match[2], match[2].lower()), match[3])
    if name.startswith("skill-none-"):
        parts = _split(name, "skill-none", benchmark)
        return Point(NO_SKILL, *parts) if parts else None
    return _axis_point(name, benchmark, axes)


def _axis_point(name: str, benchmark: str, axes: Axes) -> Point | None:
    groups = [DEFAULT, *(axis.group for axis in axes.axes)]
    found: list[Point] = []
    for part in name.split("+"):
        group = next((group for group in groups if part.startswith(f"{group}-")), None)
        parts = _split(part, group, benchmark) if group else None
        if group is None or parts is None:
            return None
        found.append(Point(group, *parts))
    if len({point.benchmark for point in found}) != 1:
        return None
    return Point("+".join(point.group for point in found), found[0].benchmark, "+".join(point.value for point in found))


def _split(name: str, group: str, benchmark: str) -> tuple[str, str] | None:
    rest = name[len(group) + 1 :]
    if benchmark and rest.startswith(f"{benchmark}-"):
        return benchmark, rest[len(benchmark) + 1 :]
    # With the benchmark known, an id that names another one is none of ours.
    first, dash, value = rest.partition("-")
    return (first, value) if dash and value and not benchmark else None


def point_of_record(record: Mapping[str, Any], axes: Axes) -> tuple[Point | None, Rest]:
    """Return the point that a configuration is, by what it sets, and what it sets beside the axes and the seed.

    Args:
        record: Content of `config.json`.
        axes: The axes.
    """
    differing = record.get("config_diff")
    values = values_of(record)
    benchmark = str(record.get("benchmark") or "")
    if not isinstance(differing, Mapping) or not benchmark:
        return None, frozenset()
    changed = set(differing) - _PLACES - {SEED}
    chosen: dict[str, str] = {}
    fitting = [
        (axis.group, option)
        for axis in axes.axes
        for option in axis.options
        if all(key in values and values[key] == value for key, value in option.sets.items())
    ]
    for group, option in sorted(fitting, key=lambda pair: -len(pair[1].sets)):
        if group not in chosen and changed & option.sets.keys():
            chosen[group] = option.label
            changed -= option.sets.keys()
    rest = frozenset(f"{key}={json.dumps(values.get(key), sort_keys=True, default=str)}" for key in changed)
    if any(key in axis_keys(axes) for key in changed):
        return None, rest
    if not chosen:
        return Point(DEFAULT, benchmark, axes.label_of_student(str(values.get("model.student")))), rest
    groups = [group for group in axes.join if group in chosen]
    return Point("+".join(groups), benchmark, "+".join(chosen[group] for group in groups)), rest


def values_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that count of a configuration, by dotted key, with the name of the split."""
    identity = record.get("identity")
    values = dict(identity) if isinstance(identity, Mapping) else {}
    config = record.get("config")
    env = config.get("env") if isinstance(config, Mapping) else None
    if isinstance(env, Mapping) and "env.split" not in values:
        values["env.split"] = env.get("split")
    return values


def known_groups(axes: Axes) -> tuple[str, ...]:
    """Return the groups that the study knows; those of several axes are joined by `+`."""
    return (*(axis.group for axis in axes.axes), *_OTHER_GROUPS)


def axis_keys(axes: Axes, *groups: str) -> frozenset[str]:
    """Return the keys that some axes set; those of all axes if none is named."""
    return frozenset(
        key
        for axis in axes.axes
        if not groups or axis.group in groups
        for option in axis.options
        for key in option.sets
    )


def swept_keys(group: str, axes: Axes) -> frozenset[str]:
    """Return the keys in which runs of a group's table may differ."""
    if group in AGENTS:
        return axis_keys(axes) - axis_keys(axes, "SPLIT", "SMODEL")
    return axis_keys(axes, *group.split("+")) if group != DEFAULT and not group.startswith("HARNESS-") else frozenset()


def reference_point(point: Point, axes: Axes) -> Point | None:
    """Return the point of the run that a group's runs are compared with; None where there is none to compare with."""
    if point.group in AGENTS:
        return Point(BEST_SKILL, point.benchmark, AGENTS[point.group])
    if point.group in (DEFAULT, BEST_SKILL, BEST_SETTING):
        return None
    return Point(DEFAULT, point.benchmark, "")
