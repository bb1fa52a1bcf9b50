"""Foreign text must not reach a terminal as anything but text; numbers must stay short."""

import pytest

from reflact.report import text


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("\x1b]8;;http://evil\x1b\\link", "link"),
        ("\x9b2Jx", "x"),
        ("a\r\nb\tc", "a b c"),
        ("a\x00\x07\x08b", "a b"),
        ("abc\u202edef", "abc def"),
        ("[bold]kept[/bold]", "[bold]kept[/bold]"),
        ("\ud800x", "x"),
        ("déjà vu 日本", "déjà vu 日本"),
        (None, ""),
        (3, "3"),
    ],
)
def test_control_sequences_never_survive(foreign, shown):
    assert text.clean(foreign) == shown


def test_long_text_is_cut_and_says_so():
    assert text.clean("x" * 10_000_000, 10) == "x" * 9 + "…"


def test_a_document_keeps_its_blanks():
    assert text.clean_line("  - a\tb\x1b[1m") == "  - a   b"


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (999, "999"), (1000, "1k"), (12_345, "12.3k"), (999_600, "1M"), (4_560_000, "4.56M"), (None, "–")],
)
def test_counts_are_short(number, shown):
    assert text.count(number) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.4, "0 s"), (59, "59 s"), (61, "1 min 01 s"), (1200, "20 min"), (7500, "2 h 05 min"), (90_000, "1 d 1 h")],
)
def test_durations_have_two_units_at_most(seconds, shown):
    assert text.duration(seconds) == shown


def test_an_unknown_price_is_never_a_zero():
    assert text.money(None) == "–"
    assert text.money(0.0) == "$0.00"
    assert text.money(0.0004) == "$0.0004"
    assert text.money(1234.5) == "$1,234.50"


def test_ascii_terminals_get_one_character_for_one():
    assert text.to_ascii("a · b… ×3 é") == "a - b~ x3 ?"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-3, "0 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7000, "117 min ago"),
        (7300, "2 h ago"),
        (260_000, "3 d ago"),
    ],
)
def test_ages_have_one_unit(seconds, shown):
    assert text.age(seconds) == shown
