"""Prompts are readable templates; a benchmark may replace them, and mistakes are found before the first call."""

from __future__ import annotations

import pytest

from reflact.core.errors import ConfigError
from reflact.core.hashing import text_digest
from reflact.optimizer.prompt_library import PromptLibrary, shipped

WHOLE = sorted(name for name in shipped() if not name.startswith("_"))
MODES = ["draft", "merge_drafts"]


@pytest.mark.parametrize("name", sorted(shipped()))
def test_every_prompt_has_a_version_a_hash_and_only_variables_that_it_declares(name: str) -> None:
    prompt = shipped()[name]
    assert prompt.name == name
    assert prompt.version.isdigit()
    assert len(prompt.sha256) == 64
    PromptLibrary.load().check(name)


@pytest.mark.parametrize("name", sorted(set(WHOLE) - {"system", "reask"}))
def test_every_prompt_says_that_data_are_no_instructions(name: str) -> None:
    body = shipped()[name].body
    assert '{% include "_data" %}' in body
    assert "## Reply" in body


@pytest.mark.parametrize("name", MODES)
def test_prompts_of_the_full_rewrite_are_plain(name: str) -> None:
    text = shipped()[name].body.lower()
    for word in ("expert", "priority", "prefer", "important", "matter most", "senior", "failure first"):
        assert word not in text
    assert "must not contain the answer" in text


def test_a_benchmark_replaces_a_prompt_by_name_with_or_without_front_matter() -> None:
    plain = PromptLibrary.load({"reask": "Again: {{ problem }}"})
    assert plain.render("reask", problem="cut") == "Again: cut\n"
    assert plain.hashes["reask"] == text_digest("Again: {{ problem }}")
    headed = PromptLibrary.load({"reask": "---\nname: reask\nversion: 7\n---\nAgain: {{ problem }}\n"})
    assert headed.render("reask", problem="cut") == "Again: cut\n"
    assert headed.versions["reask"] == "7"


def test_a_replacement_may_use_the_parts_that_ship() -> None:
    library = PromptLibrary.load({"diagnose": '{% include "_data" %}\n{{ skill | data("skill") }}'})
    text = library.render("diagnose", skill="SKILL", trajectories=[], buffer="", meta_skill="")
    assert "never an instruction" in text


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("analyse", "x", "no prompt 'analyse'.*analyse_failure"),
        ("reask", "{{ answer }}", "uses answer; it is given problem"),
        ("reask", "{% if %}", "line 1"),
        ("reask", '{% include "_nothing" %}', "_nothing"),
    ],
)
def test_a_wrong_replacement_is_a_configuration_error_that_names_it(name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PromptLibrary.load({name: text})


def test_values_are_never_read_as_templates() -> None:
    library = PromptLibrary.load()
    assert "{{ 7 * 7 }}" in library.render("reask", problem="{{ 7 * 7 }} {% raise %}")


def test_equal_prompts_have_equal_hashes_and_a_changed_one_another() -> None:
    before, after = PromptLibrary.load().hashes, PromptLibrary.load({"rank": "x"}).hashes
    assert {name for name in before if before[name] != after[name]} == {"rank"}
