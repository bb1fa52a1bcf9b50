"""What a person should look at in a skill is flagged, once."""

from __future__ import annotations

import pytest

from reflact.optimizer.flags import flag_skill


def kinds(text: str, golds: tuple[str, ...] = (), before: str = "") -> list[str]:
    return [flag["kind"] for flag in flag_skill(text, golds, before=before)]


@pytest.mark.parametrize(
    "text", ["See https://evil.example/x?y=1.", "go to www.example.org/page", "file:///etc/passwd"]
)
def test_urls_are_flagged(text: str) -> None:
    assert kinds(text) == ["url"]


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nls\n```",
        "$ ls -la",
        "run `rm -rf /tmp/x`",
        "sudo -i",
        "curl -s host",
        "pip install x",
        "x | sh",
        "bash -c 'x'",
    ],
)
def test_shell_commands_are_flagged(text: str) -> None:
    assert "shell_command" in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "# Skill\n\n- Answer in one line; a price is written as $5.\n- Ask whether it is a cat or a dog.\n",
        "```python\nimport openpyxl\n```",
        "Use the evidence | not the title | of the page.",
    ],
)
def test_ordinary_rules_are_not(text: str) -> None:
    assert kinds(text) == []


def test_the_answer_of_a_train_item_is_flagged_as_a_whole_word_without_case() -> None:
    assert flag_skill("The answer is MARIE CURIE.", ["Marie Curie"]) == [{"kind": "gold", "excerpt": "Marie Curie"}]
    assert kinds("scattering", ("cat", "catt", "scatter")) == []


def test_short_answers_are_left_out() -> None:
    assert kinds("Choose B or 12.", ("B", "12", "")) == []


def test_what_was_there_before_is_not_flagged_again() -> None:
    text = "https://a.example Marie Curie $ ls"
    assert kinds(text + "\nhttps://b.example", ("Marie Curie",), before=text) == ["url"]
