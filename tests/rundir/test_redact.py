from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflact.rundir.redact import MARK, RedactingFilter, Redactor, clean_url

NOTHING = Redactor([])


@settings(deadline=None)
@given(st.text())
def test_texts_without_a_known_secret_are_not_changed(text: str) -> None:
    assert Redactor(["a-known-s3cret"]).exact(text) == text


@settings(deadline=None)
@given(
    st.text(), st.text(min_size=6).filter(lambda text: len(text.strip()) >= 6 and text.strip() not in MARK), st.text()
)
def test_a_known_secret_never_stays(before: str, secret: str, after: str) -> None:
    redacted = Redactor([secret]).exact(before + secret + after)
    assert secret.strip() not in redacted.replace(MARK, "\0")


def test_a_secret_goes_as_a_whole_and_in_every_form() -> None:
    redactor = Redactor(["abcdef", "abcdef-long/er", "none", ""])
    assert redactor.exact("abcdef-long/er abcdef none abcdef-long%2Fer") == f"{MARK} {MARK} none {MARK}"
    assert redactor.exact_json({"a": ["x abcdef"], "abcdef": ("y", 1, None)}) == {
        "a": [f"x {MARK}"],
        MARK: ["y", 1, None],
    }


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("key sk-proj-abc123def456 used", "key [redacted] used"),
        ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted]"),
        ("'authorization': 'Basic dXNlcjpwYXNz'", "'authorization': 'Basic [redacted]'"),
        ("api-key: 0123456789abcdef", "api-key: [redacted]"),
        ('{"x-api-key": "0123456789"}', '{"x-api-key": "[redacted]"}'),
        ("password=hunter2&user=x", "password=[redacted]&user=x"),
        ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeK end", "jwt [redacted] end"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("GET https://user:pw@host.example/v1/x?sig=abc#f 200", "GET https://host.example/v1/x 200"),
    ],
)
def test_what_looks_like_a_secret_leaves_a_log(text: str, clean: str) -> None:
    assert NOTHING.log_text(text) == clean


@pytest.mark.parametrize(
    "text",
    [
        "task-123456789 and risk-averse-2 stay",
        "the bearer of news",
        "api_key: null",
        "api_key: ${oc.env:OPENAI_API_KEY}",
        "max_tokens=4096 tokens: 12",
        "step 3: score 0.5 (429 of 500)",
        "李明 said \u2028 hello",
    ],
)
def test_ordinary_log_lines_stay(text: str) -> None:
    assert NOTHING.log_text(text) == text


def test_patterns_are_for_logs_only() -> None:
    text = "An answer may show sk-proj-abc123def456 and password=hunter2."
    assert NOTHING.exact(text) == text


def test_fields_named_like_a_secret_lose_their_text() -> None:
    config = {
        "api_key": "abc",
        "student": {"password": "p", "api_key": "${oc.env:KEY}", "auth_mode": "key"},
        "max_tokens": 5,
    }
    assert NOTHING.log_json(config) == {
        "api_key": MARK,
        "student": {"password": MARK, "api_key": "${oc.env:KEY}", "auth_mode": "key"},
        "max_tokens": 5,
    }


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://u:p@h:80/x?y#z", "https://h:80/x"),
        ("https://u:p/a?b@h/x", "https://h/x"),
        ("https://token@h", "https://h"),
        ("http://[::1]:80/x?k", "http://[::1]:80/x"),
        ("u:p@h/x?y", "h/x"),
        ("https://h/@scope/p", "https://h/@scope/p"),
        ("https://h?key=1", "https://h"),
        ("", ""),
    ],
)
def test_a_url_keeps_only_its_public_parts(url: str, clean: str) -> None:
    assert clean_url(url) == clean


def test_the_filter_redacts_arguments_and_tracebacks() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter(Redactor(["s3cr3t-value"])))
    logger = logging.Logger("reflact.test")
    logger.addHandler(handler)
    logger.info("%s at %s", "s3cr3t-value", "https://u:p@h/x")
    try:
        raise ValueError("bad key s3cr3t-value")
    except ValueError:
        logger.exception("failed")
    assert "s3cr3t-value" not in stream.getvalue()
    assert stream.getvalue().startswith(f"{MARK} at https://h/x\n")
    assert f"bad key {MARK}" in stream.getvalue()
