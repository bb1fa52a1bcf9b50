"""UTF-8 everywhere, whatever the locale says."""

from __future__ import annotations

import os
import sys


def ensure_utf8() -> None:
    """Start the interpreter anew in UTF-8 mode if the locale has it use another encoding.

    Arguments, file names and the standard streams are decoded before any code of ours runs, so that nothing less
    would do: under `LC_ALL=C` a path with a Chinese letter could not even be opened.
    """
    if _is_utf8() or not sys.executable or sys.flags.utf8_mode:
        return
    # Arguments that the locale could not decode carry their bytes as surrogates; all others become UTF-8.
    arguments = [argument.encode("utf-8", "surrogateescape") for argument in sys.orig_argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [os.fsencode(sys.executable), b"-X", b"utf8", *arguments])


def _is_utf8() -> bool:
    names = {sys.getfilesystemencoding(), *(_encoding(stream) for stream in (sys.stdout, sys.stderr))}
    return all(name.lower().replace("-", "") == "utf8" for name in names)


def _encoding(stream: object) -> str:
    # A stream that a test or a notebook put in place may have no encoding; it is not ours to judge.
    return getattr(stream, "encoding", None) or "utf-8"
