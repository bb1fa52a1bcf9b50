"""The committed reference is the one that the schema gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflact.config.keys import Key, all_keys
from reflact.config.reference import render

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_up_to_date() -> None:
    hint = "run: python -m reflact.config.reference > docs/reference-config.md"
    assert (DOCS / "reference-config.md").read_text(encoding="utf-8") == render(), hint


@pytest.mark.parametrize("key", all_keys().values(), ids=lambda key: key.name)
def test_every_key_is_explained(key: Key) -> None:
    assert key.doc.endswith(".") and key.doc[0].isupper() | (key.doc[0] in "`0")
    assert f"`{key.name}`" in render()
