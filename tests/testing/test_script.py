"""Scripts as JSON: the first rule that matches gives its next action."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reflact.testing import Fault, FaultKind, Reply, SeenMessage, SeenRequest, ToolCall, Wire, read_script
from reflact.testing.brains import Brain
from reflact.testing.server.script import ScriptError, read_action


def seen(text: str, wire: Wire = Wire.CHAT, **more: Any) -> SeenRequest:
    return SeenRequest(1, wire, "POST", "/v1/x", messages=(SeenMessage("user", text),), **more)


def test_twice_429_then_fine() -> None:
    limited = {"status": 429, "retry_after_s": 1}
    script = read_script({"rules": [{"match": {"text": "clocks"}, "actions": [limited, limited, "7 | clocks"]}]})
    answers = [script(seen("seven clocks")) for _ in range(4)]
    assert answers == [Fault.http(429, retry_after_s=1)] * 2 + [Reply("7 | clocks")] * 2


def test_what_no_rule_matches_goes_to_the_default() -> None:
    rules = [{"match": {"text": "a"}, "actions": ["A"]}]
    assert read_script({"rules": rules, "default": "D"})(seen("b")) == Reply("D")
    assert read_script({"rules": rules})(seen("b")) == Reply("b")


@pytest.mark.parametrize(
    ("match", "fits", "fits_not"),
    [
        ({"text": "a.c"}, seen("a\nc"), seen("ac")),
        ({"user": "^x"}, seen("xy"), seen("yx")),
        ({"model": "^gpt"}, seen("", model="gpt-5.5"), seen("", model="my-gpt")),
        ({"path": "/v1/"}, seen(""), SeenRequest(1, Wire.CHAT, "POST", "/openai/x")),
        ({"wire": "responses"}, seen("", Wire.RESPONSES), seen("")),
        ({"parameter": "temperature"}, seen("", body={"temperature": 0}), seen("", body={})),
        ({"schema": True}, seen("", schema={}), seen("")),
        ({"schema": False}, seen(""), seen("", schema={})),
        ({"schema": "merge"}, seen("", schema={}, schema_name="final_merge"), seen("", schema={}, schema_name="rank")),
        ({"images": 1}, seen("", images=1), seen("")),
        ({"stream": True}, seen("", stream=True), seen("")),
        ({"repeat": 1}, seen("", repeat=1), seen("")),
    ],
)
def test_matches(match: dict[str, Any], fits: SeenRequest, fits_not: SeenRequest) -> None:
    script = read_script({"rules": [{"match": match, "actions": ["yes"]}], "default": "no"})
    assert (script(fits), script(fits_not)) == (Reply("yes"), Reply("no"))


def test_only_the_nth_of_the_matching_requests() -> None:
    rules = [{"match": {"text": "a", "nth": [2, 3]}, "actions": ["yes"]}]
    script = read_script({"rules": rules, "default": "no"})
    texts = [script(seen(text)).text for text in ("b", "a", "b", "a", "a", "a")]
    assert texts == ["no", "no", "no", "yes", "yes", "no"]


def test_actions() -> None:
    assert read_action({"reply": {"x": 1}, "finish_reason": "length"}) == Reply('{"x": 1}', finish_reason="length")
    calls = [{"name": "run", "arguments": {"cmd": "ls"}}]
    assert read_action({"reply": "", "tool_calls": calls}) == Reply(tool_calls=(ToolCall("run", {"cmd": "ls"}),))
    assert read_action({"fault": "hang"}) == Fault.hang()
    assert read_action({"fault": "reject_parameter", "parameter": "temperature"}) == Fault.reject("temperature")
    assert read_action({"status": 503, "body": {"a": 1}}) == Fault(FaultKind.STATUS, 503, body='{"a": 1}')


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ([], "script: wants an object"),
        ({"rule": []}, "script: unknown rule"),
        ({"rules": [{"actions": []}]}, r"rules\[0\]: wants at least one action"),
        ({"rules": [{"match": {"txt": "a"}, "actions": ["b"]}]}, r"rules\[0\].match: unknown txt"),
        ({"rules": [{"match": {"text": "("}, "actions": ["b"]}]}, r"rules\[0\].match.text: not a regular"),
        ({"rules": [{"match": {"wire": "smoke"}, "actions": ["b"]}]}, "no such wire format: smoke"),
        ({"default": {"fault": "fire"}}, "default: no such fault: fire"),
        ({"default": {"text": "x"}}, "default: wants one of"),
        ({"default": {"reply": "x", "colour": 1}}, "default: unknown colour"),
    ],
)
def test_a_mistake_is_named_with_its_place(script: Any, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        read_script(script)


def test_a_brain_answers_the_rest() -> None:
    brain = {"answers": {"What is 1+1?": "2"}, "base": 1.0}
    script = read_script({"rules": [{"match": {"nth": 1}, "actions": [{"status": 500}]}], "brain": brain})
    assert script(seen("What is 1+1?")) == Fault.http(500)
    assert script(seen("What is 1+1?")) == Reply("2")


@pytest.mark.parametrize(
    ("brain", "message"),
    [
        ({"answer": {}}, r"brain: unknown answer; known are answers, rules, seed"),
        ({"speed": 1, "answers": {}}, r"brain: unknown speed"),
        ([], r"brain: wants an object, has list"),
        ({"answers": []}, r"brain\.answers: wants an object, has list"),
        ({"answers": {"What?": 2}}, r"brain\.answers\['What\?'\]: wants str, has 2"),
        ({"rules": {}}, r"brain\.rules: wants a list, has dict"),
        ({"rules": [{"gain": 0.1}]}, r"brain\.rules\[0\]\.text: wants str, has null"),
        ({"rules": [{"text": "x", "weight": 1}]}, r"brain\.rules\[0\]: unknown weight"),
        ({"seed": "1"}, r"brain\.seed: wants int, has .1."),
        ({"base": True}, r"brain\.base: wants int or float, has true"),
    ],
)
def test_a_brain_that_cannot_be_read_is_named(brain: object, message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        read_script({"brain": brain})


def test_every_key_of_a_brain_is_known_to_scripts() -> None:
    own = {"answers": {}, "rules": [{"text": "x", "gain": 0.2, "task_types": ["a"]}]}
    options = {"seed": 1, "base": 0.5, "noisy": False, "changes_per_reply": 2, "useless_rate": 0.1}
    assert set(options) == {
        name for name, one in inspect.signature(Brain.of).parameters.items() if one.kind is one.KEYWORD_ONLY
    }
    read_script({"brain": {**own, **options}})


def test_the_server_as_a_process_says_what_is_wrong_with_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"brain": {"answer": {}}}))
    command = [sys.executable, "-m", "reflact.testing.server", "--script", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{script}: brain: unknown answer") and done.stderr.count("\n") == 1
