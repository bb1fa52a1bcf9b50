"""The reference of all keys and axes as Markdown: `python -m reflact.config.reference > docs/reference-config.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import get_type_hints

from reflact.config.axes import load_axes
from reflact.config.keys import Key, all_keys, show
from reflact.config.schema import Config

_HEAD = """\
# Reference: configuration

<!-- Written by `python -m reflact.config.reference`; change the declarations in src/reflact/config instead. -->

Every key, typed and closed: `key=value` on the command line sets it, an unknown key or a value that is not allowed
ends the command with exit code 2. The benchmark groups set some of them; `reflact-train benchmark=NAME --cfg job` shows
what a run would get. How groups, overrides and quoting work: [configuration.md](configuration.md).

A dot (•) marks keys that do not change what a run computes: they may differ when it is resumed, and are no part of its
identity. A path (▸) counts by the content of the file or folder.
"""


def render() -> str:
    """Return the reference."""
    parts = [_HEAD, *_sections(), _axes()]
    return "\n".join(parts)


def _sections() -> Iterator[str]:
    hints = get_type_hints(Config)
    top = [key for key in all_keys().values() if "." not in key.name]
    for item in fields(Config):
        node = hints[item.name]
        if is_dataclass(node):
            keys = [key for key in all_keys().values() if key.name.startswith(f"{item.name}.")]
            yield f"## {item.name}\n\n{_summary(node)}\n\n{_table(keys)}"
    yield f"## reflact-eval\n\nKeys of the evaluation command.\n\n{_table(top)}"


def _summary(node: object) -> str:
    return (getattr(node, "__doc__", "") or "").strip().partition("\n\n")[0]


def _table(keys: list[Key]) -> str:
    rows = ["| key | default | takes | meaning |", "|---|---|---|---|"]
    for key in keys:
        mark = (" •" if key.free else "") + (" ▸" if key.path else "")
        rows.append(
            f"| `{key.name}`{mark} | `{_cell(show(key.default))}` | {_cell(key.allowed())} | {_cell(key.doc)} |"
        )
    return "\n".join(rows) + "\n"


def _axes() -> str:
    rows = ["| group in run ids | `ablation/...` | option: label | sets |", "|---|---|---|---|"]
    for axis in load_axes().axes:
        names = ", ".join(
            f"`{option.name}`: {option.label}{' (default)' if option.default else ''}" for option in axis.options
        )
        keys = dict.fromkeys(key for option in axis.options for key in option.sets)
        rows.append(f"| {axis.group} | `{axis.name}` | {names} | {', '.join(f'`{key}`' for key in keys)} |")
    return "## Axes\n\nOptions of the groups `ablation/<axis>`; one of each may be chosen.\n\n" + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(render())
