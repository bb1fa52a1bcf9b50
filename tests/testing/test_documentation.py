"""The examples of docs/testing.md run as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from reflact.testing import FaultKind, read_script

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_examples_run_in_order() -> None:
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(block, names)
    assert {"TestOrders", "TestOpenAIChat", "brain"} <= set(names)


def test_the_script_is_one() -> None:
    (block,) = blocks("json")
    assert len(read_script(json.loads(block)).rules) == 3


def test_every_fault_is_described() -> None:
    assert [kind for kind in FaultKind if f"`{kind.value}`" not in PAGE] == []
