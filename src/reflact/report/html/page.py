"""The page: its parts put together, with a policy that lets nothing but them run."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from reflact.report.html.study import RUN_COLUMNS, StudyView
from reflact.report.tables.grid import INVALID_COLUMNS
from reflact.report.text import clean

_ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "text", "dom", "packs", "chart", "curves", "forest", "scatter", "timeline", "spending", "tables", "study",
    "overview", "skill", "rows", "trajectories", "settings", "run", "theme", "main",
)  # fmt: skip
"""The page's scripts in the order in which they need one another."""
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|const) (\w+))", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pack:
    """Data that the page inflates when it is looked at: an id of ours and base64."""

    id: str
    text: str


def render(title: str, study: StudyView, index: str, packs: Sequence[Pack]) -> str:
    """Return the page.

    Args:
        title: Its heading.
        study: What is on the first page.
        index: The pack with what the scripts need at once.
        packs: The other packs.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_ASSETS),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters["clean"] = clean
    style, script = (_ASSETS / "report.css").read_text(encoding="utf-8"), bundle()
    page: str = environment.get_template("report.html.j2").render(
        title=title,
        study=study,
        run_columns=RUN_COLUMNS,
        invalid_columns=INVALID_COLUMNS,
        policy=policy(style, script),
        # Ours, and without anything that would end their elements; see `bundle`. Base64 has no `<` at all.
        style=Markup(style),
        script=Markup(script),
        index=Markup(index),
        packs=[(pack.id, Markup(pack.text)) for pack in packs],
    )
    return page + "\n"


def bundle() -> str:
    """Return the scripts as one: each stays a module with a scope of its own, and takes from others what it imports."""
    modules = "".join(_module(name, text) for name, text in sources().items())
    return f'"use strict";\n(() => {{\n{modules}}})();\n'


def _module(name: str, text: str) -> str:
    given = ", ".join(match[2] for match in _EXPORT.finditer(text))
    body = _EXPORT.sub(r"\1", _IMPORT.sub(r"const \1 = $\2;", text))
    return f"const ${name} = (() => {{\n{body}return {{ {given} }};\n}})();\n"


def sources() -> dict[str, str]:
    """Return the texts of the scripts by name, in order."""
    return {name: (_ASSETS / "js" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS}


def policy(style: str, script: str) -> str:
    """Return the content security policy: our script and style by their hashes, and nothing from anywhere else."""
    return "; ".join(_directives(style, script))


def _directives(style: str, script: str) -> Iterator[str]:
    yield "default-src 'none'"
    yield f"script-src '{_hash(script)}'"
    yield f"style-src '{_hash(style)}'"
    yield "base-uri 'none'"
    yield "form-action 'none'"
    # No text can become markup by way of a script either, whatever mistake is made in one.
    yield "require-trusted-types-for 'script'"
    yield "trusted-types 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"
