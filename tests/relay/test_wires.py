from __future__ import annotations

import json

import pytest

from reflact.core.usage import Usage
from reflact.relay.visit import Proof
from reflact.relay.wires import Kind, Reading, Wire, images_in, kind_of


def events(*values: object) -> bytes:
    return b"".join(f"event: x\ndata: {json.dumps(value)}\n\n".encode() for value in values)


def test_usage_of_responses_counts_cached_tokens_once() -> None:
    usage = {
        "input_tokens": 100,
        "input_tokens_details": {"cached_tokens": 40},
        "output_tokens": 9,
        "output_tokens_details": {"reasoning_tokens": 3},
    }
    reading = Reading(Wire.RESPONSES, stream=True)
    stream = events({"type": "response.created"}, {"type": "response.completed", "response": {"usage": usage}})
    for start in range(0, len(stream), 7):  # events come in pieces of any size
        reading.feed(stream[start : start + 7])
    assert reading.complete
    assert reading.usage == Usage(prompt_tokens=100, cached_tokens=40, completion_tokens=9, reasoning_tokens=3)


def test_usage_of_messages_adds_what_was_cached_and_written_to_the_cache() -> None:
    start = {"input_tokens": 50, "cache_read_input_tokens": 40, "cache_creation_input_tokens": 10, "output_tokens": 1}
    reading = Reading(Wire.MESSAGES, stream=True)
    reading.feed(events({"type": "message_start", "message": {"usage": start}}, {"type": "ping"}))
    assert not reading.complete
    reading.feed(events({"type": "message_delta", "usage": {"output_tokens": 7}}, {"type": "message_stop"}))
    assert reading.complete
    assert reading.usage == Usage(prompt_tokens=100, cached_tokens=40, completion_tokens=7)


@pytest.mark.parametrize(
    ("reason", "end"),
    [("max_output_tokens", "length"), ("content_filter", "content_filter"), (None, "stop"), ("new one", "stop")],
)
def test_it_is_read_why_a_response_ended(reason: str | None, end: str) -> None:
    response = {"incomplete_details": reason and {"reason": reason}}
    stream = Reading(Wire.RESPONSES, stream=True)
    stream.feed(events({"type": "response.incomplete", "response": response}))
    whole = Reading(Wire.RESPONSES, stream=False)
    whole.feed(json.dumps(response).encode())
    whole.finish()
    assert stream.end == whole.end == end


@pytest.mark.parametrize(
    ("reason", "end"),
    [("max_tokens", "length"), ("refusal", "content_filter"), ("tool_use", "stop"), (None, "stop"), ([7], "stop")],
)
def test_it_is_read_why_a_message_ended(reason: object, end: str) -> None:
    stream = Reading(Wire.MESSAGES, stream=True)
    stream.feed(events({"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}))
    whole = Reading(Wire.MESSAGES, stream=False)
    whole.feed(json.dumps({"stop_reason": reason}).encode())
    whole.finish()
    assert stream.end == whole.end == end


def test_an_answer_in_one_piece_is_read_too() -> None:
    reading = Reading(Wire.MESSAGES, stream=False)
    reading.feed(b'{"usage": {"input_tokens": 5, ')
    reading.feed(b'"output_tokens": 2}}')
    reading.finish()
    assert reading.complete and reading.usage == Usage(prompt_tokens=5, completion_tokens=2)


ABSURD = (-5, 10**30, True, "7", None, 1e300, float("nan"), [3])


@pytest.mark.parametrize("absurd", ABSURD, ids=str)
def test_a_count_that_cannot_be_one_is_taken_as_not_said(absurd: object) -> None:
    responses = Reading(Wire.RESPONSES, stream=False)
    told = {"input_tokens": absurd, "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": absurd}}
    responses.feed(json.dumps({"usage": told}).encode())
    responses.finish()
    assert responses.usage == Usage(completion_tokens=7)
    messages = Reading(Wire.MESSAGES, stream=True)
    start = {"input_tokens": 5, "cache_read_input_tokens": absurd, "output_tokens": 3}
    messages.feed(events({"type": "message_start", "message": {"usage": start}}))
    messages.feed(events({"type": "message_delta", "usage": {"output_tokens": absurd}}))
    assert messages.usage == Usage(prompt_tokens=5, completion_tokens=3)


def test_a_part_is_never_more_than_the_whole() -> None:
    reading = Reading(Wire.RESPONSES, stream=False)
    told = {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 900}, "output_tokens": 2}
    reading.feed(json.dumps({"usage": {**told, "output_tokens_details": {"reasoning_tokens": 50}}}).encode())
    reading.finish()
    assert reading.usage == Usage(prompt_tokens=9, cached_tokens=9, completion_tokens=2, reasoning_tokens=2)


@pytest.mark.parametrize("strange", [None, 3, "x", [1], {"usage": [1], "error": 3, "message": 4}], ids=str)
def test_events_of_any_form_are_read(strange: object) -> None:
    for wire in Wire:
        reading = Reading(wire, stream=True)
        for kind in ("response.completed", "response.failed", "message_start", "message_delta", "error", 7, None):
            told = {"type": kind, "response": strange, "message": strange, "usage": strange, "error": strange}
            reading.feed(events(told, strange))
        reading.finish()
        assert reading.usage in (None, Usage())


def test_nothing_counted_is_not_zero() -> None:
    reading = Reading(Wire.RESPONSES, stream=True)
    reading.feed(events({"type": "response.created"}) + b"data: not json\n: a comment\n\n")
    reading.finish()
    assert reading.usage is None and not reading.complete


@pytest.mark.parametrize(
    ("wire", "method", "path", "kind"),
    [
        (Wire.RESPONSES, "POST", "/v1/responses", Kind.CALL),
        (Wire.RESPONSES, "GET", "/v1/models", Kind.MODELS),
        (Wire.RESPONSES, "GET", "/v1/responses", None),
        (Wire.RESPONSES, "POST", "/v1/messages", None),
        (Wire.RESPONSES, "POST", "/v1/responses/../files", None),
        (Wire.MESSAGES, "POST", "/v1/messages", Kind.CALL),
        (Wire.MESSAGES, "POST", "/v1/messages/count_tokens", Kind.COUNT),
        (Wire.MESSAGES, "POST", "/v1/files", None),
        (Wire.MESSAGES, "DELETE", "/v1/messages", None),
    ],
)
def test_only_calls_are_let_through(wire: Wire, method: str, path: str, kind: Kind | None) -> None:
    assert kind_of(wire, method, path) is kind


def test_skill_and_images_are_looked_for_wherever_they_may_stand() -> None:
    responses = {"input": [{"role": "developer", "content": [{"type": "input_text", "text": "Before\n# Skill é\nx"}]}]}
    messages = {
        "system": [{"type": "text", "text": "# Skill é\nx"}],
        "messages": [{"content": [{"type": "image", "source": {"data": "AA"}}, {"type": "text", "text": "q"}]}],
    }
    proof = Proof("\n# Skill é\nx\n")
    assert proof.missing(responses) is None and proof.missing(messages) is None
    assert Proof("other").missing(messages) == "the skill's text"
    assert Proof("", 1).missing(responses) == "the image"
    assert Proof("", 1).missing(messages) is None
    assert Proof(" \n").missing({}) is None
    assert images_in({"input": [{"type": "input_image", "image_url": "data:"}, {"type": "input_image"}]}) == 2
