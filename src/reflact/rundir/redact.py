"""Keeps secrets out of files and logs.

Two strengths. `exact` removes the values of known secrets and nothing else: it is for items, skills and answers, which
must not be changed by a guess. `log_*` also removes what looks like a secret: it is for logs, configurations and
events.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from urllib.parse import quote

from reflact.core.types import Json

MARK = "[redacted]"
"""What stands where a secret was."""

_SHORTEST = 6
"""Values shorter than this are words or placeholders (`none`, `EMPTY`); removing them would wreck ordinary text."""

SHORTEST_IN_ANSWERS = 16
"""The same for what models wrote: a placeholder such as `lm-studio` may be the right answer, and scores rest on it."""

_REMEMBERED = 4096  # results for short texts that are kept
_SHORT = 80  # characters; names of fields, statuses and models, which every event repeats

_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>`\\]+")
_SECRET_FIELD = re.compile(
    r"(?i)(?:^|[_-])(?:api[_-]?key|password|passwd|pwd|secret|credentials?|authorization|private[_-]?key"
    r"|(?:access|refresh|auth|bearer|id|session|sas)[_-]?token)$"
)
_NAMED = re.compile(
    r"""(?ix)
    ( (?: api[_-]?key | ocp-apim-subscription-key | passw(?:or)?d | pwd | client[_-]?secret | secret
        | (?:access|refresh|auth|session|sas)[_-]?token )
      ["']? \s* [:=] \s* ["']? )
    (?! \$\{ | null\b | none\b | true\b | false\b )   # a reference or no value at all
    [^\s"',;&}\])]+
    """
)
_SCHEME = re.compile(r"(?i)(\bauthorization\s*[\"']?\s*[:=]\s*[\"']?(?:[A-Za-z]+\s+)?)[^\s\"',;}]+")
_SHAPES = re.compile(
    r"""(?x)
    (?<![A-Za-z0-9]) (?:
        sk-(?=[A-Za-z0-9_-]*[0-9])[A-Za-z0-9_-]{8,} | sk-[A-Za-z0-9_-]{24,}    # OpenAI, Anthropic
      | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*                # JSON web token
      | A(?:KIA|SIA)[0-9A-Z]{16}                                               # AWS
      | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}              # GitHub
      | hf_[A-Za-z0-9]{20,}                                                    # Hugging Face
      | AIza[A-Za-z0-9_-]{30,}                                                 # Google
      | xox[abprs]-[A-Za-z0-9-]{10,}                                           # Slack
    )
    """
)
_BEARER = re.compile(r"(?i)(\bbearer\s+)(?=\S*[0-9]|\S{24})[A-Za-z0-9._~+/=-]{8,}")


class Redactor:
    """Removes secrets from texts and JSON values; knows the given ones, also as they look inside a URL."""

    def __init__(self, secrets: Iterable[str], *, shortest: int = _SHORTEST) -> None:
        """Know `secrets`; values shorter than `shortest` characters are ignored."""
        known = {secret.strip() for secret in secrets}
        known |= {quote(secret, safe="") for secret in known}
        # Longest first: a secret that contains another one goes as a whole.
        values = sorted((secret for secret in known if len(secret) >= shortest), key=lambda s: (-len(s), s))
        self._known = re.compile("|".join(map(re.escape, values))) if values else None
        # A run writes two events a call, and the patterns would look at the same few words in each of them.
        self._remembered = lru_cache(_REMEMBERED)(self._log_text)
        self._is_secret = lru_cache(_REMEMBERED)(_names_a_secret)

    def exact(self, text: str) -> str:
        """Return the text without the known secrets."""
        return self._known.sub(MARK, text) if self._known else text

    def log_text(self, text: str) -> str:
        """Return the text without known secrets, what looks like one, and the private parts of URLs."""
        return self._remembered(text) if len(text) <= _SHORT else self._log_text(text)

    def _log_text(self, text: str) -> str:
        text = self.exact(text)
        text = _URL.sub(lambda match: clean_url(match[0]), text)
        text = _SCHEME.sub(rf"\g<1>{MARK}", text)
        text = _BEARER.sub(rf"\g<1>{MARK}", text)
        text = _NAMED.sub(rf"\g<1>{MARK}", text)
        return _SHAPES.sub(MARK, text)

    def exact_json(self, value: Json) -> Json:
        """Return the value with `exact` applied to every text in it, names of fields included."""
        return _walk(value, self.exact, lambda _: False)

    def log_json(self, value: Json) -> Json:
        """Return the value with `log_text` applied to every text in it; fields named like a secret lose their text."""
        return _walk(value, self.log_text, self._is_secret)


class RedactingFilter(logging.Filter):
    """Applies `log_text` to every record that passes, its arguments and traceback included."""

    def __init__(self, redactor: Redactor) -> None:
        super().__init__()
        self._redactor = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record; it always passes."""
        record.msg = self._redactor.log_text(record.getMessage())
        record.args = None
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = self._redactor.log_text(record.exc_text)
        if record.stack_info:
            record.stack_info = self._redactor.log_text(record.stack_info)
        return True


def clean_url(url: str) -> str:
    """Return a URL without user-info, query and fragment, any of which may hold a credential."""
    scheme, separator, rest = url.partition("://") if "://" in url else ("", "", url)
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    port = authority.rpartition("@")[2].partition(":")[2]
    if separator and port and not port.isdigit() and not authority.startswith("[") and "@" in rest:
        # A password with an unescaped `/`, `?` or `#`: all up to the last `@` is user-info.
        rest = rest.rpartition("@")[2]
    else:
        rest = authority.rpartition("@")[2] + rest[len(authority) :]
    return scheme + separator + re.split(r"[?#]", rest, maxsplit=1)[0]


def _walk(value: Json, text: Callable[[str], str], secret: Callable[[str], bool]) -> Json:
    if isinstance(value, str):
        return text(value)
    if isinstance(value, list | tuple):
        return [_walk(item, text, secret) for item in value]
    if isinstance(value, dict):
        return {
            text(name) if isinstance(name, str) else name: (
                MARK
                if isinstance(name, str) and isinstance(item, str) and secret(name) and _is_value(item)
                else _walk(item, text, secret)
            )
            for name, item in value.items()
        }
    return value


def _names_a_secret(name: str) -> bool:
    return _SECRET_FIELD.search(name) is not None


def _is_value(text: str) -> bool:
    """Whether a field named like a secret holds one, not nothing or a reference such as `${oc.env:NAME}`."""
    return bool(text) and not text.startswith("${")
