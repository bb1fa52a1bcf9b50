from __future__ import annotations

from pathlib import Path

import pytest

from reflact.benchmarks.prompts import Prompt, load_prompt, with_skill
from reflact.core.hashing import text_digest


def test_a_prompt_file_has_version_and_hash() -> None:
    prompt = load_prompt("reflact.benchmarks.searchqa", "student")
    assert prompt.version == "1"
    assert "version" not in prompt.text
    assert prompt.record() == {"version": "1", "sha256": text_digest(prompt.text)}


def test_values_are_put_in_once_and_left_alone() -> None:
    prompt = Prompt("p", "1", "$context | ${question}")
    assert prompt.fill(context="$question {{x}} $$", question="$5") == "$question {{x}} $$ | $5"


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(KeyError):
        Prompt("p", "1", "$context").fill()


def test_a_file_without_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "promptless_package" / "prompts"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("", encoding="utf-8")
    (package / "x.md").write_text("text", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ValueError, match="must begin with <!-- version"):
        load_prompt("promptless_package", "x")


def test_the_skill_is_a_block_of_its_own() -> None:
    assert with_skill("S", " \n") == "S"
    assert with_skill("S", "# Do\n").endswith("<skill>\n# Do\n</skill>")
