"""Small pages and tables for the tests of DocVQA."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from reflact.benchmarks.docvqa import DocVQA
from reflact.config.schema import Config
from reflact.core.names import Part
from reflact.core.types import Item

COLUMNS = ("questionId", "question", "answer", "docId", "image_path", "topic")
PARTS = ("train", "val", "test")


def row(number: int | str, **changes: str) -> dict[str, str]:
    return {
        "questionId": str(number),
        "question": f"What is number {number}?",
        "answer": f"['value {number}']",
        "docId": f"{number}0",
        "image_path": f"docvqa_images/q{number}_d{number}0.png",
        "topic": "form|layout",
        **changes,
    }


def write_csv(path: Path, rows: Sequence[Mapping[str, str]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def picture(kind: str = "PNG", size: tuple[int, int] = (6, 4), shade: int = 200, mode: str = "L", **more: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, shade if mode in ("L", "1", "P") or mode.startswith("I") else None).save(out, kind, **more)
    return out.getvalue()


def write_images(folder: Path, rows: Sequence[Mapping[str, str]]) -> None:
    """Draw an image of its own for every row."""
    for number, entry in enumerate(rows):
        place = folder / entry["image_path"]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(picture(shade=number))


def write_split(folder: Path, rows: Mapping[str, Sequence[Mapping[str, str]]] | None = None) -> Path:
    """Write a split folder of three questions a part, without images."""
    for start, part in enumerate(PARTS):
        chosen = [row(3 * start + n) for n in range(3)] if rows is None else rows[part]
        write_csv(folder / part / "items.csv", chosen)
    return folder


def make_docvqa(**env: Any) -> DocVQA:
    config = Config()
    config.benchmark.name = "docvqa"
    for key, value in env.items():
        assert hasattr(config.env, key)
        setattr(config.env, key, value)
    return DocVQA(config)


def loaded(folder: Path, **env: Any) -> tuple[DocVQA, Item]:
    """Return a benchmark over one question a part, and its train item; the image lies at `q1.png`."""
    rows = {part: [row(n, image_path=f"q{n}.png")] for n, part in enumerate(PARTS, start=1)}
    split = write_split(folder / "split", rows)
    for n in (1, 2, 3):
        place = folder / f"q{n}.png"
        if not place.exists():
            place.write_bytes(picture(shade=n))
    benchmark = make_docvqa(split_dir=str(split), image_root=str(folder), **env)
    return benchmark, benchmark.load().parts[Part.TRAIN][0]
