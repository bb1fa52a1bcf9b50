"""`reflact export`: what it writes is what the format's own reference reader accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

import reflact
from tests.cli.commands import run, tree

DESCRIPTIONS = [
    "How to write orders as records. Use it for order forms.",
    "Says 'yes': # not a comment, - not a list, \"quoted\" {not: a map}",
    "订单表格。用于订单。",
    "two\nlines",
    "x" * 1024,
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("export") / "LR-orders-8"
    reflact.train(reflact.compose(["harness=rehearsal", "train.num_epochs=1", f"env.out_root={root}"]))
    return root


@pytest.mark.parametrize("description", ["", *DESCRIPTIONS], ids=range(len(DESCRIPTIONS) + 1))
def test_the_reference_reader_of_agent_skills_takes_it(finished: Path, tmp_path: Path, description: str) -> None:
    validator = pytest.importorskip("skills_ref.validator", reason="absent: skills-ref (the extra `dev`)")
    parser = pytest.importorskip("skills_ref.parser", reason="absent: skills-ref (the extra `dev`)")
    more = ["--description", description] if description else []
    result = run(tmp_path, "reflact", "export", str(finished), "--format", "agent-skill", "--out", "skills", *more)
    assert result.code == 0, result.err
    folder = tmp_path / "skills/lr-orders-8"
    assert result.out.strip() == "skills/lr-orders-8/SKILL.md"
    assert validator.validate(folder) == []
    found = parser.read_properties(folder)
    assert found.name == "lr-orders-8"
    if description:
        assert found.description == " ".join(description.split())
    else:
        assert "orders" in found.description and "Use it for" in found.description and "--description" in result.err
    assert found.metadata["simulated"] == "true" and found.metadata["run_id"] == "LR-orders-8"


def test_the_body_is_the_best_skill(finished: Path, tmp_path: Path) -> None:
    before = tree(finished)
    assert run(tmp_path, "reflact", "export", str(finished), "--name", "mine").code == 0
    text = (tmp_path / "mine/SKILL.md").read_text(encoding="utf-8")
    assert text.split("---\n", 2)[2].strip() == (finished / "best_skill.md").read_text(encoding="utf-8").strip()
    assert tree(finished) == before
