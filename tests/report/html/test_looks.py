"""It can be read: light and dark, on a phone, on paper, and without a network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.html.browser import Browser

RUN = "#/run/study%2FDEFAULT-searchqa-5.5"
PLACES = ("#/", RUN, f"{RUN}/skill", f"{RUN}/trajectories/0", f"{RUN}/configuration")
TOO_WEAK = """
    const rgb = (text) => {
        const numbers = text.match(/[\\d.]+/g).map(Number);
        return { c: numbers.slice(0, 3), a: numbers[3] ?? 1 };
    };
    const over = (top, under) => top.c.map((value, i) => value * top.a + under[i] * (1 - top.a));
    const light = (c) => {
        const [r, g, b] = c.map((value) => {
            const s = value / 255;
            return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (node) => {
        const layers = [];
        for (let n = node; n; n = n.parentElement) layers.push(rgb(getComputedStyle(n).backgroundColor));
        return layers.reverse().reduce((under, layer) => over(layer, under), [255, 255, 255]);
    };
    const weak = new Set();
    let seen = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode.parentElement;
        if (!walker.currentNode.textContent.trim() || !node.getClientRects().length) continue;
        if (getComputedStyle(node).visibility === 'hidden') continue;
        seen += 1;
        const style = getComputedStyle(node);
        const colour = rgb(node instanceof SVGElement ? style.fill : style.color);
        const under = ground(node instanceof SVGElement ? node.ownerSVGElement : node);
        const [a, b] = [light(over(colour, under)), light(under)].sort((x, y) => y - x);
        const ratio = (a + 0.05) / (b + 0.05);
        const name = `${node.tagName}.${node.getAttribute('class')} ${node.textContent.slice(0, 30)}`;
        if (ratio < 4.5) weak.add(`${ratio.toFixed(2)} ${name}`);
    }
    return [seen, [...weak]];"""


def drawn(browser: Browser, page: Path, place: str) -> None:
    browser.open(page, place)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    if place in ("#/", RUN):
        browser.charts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(page, hostile, browser, scheme):
    browser.size(1280, 900)
    browser.media(scheme=scheme)
    for place in PLACES:
        drawn(browser, page, place)
        seen, weak = browser.run(TOO_WEAK)
        assert seen > 30 and weak == [], place


def test_light_or_dark_can_be_chosen(page, browser):
    browser.media(scheme="light")
    browser.open(page, fresh=True)
    ground = "return getComputedStyle(document.body).backgroundColor"
    browser.run("localStorage.removeItem('reflact-theme')")
    light = browser.run(ground)
    browser.media(scheme="dark")
    dark = browser.run(ground)
    assert light != dark
    browser.click("#theme")
    assert browser.text("#theme") == "Light" and browser.run(ground) == light
    browser.click("#theme")
    browser.media(scheme="light")
    assert browser.text("#theme") == "Dark" and browser.run(ground) == dark
    browser.click("#theme")
    assert browser.text("#theme") == "Auto" and browser.run(ground) == light


@pytest.mark.parametrize("width", [360, 768])
def test_nothing_hangs_over_the_edge_of_a_phone(page, hostile, browser, width):
    """Wide tables scroll in boxes of their own."""
    browser.size(width, 740)
    browser.media()
    try:
        first = "return document.querySelector('#run-table tbody a').getAttribute('href')"
        for file, places in ((page, PLACES), (hostile, ("#/", "", "/skill", "/trajectories/0", "/configuration"))):
            browser.open(file, fresh=True)
            run = browser.run(first) if file == hostile else ""
            for place in places:
                drawn(browser, file, place if place.startswith("#") else run + place)
                browser.until("return !document.querySelector('[aria-busy=true]')")
                assert browser.run("return document.documentElement.scrollWidth") <= width, (file.name, place)
                assert browser.sticking_out() == [], (file.name, place)
    finally:
        browser.size(1280, 900)


def test_paper_has_the_results_and_none_of_the_buttons(page, browser):
    browser.open(page, f"{RUN}/trajectories/0")
    browser.media(kind="print")
    try:
        hidden = """
            const found = [...document.querySelectorAll('.top, .controls, .list, .tabs')];
            return found.length > 3 && found.every(n => !n.getClientRects().length)"""
        assert browser.run(hidden) is True
        assert "hard" in browser.run("return document.querySelector('.detail').innerText")
        browser.open(page, "#/")
        scrolls = "return [...document.querySelectorAll('.scroll')].map(n => getComputedStyle(n).overflowX)"
        assert set(browser.run(scrolls)) == {"visible"}
        assert browser.run("return document.getElementById('run-table').getClientRects().length") == 1
    finally:
        browser.media()


def test_the_page_asks_for_nothing_from_elsewhere(page, browser):
    browser.open(page, RUN, fresh=True)
    assert browser.run("return performance.getEntriesByType('resource').map(r => r.name)") == []
    assert browser.run("return [...document.querySelectorAll('[src], link')].length") == 0
