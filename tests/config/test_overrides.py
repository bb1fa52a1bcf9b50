"""What is written for Hydra and for a shell is read back as the same values."""

from __future__ import annotations

import shlex
import subprocess
from typing import Any

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from hypothesis import given, settings
from hypothesis import strategies as st
from omegaconf import OmegaConf

from reflact.config.compose import Composer
from reflact.config.overrides import accepted, command, override

AWKWARD = [
    *("a,b", "x=1", "{k:v}", "[1, 2]", 'it\'s "q"', "ends\\", "", "null", "1e3", "true", "#x", "李明", "a b ", " a"),
    *("${env.workers}", "\\${x}", "\\\\${x}", "a\\'", "~", "+x", "f(x)", "choice(1,2)", "-1", "007", "inf", "NaN", "?"),
    *("C:\\dir\\", "'", '"', "\\'", "\n", "line\nline\\\n", "https://x/?a=1&b=2#c", "gpt-5.5", "2024-12-01-preview"),
]
words = frozenset({"true", "false", "null", "inf", "nan"})
texts = st.text(
    st.one_of(st.sampled_from("\\'\"${}[](),=: \t\n#~!ab1e.-+?"), st.characters(exclude_categories=["Cs"]))
).filter(lambda text: text != "???")
keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]*([.-][0-9a-z]+)?", fullmatch=True).filter(lambda k: k.lower() not in words)
leaves = st.one_of(texts, st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())
values = st.recursive(
    leaves, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)), max_leaves=6
)


def read_back(line: str) -> Any:
    """Return the value that Hydra and OmegaConf make of an override."""
    parsed = OverridesParser.create().parse_override(line)
    assert not parsed.is_sweep_override()
    node = OmegaConf.create({"a": {"b": None}})
    OmegaConf.update(node, "a.b", parsed.value())
    return OmegaConf.to_container(node, resolve=True)["a"]["b"]  # type: ignore[call-overload,index]


@settings(max_examples=150, deadline=None)
@given(values)
def test_any_value_comes_back(value: Any) -> None:
    found = read_back(override("a.b", value))
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize("text", AWKWARD)
def test_awkward_texts_come_back(text: str) -> None:
    assert read_back(override("a.b", text)) == text


def test_texts_reach_the_configuration_through_hydra() -> None:
    composer = Composer()
    for text in AWKWARD:
        assert composer.compose([override("env.data_root", text)]).env.data_root == text


@given(st.lists(texts.filter(lambda text: "\0" not in text), max_size=4))
def test_a_command_is_split_into_the_same_overrides(items: list[str]) -> None:
    lines = [override("env.data_root", item) for item in items]
    assert shlex.split(command("reflact-train", lines)) == ["reflact-train", *lines]


def test_a_shell_splits_a_command_in_the_same_way() -> None:
    lines = [override("env.data_root", text) for text in AWKWARD]
    script = command("printf", ["%s\\0", *lines])
    out = subprocess.run(["sh", "-c", script], capture_output=True, check=True).stdout
    assert out.decode("utf-8").split("\0")[:-1] == lines


def test_plain_texts_stay_readable() -> None:
    assert override("model.student", "gpt-5.5") == "model.student=gpt-5.5"
    assert override("env.out_root", "outputs/LR-docvqa-8/x_1") == "env.out_root=outputs/LR-docvqa-8/x_1"
    assert override("sweep.only", ["LR-docvqa-8"]) == "sweep.only=[LR-docvqa-8]"


@pytest.mark.parametrize("value", ["???", {"a b": 1}, {"李": 1}, {"true": 1}, {"": 1}])
def test_what_hydra_cannot_express_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="Hydra"):
        override("a.b", value)


def test_only_plain_foreign_letters_are_quoted() -> None:
    assert accepted("a.b=李明/x.md") == "a.b='李明/x.md'"
    assert accepted("sweep.max_parallel={orders:1}") == "++sweep.max_parallel={orders:1}"
    for line in ("a.b=x", "a.b='李明'", "a.b=李,明", "a.b=[李]", "a.b", "~a.b", "a.b=${李}"):
        assert accepted(line) == line
