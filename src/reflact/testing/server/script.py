"""Scripts: a responder written as JSON, for servers in a process of their own.

A script is `{"rules": [{"match": {...}, "actions": [...]}, ...], "default": action}`; `docs/testing.md` describes
it. The first rule that matches a request gives its next action; the last action repeats.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from reflact.testing.exchange import Answer, Fault, FaultKind, Reply, Responder, SeenRequest, ToolCall, Wire
from reflact.testing.server.app import echo

# Fields of `Match` that are searched for in the attribute of the same name of a request.
_SEARCHED = ("text", "system", "user", "model", "path")


class ScriptError(ValueError):
    """A script that cannot be read; the message names the place."""


@dataclass(frozen=True, slots=True)
class Match:
    """What a request must be like; None asks nothing. Texts are regular expressions that are searched for.

    Attributes:
        text: In all messages together.
        system: In the system and developer messages.
        user: In the last user message.
        model: In the model's name.
        path: In the URL's path.
        wire: The exact wire format.
        schema: True or False: structured output asked for or not; a text: in the schema's name.
        parameter: A key that the body must have.
        images: Exact count of images.
        stream: Whether events are asked for.
        repeat: How often the very same body came before.
        nth: Place, or places, among the requests that match everything else, from 1.
    """

    text: str | None = None
    system: str | None = None
    user: str | None = None
    model: str | None = None
    path: str | None = None
    wire: str | None = None
    schema: bool | str | None = None
    parameter: str | None = None
    images: int | None = None
    stream: bool | None = None
    repeat: int | None = None
    nth: int | Sequence[int] | None = None

    def accepts(self, seen: SeenRequest) -> bool:
        """Whether a request is meant, its place among others aside."""
        exact = (
            (self.wire, seen.wire.value),
            (self.images, seen.images),
            (self.stream, seen.stream),
            (self.repeat, seen.repeat),
        )
        return (
            all(wanted is None or wanted == given for wanted, given in exact)
            and (self.parameter is None or self.parameter in seen.body)
            and self._accepts_schema(seen)
            and all(self._finds(name, seen) for name in _SEARCHED)
        )

    def _finds(self, name: str, seen: SeenRequest) -> bool:
        pattern: str | None = getattr(self, name)
        return pattern is None or re.search(pattern, getattr(seen, name), re.DOTALL) is not None

    def _accepts_schema(self, seen: SeenRequest) -> bool:
        if isinstance(self.schema, str):
            return seen.schema is not None and re.search(self.schema, seen.schema_name) is not None
        return self.schema is None or self.schema == (seen.schema is not None)


@dataclass(slots=True)
class Rule:
    """Requests that match take the actions in order; the last one repeats."""

    match: Match
    actions: tuple[Answer, ...]
    _matched: int = 0
    _taken: int = 0

    def take(self, seen: SeenRequest) -> Answer | None:
        """Return the action for a request, None if the rule does not concern it."""
        if not self.match.accepts(seen):
            return None
        self._matched += 1
        nth = self.match.nth
        if nth is not None and self._matched not in ((nth,) if isinstance(nth, int) else nth):
            return None
        action = self.actions[min(self._taken, len(self.actions) - 1)]
        self._taken += 1
        return action


@dataclass(slots=True)
class Script:
    """A responder made of rules; what no rule concerns goes to `default`."""

    rules: tuple[Rule, ...] = ()
    default: Responder = field(default=echo)

    def __call__(self, seen: SeenRequest) -> Any:
        """Answer a request."""
        for rule in self.rules:
            action = rule.take(seen)
            if action is not None:
                return action
        return self.default(seen)


_BRAIN: Mapping[str, tuple[type, ...]] = {
    "seed": (int,),
    "base": (int, float),
    "noisy": (bool,),
    "changes_per_reply": (int,),
    "useless_rate": (int, float),
}
"""Keys of a brain besides its answers and rules: the keyword arguments of `Brain.of`."""


def read_script(data: Any) -> Script:
    """Read a script from JSON.

    Raises:
        ScriptError: It is not one.
    """
    known = ("rules", "default", "brain")
    _check(data, known, "script")
    rules = tuple(_read_rule(rule, f"rules[{index}]") for index, rule in enumerate(_list(data, "rules", "script")))
    if "brain" in data:
        from reflact.testing.brains import Brain

        _check_brain(data["brain"])
        return Script(rules, Brain.from_json(data["brain"]))
    if "default" in data:
        answer = read_action(data["default"], "default")
        return Script(rules, lambda seen: answer)
    return Script(rules)


def read_action(data: Any, place: str = "action") -> Answer:
    """Read one action: a text, `{"reply": ...}`, `{"status": ...}` or `{"fault": ...}`.

    Raises:
        ScriptError: It is none of these.
    """
    if isinstance(data, str):
        return Reply(data)
    _check(data, None, place)
    if "fault" in data or "status" in data:
        return _read_fault(data, place)
    if "reply" not in data:
        raise ScriptError(f"{place}: wants one of reply, status, fault")
    text = data["reply"] if isinstance(data["reply"], str) else json.dumps(data["reply"])
    values = {name: value for name, value in data.items() if name != "reply"}
    _check(values, [item.name for item in fields(Reply)], place)
    calls = tuple(ToolCall(call["name"], call.get("arguments", {})) for call in values.pop("tool_calls", ()))
    return Reply(text, tool_calls=calls, **values)


def _read_rule(data: Any, place: str) -> Rule:
    _check(data, ("match", "actions"), place)
    match = data.get("match", {})
    _check(match, [item.name for item in fields(Match)], f"{place}.match")
    if match.get("wire") not in (None, *(wire.value for wire in Wire)):
        raise ScriptError(f"{place}.match.wire: no such wire format: {match['wire']}")
    for name in (*_SEARCHED, "schema"):
        _check_pattern(match.get(name), f"{place}.match.{name}")
    actions = tuple(
        read_action(action, f"{place}.actions[{index}]") for index, action in enumerate(_list(data, "actions", place))
    )
    if not actions:
        raise ScriptError(f"{place}: wants at least one action")
    return Rule(Match(**match), actions)


def _check_brain(data: Any) -> None:
    _check(data, ("answers", "rules", *_BRAIN), "brain")
    answers = data.get("answers", {})
    _check(answers, None, "brain.answers")
    for question, answer in answers.items():
        _check_type(answer, (str,), f"brain.answers[{question!r}]")
    for index, rule in enumerate(_list(data, "rules", "brain")):
        place = f"brain.rules[{index}]"
        _check(rule, ("text", "gain", "task_types"), place)
        _check_type(rule.get("text"), (str,), f"{place}.text")
        _check_type(rule.get("gain", 0.1), (int, float), f"{place}.gain")
        for task_type in _list(rule, "task_types", place):
            _check_type(task_type, (str,), f"{place}.task_types")
    for name, kinds in _BRAIN.items():
        if name in data:
            _check_type(data[name], kinds, f"brain.{name}")


def _check_type(value: Any, kinds: tuple[type, ...], place: str) -> None:
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ScriptError(f"{place}: wants {wanted}, has {json.dumps(value, default=str)[:80]}")


def _list(data: Mapping[str, Any], name: str, place: str) -> Sequence[Any]:
    value = data.get(name, ())
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise ScriptError(f"{place}.{name}: wants a list, has {type(value).__name__}")
    return value


def _read_fault(data: Mapping[str, Any], place: str) -> Fault:
    values = {("kind" if name == "fault" else name): value for name, value in data.items()}
    _check(values, [item.name for item in fields(Fault)], place)
    kind = values.pop("kind", FaultKind.STATUS.value)
    if kind not in [known.value for known in FaultKind]:
        raise ScriptError(f"{place}: no such fault: {kind}")
    if isinstance(values.get("body"), dict):
        values["body"] = json.dumps(values["body"])
    return Fault(FaultKind(kind), **values)


def _check(data: Any, known: Sequence[str] | None, place: str) -> None:
    if not isinstance(data, dict):
        raise ScriptError(f"{place}: wants an object, has {type(data).__name__}")
    unknown = sorted(set(data) - set(known)) if known is not None else []
    if unknown:
        raise ScriptError(f"{place}: unknown {', '.join(unknown)}; known are {', '.join(known or ())}")


def _check_pattern(pattern: Any, place: str) -> None:
    if isinstance(pattern, str):
        try:
            re.compile(pattern)
        except re.error as error:
            raise ScriptError(f"{place}: not a regular expression: {error}") from error
