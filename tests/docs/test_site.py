"""The site builds without a warning and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.docs.markdown import TOP, pages

LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
}
ELSEWHERE = ("http:", "https:", "//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(module, reason=f"absent: {module} (the extra `docs`)")
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)],
        cwd=TOP,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=170,
    )
    assert done.returncode == 0 and done.stderr.strip() == "", done.stderr
    return out


class Loads(HTMLParser):
    """Collects what a browser fetches by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in LOADED:
            self.found.append(given.get(LOADED[tag]) or "")
        elif tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(given.get("href") or "")


def test_every_page_is_in_the_site(site: Path) -> None:
    for page in pages():
        if page.is_relative_to(TOP / "docs"):
            name = page.relative_to(TOP / "docs").with_suffix(".html")
            assert (site / (name.with_name("index.html") if name.name == "README.html" else name)).is_file(), name
    assert (site / "design/architecture.html").is_file()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        parser = Loads()
        parser.feed(page.read_text(encoding="utf-8"))
        assert [url for url in parser.found if url.startswith(ELSEWHERE)] == [], page
    for sheet in site.rglob("*.css"):
        urls = re.findall(r"@import\s+[\"']([^\"']+)|url\(\s*[\"']?([^\"')]+)", sheet.read_text(encoding="utf-8"))
        assert [url for pair in urls for url in pair if url.startswith(ELSEWHERE)] == [], sheet


def test_the_python_reference_has_the_interface(site: Path) -> None:
    text = (site / "reference-python.html").read_text(encoding="utf-8")
    for name in ("compose", "train", "evaluate", "Stopped", "ChatModel", "PhaseEnded", "selection_score"):
        assert re.search(rf'id="[\w.]*\b{name}"', text), name


def test_search_works_from_the_file_system(site: Path) -> None:
    assert (site / "search/search_index.js").is_file()
