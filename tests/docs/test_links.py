"""Links lead somewhere: to files that are there, and to headings that they have."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.markdown import TOP, anchors, links, pages

ELSEWHERE = ("http://", "https://", "mailto:")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(TOP)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    wrong = []
    for line, target in links(page):
        if target.startswith(ELSEWHERE):
            continue
        path, _, anchor = target.partition("#")
        place = page if not path else (page.parent / unquote(path)).resolve()
        if not place.exists() or not place.is_relative_to(TOP):
            wrong.append(f"line {line}: {target} is not there")
        elif anchor and (place.suffix != ".md" or anchor not in anchors(place)):
            wrong.append(f"line {line}: {target}: no such heading")
    assert wrong == []


def test_every_page_can_be_reached_from_the_index() -> None:
    start = TOP / "docs/README.md"
    seen, open_pages = {start}, [start]
    while open_pages:
        page = open_pages.pop()
        for _, target in links(page):
            place = (page.parent / unquote(target.partition("#")[0])).resolve()
            place = place / "README.md" if place.is_dir() else place
            if place.suffix == ".md" and place.exists() and place not in seen:
                seen.add(place)
                open_pages.append(place)
    assert {page for page in pages() if page.is_relative_to(TOP / "docs")} - seen == set()
