"""Hooks of the documentation site: the notes in `design/` are pages too, and links to them hold in the site as well."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.structure.files import File, Files

_TOP = Path(__file__).parents[2]
_NOTES = "design"
_LINK = re.compile(r"(\]\()((?:\.\./)+)(design|docs)/")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the design notes, which lie beside the documentation."""
    for path in sorted((_TOP / _NOTES).glob("*.md")):
        files.append(File.generated(config, f"{_NOTES}/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Point links that lead from one folder of the repository to the other at the pages of the site."""
    up = "../" * (len(PurePosixPath(page.file.src_uri).parts) - 1)

    def moved(match: re.Match[str]) -> str:
        return f"{match[1]}{up}{_NOTES + '/' if match[3] == _NOTES else ''}"

    return _LINK.sub(moved, markdown)
