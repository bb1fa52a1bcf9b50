"""Nothing that comes from a model, a data set or a user is run, becomes markup, or leads anywhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.report.html.browser import Browser
from tests.report.html.poison import ATTACKS

TABS = ("overview", "skill", "trajectories", "configuration")
# What a page of ours is made of: everything else would have come from a text.
FOREIGN = """
    const bad = [...document.querySelectorAll('img, iframe, base, object, embed, form, link, video, audio, frame')];
    const links = [...document.querySelectorAll('a')].filter(a => !a.getAttribute('href').startsWith('#'));
    const handlers = [...document.querySelectorAll('*')]
        .filter(n => n.getAttributeNames().some(a => a.startsWith('on')));
    const scripts = [...document.scripts].filter(s => s.type !== 'application/octet-stream');
    const metas = [...document.querySelectorAll('meta')].length;
    return [bad, links, handlers].map(l => l.map(n => n.outerHTML.slice(0, 200))).concat([scripts.length, metas]);"""


@pytest.fixture(scope="module")
def run_hash(hostile: Path, browser: Browser) -> str:
    browser.open(hostile, fresh=True)
    return str(browser.run("return document.querySelector('#run-table tbody a').getAttribute('href')"))


def test_no_attack_is_in_the_file_as_it_came(hostile: Path) -> None:
    text = hostile.read_text(encoding="utf-8")
    assert text.count("</script") == len(re.findall(r"^<script[^>]*>|<script>", text, re.MULTILINE))
    for attack in ("<script>attack", "<img src=x onerror", "<svg onload", "<iframe", "<base", "\x1b", "\u202e"):
        assert attack not in text, attack


def test_the_study_runs_nothing(hostile: Path, browser: Browser) -> None:
    browser.open(hostile, fresh=True)
    assert browser.run(FOREIGN) == [[], [], [], 1, 5]
    assert browser.complaints() == []


@pytest.mark.parametrize("tab", TABS)
def test_no_tab_of_a_run_runs_anything(hostile: Path, browser: Browser, run_hash: str, tab: str) -> None:
    """If anything called `attack`, the console would say that there is no such function, or that it was stopped."""
    browser.open(hostile, f"{run_hash}/{tab}", fresh=True)
    assert browser.run("return document.querySelector('[data-tab]').dataset.tab") == tab
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    if tab == "trajectories":
        browser.click(".list a")
        browser.until("return document.querySelector('.turn') !== null")
    browser.run("document.querySelectorAll('[data-mark]').forEach(m => m.dispatchEvent(new Event('pointerenter')))")
    assert browser.run(FOREIGN) == [[], [], [], 1, 5]
    assert browser.complaints() == []
    assert not browser.text("#run").startswith("There is no such run")


def test_attacks_are_shown_as_the_text_that_they_are(hostile: Path, browser: Browser, run_hash: str) -> None:
    browser.open(hostile, f"{run_hash}/skill", fresh=True)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    shown = browser.text("#run")
    for attack in (attack for attack in ATTACKS if attack.isprintable()):
        assert attack in shown, attack
    assert "⟨U+001B⟩[31mred" in shown  # an escape sequence is told, not obeyed
    assert "⟨U+202E⟩gnp.exe" in shown
    assert not re.search(r"[\x00-\x08\x1b\u202a-\u202e\u2066-\u2069]", shown)


def test_the_policy_stops_a_script_that_is_not_ours(hostile: Path, browser: Browser) -> None:
    """Even if a text became markup, nothing of it would run: this puts one there by hand."""
    browser.open(hostile, fresh=True)
    refused = browser.run("""
        const script = document.createElement('script');
        script.appendChild(document.createTextNode('window.attacked = true'));
        try { document.body.append(script); } catch (error) {}
        try { document.body.innerHTML = '<img src=x onerror="window.attacked = true">'; }
        catch (error) { return error.name; }
        return 'taken'""")
    assert refused == "TypeError"
    assert browser.run("return window.attacked === undefined")
    assert any("Content Security Policy" in text or "TrustedHTML" in text for text in browser.complaints())
