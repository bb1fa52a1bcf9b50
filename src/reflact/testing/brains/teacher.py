"""The teacher's part: valid replies of every kind, made from the schema that is asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reflact.core.types import Json, Rule
from reflact.testing.brains.fabricate import fabricate
from reflact.testing.brains.prompts import changes_in, drafts_in, schema_in, skill_in
from reflact.testing.brains.student import chance
from reflact.testing.exchange import SeenRequest

_CHANGE_LISTS = ("edits", "suggestions", "changes", "drafts", "candidates")


@dataclass(frozen=True, slots=True)
class Teacher:
    """Answers structured requests with proposals to add rules.

    What is asked is told from the schema alone: merges want `sources`, rankings want `indices`, and so on; unknown
    properties get something valid.

    Attributes:
        rules: Lines that help students, proposed where the prompt does not show them yet.
        seed: Seed of all chance.
        changes_per_reply: Most changes that one reply proposes.
        useless_rate: Share of replies that propose a line without any effect.
    """

    rules: tuple[Rule, ...] = ()
    seed: int = 0
    changes_per_reply: int = 1
    useless_rate: float = 0.0

    def answer(self, seen: SeenRequest) -> str | None:
        """Return the reply as JSON, None if no structured reply is asked for."""
        schema = seen.schema if seen.schema is not None else schema_in(seen.text)
        if schema is None:
            return None
        return json.dumps(fabricate(schema, self._proposals(schema, seen.text)), ensure_ascii=False)

    def _proposals(self, schema: Mapping[str, Any], prompt: str) -> dict[str, Json]:
        shown = changes_in(prompt)
        merging = _mentions(schema, "sources")
        count = len(shown) or drafts_in(prompt) or 1
        changes = _merged(shown) if merging and shown else self._new_changes(prompt)
        draft = self._draft(prompt)
        return {
            **dict.fromkeys(_CHANGE_LISTS, changes),
            "reasoning": "The failures share one cause, and one line can remove it.",
            "failure_summary": [_failure_type()],
            "success_patterns": ["The reply kept to the form that was asked for."],
            "indices": list(range(count)),
            "sources": list(range(count)),
            "skill": draft,
            "change_summary": "A rule was added.",
            "slow_update_content": f"- Keep what improved.\n- {self._lines(prompt)[0]}",
            "meta_skill_content": "- Small edits that name a form helped; general advice did not.",
            "meta_summary": "The epoch's accepted edits name a form.",
            "instruction": "State in one sentence what decided the answer before giving it.",
            "learning_rate": 2,
            "confidence": "medium",
            "risk_notes": "Few items stand behind the evidence.",
        }

    def _new_changes(self, prompt: str) -> list[dict[str, Json]]:
        return [_change(line, self._draft(prompt)) for line in self._lines(prompt)[: self.changes_per_reply]]

    def _lines(self, prompt: str) -> list[str]:
        """Return lines to propose: rules that the prompt does not show, in an order that depends on the prompt."""
        useless = f"Read the task once more before answering ({int(chance(self.seed, prompt) * 1000)})."
        missing = [rule.text for rule in self.rules if rule.text not in prompt]
        if not missing or chance(self.seed, "useless", prompt) < self.useless_rate:
            return [useless]
        first = int(chance(self.seed, "first", prompt) * len(missing))
        return missing[first:] + missing[:first]

    def _draft(self, prompt: str) -> str:
        """Return the prompt's skill with the rules that the prompt speaks of, or else with a new one."""
        skill = skill_in(prompt)
        spoken = [rule.text for rule in self.rules if rule.text in prompt and rule.text not in skill]
        added = "\n".join(f"- {line}" for line in spoken or self._lines(prompt)[:1])
        return f"{skill or '# Skill'}\n{added}\n"


def _change(line: str, draft: str) -> dict[str, Json]:
    """Return a change in all its forms at once; the schema picks the keys that it knows."""
    return {
        "op": "append",
        "target": None,
        "content": f"- {line}",
        "type": "add_rule",
        "title": line[:40],
        "motivation": "Failures of this minibatch would have been avoided.",
        "instruction": f"Add this rule: {line}",
        "skill": draft,
        "sources": [0],
    }


def _merged(shown: Sequence[Mapping[str, Any]]) -> list[dict[str, Json]]:
    """Return the changes shown, equal ones once, each with the indices that it came from."""
    merged: dict[str, dict[str, Json]] = {}
    for place, change in enumerate(shown):
        body = {key: value for key, value in change.items() if key != "sources"}
        text = str(body.get("content") or body.get("instruction") or body.get("skill"))
        merged.setdefault(text, {**body, "sources": []})["sources"].append(change.get("number", place))
    return list(merged.values())


def _failure_type() -> dict[str, Json]:
    return {"failure_type": "wrong_form", "count": 1, "description": "The answer is not in the form asked for."}


def _mentions(schema: Json, name: str) -> bool:
    """Whether a property of this name occurs anywhere in a schema."""
    if isinstance(schema, dict):
        return name in schema.get("properties", {}) or any(_mentions(value, name) for value in schema.values())
    return isinstance(schema, list) and any(_mentions(value, name) for value in schema)
