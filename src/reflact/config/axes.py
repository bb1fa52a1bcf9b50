"""The axes of the study: what their options are called, in which order they come, what they set."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from reflact.config.paths import conf_dir


@dataclass(frozen=True, slots=True)
class Option:
    """One value of an axis.

    Attributes:
        name: The option's name in Hydra (`lr8`).
        label: What it is called in run ids and tables (`8`).
        default: It equals the benchmarks' own value and is not run again.
        sets: Keys and values.
    """

    name: str
    label: str
    default: bool
    sets: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis.

    Attributes:
        group: Its name in run ids (`LR`).
        name: Its config group is `ablation/<name>`.
        doc: One sentence.
        options: Its values in the order of the tables.
    """

    group: str
    name: str
    doc: str
    options: tuple[Option, ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """All axes, in the order of the tables; `join` is the order of their groups in the id of a joint run."""

    axes: tuple[Axis, ...]
    join: tuple[str, ...]

    def label_of_student(self, model: str) -> str:
        """Return what a student is called in run ids (`gpt-5.5`: `5.5`); an unknown one by its own name."""
        for axis in self.axes:
            for option in axis.options:
                if option.sets.get("model.student") == model:
                    return option.label
        return model


@cache
def load_axes(conf: Path | None = None) -> Axes:
    """Read the axes from `conf/ablation`."""
    folder = (conf or conf_dir()) / "ablation"
    data = tomllib.loads((folder / "axes.toml").read_text(encoding="utf-8"))
    axes = tuple(
        Axis(item["group"], item["name"], item["doc"], tuple(_options(folder / item["name"], item)))
        for item in data["axis"]
    )
    return Axes(axes, tuple(data["join"]))


def choosing(lines: Sequence[str]) -> list[str]:
    """Return overrides without those that choose no value of an axis.

    `ablation/lr=null` is how the defaults list says that a benchmark keeps its own value, and how a grid can have that
    beside others (`ablation/lr=null,lr2`); Hydra takes no null for a group.
    """
    nothing = {f"ablation/{axis.name}=null" for axis in load_axes().axes}
    return [line for line in lines if line not in nothing]


def _options(folder: Path, item: Mapping[str, Any]) -> Iterator[Option]:
    for name, label in item["values"].items():
        sets = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
        yield Option(name, label, name == item.get("default"), dict(_flat(sets, "")))


def _flat(node: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value
