"""A reply is either the object asked for, or a sentence that says what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflact.optimizer import schemas
from reflact.optimizer.replies import InvalidReply, read_reply
from reflact.optimizer.types import Source, UpdateMode

RANKING = {"reasoning": "r", "indices": [1, 0]}
ALL: list[dict[str, Any]] = [
    *(schemas.analysis(mode, source) for mode in UpdateMode for source in (Source.FAILURE, Source.SUCCESS)),
    *(schemas.merge(mode) for mode in UpdateMode),
    schemas.ranking(),
    schemas.learning_rate(),
    schemas.rewrite(),
    schemas.slow_update(),
    schemas.meta_skill(),
    schemas.meta_reflect(),
    schemas.diagnosis(),
]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RANKING),
        f"```json\n{json.dumps(RANKING)}\n```",
        f"Here it is:\n{json.dumps(RANKING)}\nThat is all {{really}}.",
        f'<think>Shall it be {{"indices": [0]}}?</think>\n{json.dumps(RANKING)}',
        f'or {{"indices": [0]}}?\n</think>\n```json\n{json.dumps(RANKING)}\n```',
        json.dumps({**RANKING, "reasoning": "r"}) + " as said in <think>{}</think> {}",
    ],
)
def test_the_object_is_found_plain_fenced_between_sentences_or_behind_thoughts(text: str) -> None:
    assert read_reply(text, "stop", schemas.ranking()) == RANKING


def test_raw_line_ends_in_long_texts_are_read() -> None:
    reply = read_reply('{"skill": "# A\n\n- b", "change_summary": "c"}', "stop", schemas.rewrite())
    assert reply["skill"] == "# A\n\n- b"


def test_a_skill_may_speak_of_thoughts() -> None:
    text = json.dumps({"skill": "Write <think>{x}</think> {y}", "change_summary": "c"})
    assert read_reply(text, "stop", schemas.rewrite())["skill"] == "Write <think>{x}</think> {y}"


@pytest.mark.parametrize(
    ("text", "finish", "cause", "message"),
    [
        (json.dumps(RANKING), "length", "truncated", "cut off"),
        ("  ", "stop", "empty", "empty"),
        ("I cannot", "stop", "invalid", "no JSON object"),
        ('{"indices": [1', "stop", "invalid", "not valid JSON"),
        ('{"indices": [1]}', "stop", "invalid", "'reasoning' is a required property"),
        ('{"reasoning": "r", "indices": ["one"]}', "stop", "invalid", r"\$\.indices\[0\].*'one'"),
    ],
)
def test_what_cannot_be_used_says_why(text: str, finish: str, cause: str, message: str) -> None:
    with pytest.raises(InvalidReply, match=message) as caught:
        read_reply(text, finish, schemas.ranking())
    assert caught.value.cause == cause


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (schemas.rewrite(), {"skill": " \n", "change_summary": ""}),
        (schemas.slow_update(), {"reasoning": "", "slow_update_content": ""}),
        (schemas.learning_rate(), {"learning_rate": -1, "reasoning": "", "confidence": "low", "risk_notes": ""}),
        (schemas.learning_rate(), {"learning_rate": 1.5, "reasoning": "", "confidence": "low", "risk_notes": ""}),
        (schemas.learning_rate(), {"learning_rate": 1, "reasoning": "", "confidence": "sure", "risk_notes": ""}),
    ],
)
def test_blank_skills_and_impossible_numbers_are_invalid(schema: dict[str, Any], value: dict[str, Any]) -> None:
    with pytest.raises(InvalidReply):
        read_reply(json.dumps(value), "stop", schema)


@pytest.mark.parametrize("schema", ALL)
def test_schemas_as_sent_keep_the_rules_of_strict_modes(schema: dict[str, Any]) -> None:
    sent = schemas.portable(schema)
    for part in objects(sent):
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
    assert not {"pattern", "minimum"} & keywords(sent)


def objects(schema: dict[str, Any]) -> list[dict[str, Any]]:
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    found = [schema] if "properties" in schema else []
    return found + [part for one in inner for part in objects(one)]


def keywords(schema: dict[str, Any]) -> set[str]:
    inner = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return {*schema, *(word for one in inner for word in keywords(one))}
