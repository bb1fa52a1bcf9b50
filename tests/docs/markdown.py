"""The pages of the documentation as data: code blocks, commands, links, anchors."""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

TOP = Path(__file__).parents[2]
SHELL = ("sh", "bash")
_NOTE = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
_HEREDOC = re.compile(r"<<-?\s*'?(\w+)'?")
_PROGRAM = re.compile(r"(?:\w+=\S*\s+)*(reflact|reflact-train|reflact-eval)\s")


@dataclass(frozen=True)
class Block:
    """A code block: where it stands, its language, its text, and the comments in front of it."""

    page: Path
    line: int
    language: str
    text: str
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(TOP)}:{self.line}"

    def note(self, kind: str) -> str | None:
        """What the comment that begins with these words goes on to say; None if there is none."""
        return next((note[len(kind) :].strip(" :") for note in self.notes if note.startswith(kind)), None)

    @property
    def commands(self) -> list[str]:
        """The commands of a shell block, those of several lines as one; comments and what is fed in are left out."""
        found: list[str] = []
        lines = iter(self.text.splitlines())
        for line in lines:
            command = line
            while command.endswith("\\"):
                command = command[:-1] + " " + next(lines, "").strip()
            if document := _HEREDOC.search(command):
                for inside in lines:
                    if inside.strip() == document[1]:
                        break
            if command.strip() and not command.lstrip().startswith("#"):
                found.append(command.strip())
        return found


def pages() -> list[Path]:
    """Every page that a user may read."""
    named = [TOP / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [
        *named,
        TOP / "data/README.md",
        *sorted((TOP / "docs").rglob("*.md")),
        *sorted((TOP / "design").glob("*.md")),
    ]


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def blocks(page: Path) -> Iterator[Block]:
    notes: list[str] = []
    for token in tokens(page):
        if token.type == "html_block":
            notes += [" ".join(note.split()) for note in _NOTE.findall(token.content)]
            continue
        if token.type in ("fence", "code_block"):
            line = token.map[0] + 1 if token.map else 0
            yield Block(page, line, token.info.split(" ")[0], token.content, tuple(notes))
        notes = []


def own_commands(block: Block) -> list[list[str]]:
    """The commands of ours in a block, as words, without what sets variables and what goes into files."""
    found = []
    for command in block.commands:
        if _PROGRAM.match(command):
            words = shlex.split(command, comments=True)
            start = next(i for i, word in enumerate(words) if word.startswith("reflact"))
            found.append(_until_redirection(words[start:]))
    return found


def _until_redirection(words: list[str]) -> list[str]:
    end = next(
        (i for i, word in enumerate(words) if word in ("&", "|", ";", "&&") or word.startswith((">", "2>"))), None
    )
    return words[:end]


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as both GitHub and the site make them."""
    found: set[str] = set()
    inside = False
    for token in tokens(page):
        if token.type == "heading_open":
            inside = True
        elif token.type == "inline" and inside:
            inside = False
            text = "".join(child.content for child in token.children or [] if child.type in ("text", "code_inline"))
            found.add(github_slug(text))
    return found


def github_slug(text: str) -> str:
    kept = "".join(c for c in text.strip().lower() if c in " -_" or unicodedata.category(c)[0] in "LN")
    return kept.replace(" ", "-")


def links(page: Path) -> Iterator[tuple[int, str]]:
    """Line and target of every link and image."""
    for token in tokens(page):
        for child in token.children or []:
            target = child.attrGet("href") if child.type == "link_open" else child.attrGet("src")
            if target:
                yield (token.map[0] + 1 if token.map else 0, str(target))
