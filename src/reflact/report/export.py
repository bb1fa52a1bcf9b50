"""A trained skill as an Agent Skills folder: `<name>/SKILL.md` with front matter.

The form is that of https://agentskills.io/specification: `name` equals the folder's name and has at most 64 lower-case
letters, digits and single hyphens; `description` has 1 to 1024 characters and says what the skill is for and when.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from reflact.core.errors import ConfigError, Refused
from reflact.core.names import RunState
from reflact.report.outputs import output_folder, writing
from reflact.report.summaries import SummaryView
from reflact.report.text import clean
from reflact.rundir.atomic import write_text
from reflact.rundir.encoding import text_bytes
from reflact.rundir.layout import RunLayout
from reflact.rundir.view import view_run

FILE = "SKILL.md"
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
RESERVED = ("anthropic", "claude")
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True)
class AgentSkill:
    """A skill with its front matter."""

    name: str
    description: str
    metadata: Mapping[str, str]
    body: str

    def text(self) -> str:
        """Return the content of `SKILL.md`."""
        front = {"name": self.name, "description": self.description, "metadata": dict(self.metadata)}
        head = yaml.safe_dump(front, sort_keys=False, allow_unicode=True, width=10_000)
        return f"---\n{head}---\n\n{self.body.strip()}\n"


def agent_skill(root: Path, name: str = "", description: str = "") -> AgentSkill:
    """Return the best skill of a complete run.

    Args:
        root: The run directory.
        name: The skill's name; by default made from the run's id.
        description: What the skill is for and when it is to be used; by default says on what it was trained.

    Raises:
        Refused: The run is not complete, or no training run.
        ConfigError: It is no run, name or description are outside the limits, or the skill is empty.
    """
    if not root.is_dir():
        raise ConfigError(f"{root} is no directory; reflact export takes a run directory: reflact status shows them")
    view = view_run(root)
    if not view.ours:
        raise ConfigError(
            f"{root} is no run directory; reflact status {shlex.quote(str(root))} shows the runs below it"
        )
    if view.summary is None:
        state = view.state.value if view.state is not None else "unfinished"
        way = "its best skill may still change: let it end first (run.resume=true)"
        raise Refused(
            f"{root} was refused: {state}; {way}. Only the skill of a run that is {RunState.DONE} is exported."
        )
    summary = SummaryView(view.summary)
    path = RunLayout(root).best_skill
    if summary.text("kind") == "evaluation" or not path.is_file():
        raise Refused(f"{root} was refused: it holds an evaluation or no {path.name}; only training makes a skill")
    skill = AgentSkill(
        name=name or default_name(summary.text("run_id")),
        description=clean(description) or default_description(summary),
        metadata=_metadata(summary),
        body=path.read_text(encoding="utf-8"),
    )
    problems = check(skill.text(), skill.name)
    if problems:
        raise ConfigError(f"{root} cannot be exported: {'; '.join(problems)}")
    return skill


def default_name(run_id: str) -> str:
    """Return a valid name made from a run's id."""
    text = re.sub(r"[^a-z0-9]+", "-", run_id.lower())
    for word in RESERVED:
        text = text.replace(word, "agent")
    return text[:LONGEST_NAME].strip("-") or "skill"


def default_description(summary: SummaryView) -> str:
    """Return what a run can say of its skill."""
    benchmark, student = summary.text("benchmark"), summary.text("student")
    score = summary.score("best", "test")
    text = f"How to do tasks of the kind of the benchmark {benchmark}. Use it for tasks of that kind."
    if score is not None and score.hard is not None:
        text += f" Measured with {student}: {score.hard:.3f} on {score.scored} test items."
    if summary.flag("simulated"):
        text += " SIMULATED: made by a rehearsal, not by real models."
    return clean(text.replace("<", "(").replace(">", ")"), LONGEST_DESCRIPTION)


def _metadata(summary: SummaryView) -> dict[str, str]:
    names = ("run_id", "benchmark", "harness", "student", "teacher", "code_version")
    values = {name: clean(summary.text(name)) for name in names}
    values["skill_sha256"] = summary.text("best", "skill_sha256")
    values["split"] = clean(f"{summary.text('split', 'name')} {summary.text('split', 'fingerprint')[:12]}")
    for part in ("selection", "test"):
        score = summary.score("best", part)
        if score is not None and score.hard is not None:
            values[part] = f"{score.hard:.3f} n={score.scored}"
    for flag in ("simulated", "sample"):
        if summary.flag(flag):
            values[flag] = "true"
    return values


def check(text: str, folder: str) -> list[str]:
    """Return what is wrong with the text of a `SKILL.md`, as a reader of the format would see it."""
    match = re.match(r"---\n(.*?\n)---\n(.*)", text, re.DOTALL)
    if match is None:
        return [f"{FILE} has no front matter"]
    try:
        front = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        return [f"the front matter is no YAML: {error}"]
    if not isinstance(front, Mapping):
        return ["the front matter is no mapping"]
    name, description = front.get("name"), front.get("description")
    problems = []
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        problems.append(f"name={name!r}: 1 to {LONGEST_NAME} lower-case letters, digits and single hyphens are needed")
    elif name != folder:
        problems.append(f"name={name!r} must equal the folder's name {folder!r}")
    elif any(word in name for word in RESERVED):
        problems.append(f"name={name!r}: {' and '.join(RESERVED)} are reserved words")
    if not isinstance(description, str) or not 1 <= len(description.strip()) <= LONGEST_DESCRIPTION:
        length = len(description) if isinstance(description, str) else 0
        problems.append(f"the description has {length} characters; 1 to {LONGEST_DESCRIPTION} are needed")
    elif re.search(r"<[^>]*>", description):
        problems.append("the description holds a tag (<...>)")
    if not match[2].strip():
        problems.append("the skill is empty")
    return problems


def write_agent_skill(skill: AgentSkill, out: Path) -> Path:
    """Write `<out>/<name>/SKILL.md` and return the folder.

    Raises:
        ConfigError: `out` is no folder, or cannot be written.
        Refused: The folder exists with another content, or lies in a run directory.
    """
    folder = out / skill.name
    path = folder / FILE
    output_folder(out, in_a_run=Refused)
    with writing(out):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            same = path.is_file() and path.read_bytes() == text_bytes(skill.text())
            if not same:
                raise Refused(f"{folder} was refused: it exists already; choose another --out or --name")
            return folder
        write_text(path, skill.text())
    return folder
