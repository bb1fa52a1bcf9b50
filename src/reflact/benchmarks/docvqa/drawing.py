"""Draws the pages of the sample: `python -m reflact.benchmarks.docvqa.drawing FOLDER` writes CSV files and images.

The pages are drawn with Pillow's built-in font, so that nothing but Pillow is needed. What a page says is in `pages`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from reflact.benchmarks.csv_files import write_rows
from reflact.benchmarks.docvqa.form import DocVQAFormat
from reflact.benchmarks.docvqa.pages import Form, Letter, Page, Table, sample_pages

if TYPE_CHECKING:
    from PIL.ImageDraw import ImageDraw

IMAGES = "docvqa_images"
_SIZE = (620, 800)
_MARGIN = 50
_LINE = 26
_GREYS = 8
_BLACK, _GREY, _WHITE = 0, 150, 255


def write_sample(folder: Path) -> None:
    """Write `{train,val,test}.csv` and the images that they name."""
    (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    number = 0
    for part, pages in sample_pages().items():
        rows = []
        for page in pages:
            name = f"{IMAGES}/d{page.number}.png"
            draw(page, folder / name)
            for asked in page.questions:
                number += 1
                rows.append(_row(page, f"sample-{number:02d}", asked.question, asked.golds, name))
        write_rows(folder / f"{part.value}.csv", rows, DocVQAFormat.columns)


def draw(page: Page, path: Path) -> None:
    """Draw a page as a PNG of a few greys."""
    from PIL import Image, ImageDraw

    picture = Image.new("L", _SIZE, _WHITE)
    pen = ImageDraw.Draw(picture)
    y = _heading(pen, page)
    match page.body:
        case Form(fields):
            _draw_form(pen, y, fields)
        case Table(rows):
            _draw_table(pen, y, rows)
        case Letter(lines):
            _draw_letter(pen, y, lines)
    _write(pen, _MARGIN, _SIZE[1] - 50, page.footer, 13, _GREY)
    picture.quantize(_GREYS).save(path, "PNG", optimize=True)


def _row(page: Page, identifier: str, question: str, golds: tuple[str, ...], image: str) -> Mapping[str, str]:
    values = (identifier, question, repr(list(golds)), str(page.number), image, page.body.topic)
    return dict(zip(DocVQAFormat.columns, values, strict=True))


def _heading(pen: ImageDraw, page: Page) -> int:
    _write(pen, _MARGIN, 45, page.title, 24)
    _write(pen, _MARGIN, 80, page.subtitle, 14, _GREY)
    pen.line((_MARGIN, 110, _SIZE[0] - _MARGIN, 110), fill=_BLACK, width=2)
    return 140


def _draw_form(pen: ImageDraw, y: int, fields: tuple[tuple[str, str], ...]) -> None:
    for label, value in fields:
        _write(pen, _MARGIN + 8, y + 4, label, 13, _GREY)
        _write(pen, _MARGIN + 8, y + 22, value, 18)
        pen.rectangle((_MARGIN, y, _SIZE[0] - _MARGIN, y + 50), outline=_GREY)
        y += 62


def _draw_table(pen: ImageDraw, y: int, rows: tuple[tuple[str, ...], ...]) -> None:
    width = (_SIZE[0] - 2 * _MARGIN) // len(rows[0])
    for number, row in enumerate(rows):
        for column, cell in enumerate(row):
            left = _MARGIN + column * width
            pen.rectangle((left, y, left + width, y + 34), outline=_GREY)
            _write(pen, left + 8, y + 8, cell, 17 if number else 15, _BLACK if number else _GREY)
        y += 34


def _draw_letter(pen: ImageDraw, y: int, lines: tuple[str, ...]) -> None:
    for line in lines:
        _write(pen, _MARGIN, y, line, 17)
        y += _LINE


def _write(pen: ImageDraw, x: int, y: int, text: str, size: int, fill: int = _BLACK) -> None:
    from PIL import ImageFont

    pen.text((x, y), text, fill=fill, font=ImageFont.load_default(size))


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
