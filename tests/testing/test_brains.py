"""One responder plays student and teacher, so that a skill really improves."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from reflact.benchmarks.protocol import Rule
from reflact.testing import Brain, Known, SeenMessage, SeenRequest, Wire

RULES = (Rule("Write one word.", 0.4), Rule("Write it in lower case.", 0.3, ("case",)))
KNOWN = [Known(f"Which word has number {n}?", f"word{n}", "case" if n % 2 else "") for n in range(200)]


def ask(*messages: tuple[str, str], schema: dict[str, Any] | None = None) -> SeenRequest:
    flat = tuple(SeenMessage(role, text) for role, text in messages)
    return SeenRequest(1, Wire.CHAT, "POST", "/v1/chat/completions", messages=flat, schema=schema)


def share_right(brain: Brain, skill: str, known: list[Known] = KNOWN) -> float:
    said = [brain(ask(("system", skill), ("user", entry.question))).text for entry in known]
    return sum(text == entry.answer for text, entry in zip(said, known, strict=True)) / len(known)


class TestStudent:
    def test_rules_in_the_skill_help(self) -> None:
        brain = Brain.of(KNOWN, RULES)
        assert share_right(brain, "# Skill") == pytest.approx(0.3, abs=0.12)
        assert share_right(brain, f"# Skill\n- {RULES[0].text}") == pytest.approx(0.7, abs=0.12)
        everything = "\n".join(rule.text for rule in RULES)
        assert share_right(brain, everything, KNOWN[1::2]) == 1.0

    def test_a_new_text_draws_anew_but_the_same_does_not(self) -> None:
        brain = Brain.of(KNOWN, RULES)

        def answers(skill: str) -> list[str]:
            return [brain(ask(("system", skill), ("user", entry.question))).text for entry in KNOWN]

        assert answers("one") == answers("one")
        assert answers("one") != answers("two")

    def test_without_noise_nothing_gets_worse(self) -> None:
        brain = Brain.of(KNOWN, RULES, noisy=False)
        for entry in KNOWN:
            poor = brain(ask(("system", "poor"), ("user", entry.question))).text == entry.answer
            rich = brain(ask(("system", RULES[0].text), ("user", entry.question))).text == entry.answer
            assert rich or not poor

    @pytest.mark.parametrize(
        ("prompt", "answer"),
        [
            ("[DOC] word7\n\nQuestion: {q}\n\nUse <answer>your answer</answer>", "<answer>{a}</answer>"),
            ("{q}\n\nReply with the record alone.", "{a}"),
            ("(A) other\n(B) {a}\n(C) {a} and more\n\nQuestion:\n{q}\n<answer>x</answer>", "<answer>B</answer>"),
            ("Question: {q}\nA. other\nB. third\nC. {a}\n\nChoose.", "C"),
        ],
        ids=["tags", "plain", "options", "letters"],
    )
    def test_answers_in_the_form_that_is_asked_for(self, prompt: str, answer: str) -> None:
        entry = KNOWN[3]
        asked = ask(("user", prompt.format(q=entry.question, a=entry.answer)))
        right = Brain.of(KNOWN, base=1.0)(asked).text
        wrong = Brain.of(KNOWN, base=0.0)(asked).text
        expected = answer.format(a=entry.answer)
        assert right.endswith(expected)
        assert not wrong.endswith(expected)

    def test_questions_of_several_lines_and_common_beginnings(self) -> None:
        known = [Known("Read:\none", "1"), Known("Read:\ntwo", "2"), Known("Read:\ntwo, three", "3")]
        brain = Brain.of(known, base=1.0)
        assert [brain(ask(("user", entry.question))).text for entry in known] == ["1", "2", "3"]

    def test_a_question_inside_a_line_is_found_too(self) -> None:
        assert Brain.of(KNOWN, base=1.0)(ask(("user", f"Please say: {KNOWN[9].question} Thanks."))).text == "word9"


EDIT = {
    "type": "object",
    "properties": {
        "op": {"enum": ["append", "insert_after", "replace", "delete"]},
        "target": {"type": ["string", "null"]},
        "content": {"type": ["string", "null"]},
    },
    "required": ["op", "target", "content"],
    "additionalProperties": False,
}


def an_object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def a_list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
PATCH = an_object(reasoning=TEXT, edits=a_list(EDIT))
FAILURES = a_list(an_object(failure_type=TEXT, count=NUMBER, description=TEXT))
ANALYSIS = an_object(failure_summary=FAILURES, patch=PATCH)
SUGGESTION = an_object(
    type={"enum": ["add_rule", "clarify"]}, title=TEXT, motivation=TEXT, instruction=TEXT, sources=a_list(NUMBER)
)
SCHEMAS = {
    "failure": ANALYSIS,
    "success": an_object(success_patterns=a_list(TEXT), patch=PATCH),
    "ranking": an_object(reasoning=TEXT, indices=a_list(NUMBER)),
    "suggestions": an_object(reasoning=TEXT, suggestions=a_list(SUGGESTION)),
    "rewrite": an_object(skill=TEXT, change_summary=TEXT),
    "slow update": an_object(reasoning=TEXT, slow_update_content=TEXT),
    "meta skill": an_object(reasoning=TEXT, meta_skill_content=TEXT),
    "learning rate": an_object(
        learning_rate={"type": "integer", "minimum": 0},
        reasoning=TEXT,
        confidence={"enum": ["low", "medium", "high"]},
        risk_notes=TEXT,
    ),
    "meta reflect": an_object(meta_summary=TEXT, patch=PATCH),
    "diagnose": an_object(instruction=TEXT),
}


class TestTeacher:
    @pytest.mark.parametrize("name", SCHEMAS)
    @pytest.mark.parametrize("structured", [True, False], ids=["structured", "in the prompt"])
    def test_every_reply_is_valid(self, name: str, structured: bool) -> None:
        schema = SCHEMAS[name]
        prompt = f'Skill:\n<skill>\n# Skill\n</skill>\nAn item said {{"x": 1}}. {KNOWN[0].question}'
        if not structured:
            prompt += f"\n\nReply with JSON that follows:\n\n```json\n{json.dumps(schema, indent=2)}\n```"
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", prompt), schema=schema if structured else None)).text)
        jsonschema.validate(reply, schema)

    def test_an_analyst_proposes_a_rule_that_is_missing(self) -> None:
        prompt = f"<skill>\n- {RULES[0].text}\n</skill>"
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", prompt), schema=ANALYSIS)).text)
        (edit,) = reply["patch"]["edits"]
        assert edit == {"op": "append", "target": None, "content": f"- {RULES[1].text}"}

    def test_when_nothing_is_missing_it_still_proposes_something(self) -> None:
        prompt = "\n".join(rule.text for rule in RULES)
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", prompt), schema=ANALYSIS)).text)
        assert reply["patch"]["edits"][0]["content"] not in prompt

    def test_a_merge_keeps_each_edit_once_with_its_sources(self) -> None:
        shown = [{"op": "append", "target": None, "content": text} for text in ("- a", "- b", "- a")]
        listing = "\n".join(f"{index}. {json.dumps(edit)}" for index, edit in enumerate(shown))
        merged = {**EDIT, "properties": {**EDIT["properties"], "sources": a_list(NUMBER)}}
        schema = an_object(reasoning=TEXT, edits=a_list(merged))
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", listing), schema=schema)).text)
        assert [(edit["content"], edit["sources"]) for edit in reply["edits"]] == [("- a", [0, 2]), ("- b", [1])]

    def test_what_was_tried_before_is_not_taken_for_a_proposal(self) -> None:
        tried = {"op": "append", "target": None, "content": "- tried"}
        proposed = [{"number": n, **tried, "content": f"- new {n}", "support_count": 2} for n in range(2)]
        prompt = "\n".join(json.dumps(change) for change in (tried, *proposed))
        merged = {**EDIT, "properties": {**EDIT["properties"], "sources": a_list(NUMBER)}}
        schema = an_object(reasoning=TEXT, edits=a_list(merged))
        brain = Brain.of(KNOWN, RULES)
        edits = json.loads(brain(ask(("user", prompt), schema=schema)).text)["edits"]
        assert [(edit["content"], edit["sources"]) for edit in edits] == [("- new 0", [0]), ("- new 1", [1])]
        assert json.loads(brain(ask(("user", prompt), schema=SCHEMAS["ranking"])).text)["indices"] == [0, 1]

    def test_drafts_in_blocks_become_one_with_all_lessons(self) -> None:
        drafts = "\n".join(
            f'<data-1f name="draft {n}">\n# Skill\n- {rule.text}\n</data-1f>' for n, rule in enumerate(RULES)
        )
        prompt = f'<data-1f name="skill">\n# Skill\n\n- Old line.\n</data-1f>\n{drafts}'
        schema = an_object(reasoning=TEXT, skill=TEXT, sources=a_list(NUMBER))
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", prompt), schema=schema)).text)
        assert reply["sources"] == [0, 1]
        assert all(line in reply["skill"] for line in ("- Old line.", *(rule.text for rule in RULES)))

    def test_a_ranking_names_every_edit_shown(self) -> None:
        listing = json.dumps([{"op": "append", "target": None, "content": f"- {n}"} for n in range(5)])
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", listing), schema=SCHEMAS["ranking"])).text)
        assert reply["indices"] == [0, 1, 2, 3, 4]

    def test_a_rewrite_keeps_the_skill_and_carries_the_suggestions_out(self) -> None:
        suggestion = {"type": "add_rule", "instruction": f"Add this rule: {RULES[1].text}"}
        prompt = f"<skill>\n# My skill\n\n- Old line.\n</skill>\n\n{json.dumps([suggestion])}"
        reply = json.loads(Brain.of(KNOWN, RULES)(ask(("user", prompt), schema=SCHEMAS["rewrite"])).text)
        assert reply["skill"] == f"# My skill\n\n- Old line.\n- {RULES[1].text}\n"

    def test_useless_lines_can_be_dialled_in(self) -> None:
        brain = Brain.of(KNOWN, RULES, useless_rate=0.5)
        texts = [brain(ask(("user", f"minibatch {n}"), schema=ANALYSIS)).text for n in range(100)]
        useful = sum(any(rule.text in text for rule in RULES) for text in texts)
        assert 25 < useful < 75


def test_training_by_hand_goes_up() -> None:
    """What a loop does: analyse, append, measure."""
    brain = Brain.of(KNOWN, RULES)
    skill, scores = "# Skill\n", []
    for _ in range(3):
        scores.append(share_right(brain, skill))
        reply = json.loads(brain(ask(("user", f"<skill>\n{skill}\n</skill>"), schema=ANALYSIS)).text)
        skill += reply["patch"]["edits"][0]["content"] + "\n"
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 0.3
