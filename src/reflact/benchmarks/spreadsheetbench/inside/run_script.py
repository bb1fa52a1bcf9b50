"""Runs a script that reads INPUT_PATH and writes OUTPUT_PATH; the script's file stays as it was written."""

import os
import sys
import traceback
import types


def main() -> None:
    """Run the script `argv[1]` as the main program, with the paths `argv[2]` and `argv[3]`."""
    script, source, target = sys.argv[1:4]
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=script, INPUT_PATH=source, OUTPUT_PATH=target)
    sys.modules["__main__"] = module
    sys.argv = [script, source, target]
    os.environ.update(INPUT_PATH=source, OUTPUT_PATH=target)
    sys.excepthook = _told
    with open(script, encoding="utf-8") as file:  # noqa: PTH123 - a script's start is paid for at every run
        text = file.read()
    exec(compile(text, script, "exec"), module.__dict__)


def _told(kind, error, trace):  # type: ignore[no-untyped-def]
    # The first two frames are this program's.
    for _ in range(2):
        trace = trace and trace.tb_next
    traceback.print_exception(kind, error, trace)


if __name__ == "__main__":
    main()
