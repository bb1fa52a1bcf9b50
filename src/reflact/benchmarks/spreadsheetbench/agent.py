"""The task for agent programs: the workbook lies in the workspace, and the script is left there as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reflact.benchmarks.prompts import Prompt
from reflact.benchmarks.spreadsheetbench.code import extract
from reflact.benchmarks.spreadsheetbench.form import cases_of, folder_of
from reflact.benchmarks.spreadsheetbench.workshop import INPUT, SCRIPT
from reflact.core.types import Item
from reflact.harness.agent import Assignment, Handed


@dataclass(frozen=True, slots=True)
class Desk:
    """What an agent finds, and what is taken from it.

    Attributes:
        root: The data folder.
        system: What an agent is told before the task.
        task: The task.
    """

    root: Path
    system: Prompt
    task: Prompt

    def assignment(self, item: Item, system: str, asked: dict[str, str]) -> Assignment:
        """Return what an agent gets. Of the item's files it is the first input alone, never a reference."""
        workbook = folder_of(item, self.root) / cases_of(item)[0].input
        return Assignment(
            system=system,
            prompt=self.task.fill(**asked),
            files={INPUT: workbook.read_bytes()},
            answer_file=SCRIPT,
            python=True,
        )


def script_of(handed: Handed) -> str | None:
    """Return the script that an agent left; None if the file holds none."""
    text = "" if handed.file is None else handed.file.decode("utf-8", "surrogateescape")
    if not text.strip():
        return None
    # Some write a block of Markdown into the file as they would into a message.
    fenced = extract(text) if text.lstrip().startswith("```") else None
    return text if fenced is None else fenced.text
