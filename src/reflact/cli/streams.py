"""Standard streams that are there, whatever started us."""

from __future__ import annotations

import os
import sys


def ensure_streams() -> None:
    """Put /dev/null where stdin, stdout or stderr was closed before we began (`>&-`, some daemons).

    Otherwise the next file that is opened, such as a run's rows, would get that stream's number, and what a library
    prints would land in it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            mode = "r" if number == 0 else "w"
            opened = os.open(os.devnull, os.O_RDONLY if number == 0 else os.O_WRONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - a number
