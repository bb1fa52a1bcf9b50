"""`python -m bench [NAME...]`: the measurements, or those named, one after the other."""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Sequence
from importlib import import_module

BENCHES = {
    "evaluation": "an evaluation of 1,024 items against its bound",
    "training": "a training run against the bound of its schedule",
    "startup": "how long commands take to begin",
    "rehearsal": "the whole study: its dry run, and a part of its rehearsal, extrapolated",
    "reuse": "calls that the runs of a sweep save by sharing evaluations",
    "shared_limits": "one limit for eight runs at once",
    "sdk_overhead": "CPU time of a call, from the bare SDK to a row on disk",
    "relay": "what the relay adds to an agent's request, and how long a killed run's agents live on",
    "gate": "how often each rule of the gate accepts an edit that does nothing",
    "learning": "what a small model on this machine learns",
}
ON_REQUEST = {
    "rehearsal_full": "the whole study rehearsed for real; ten minutes or more",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benches that are named, or all but those that are only run on request."""
    lines = "\n".join(f"  {name:<16}{what}" for name, what in {**BENCHES, **ON_REQUEST}.items())
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=f"{__doc__}\n\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all but {', '.join(ON_REQUEST)}")
    names = parser.parse_args(arguments).names or list(BENCHES)
    unknown = [name for name in names if name not in {**BENCHES, **ON_REQUEST}]
    if unknown:
        parser.error(f"there is no bench {', '.join(unknown)}; there are {', '.join([*BENCHES, *ON_REQUEST])}")
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}", flush=True)
    for name in names:
        started = time.monotonic()
        import_module(f"bench.{name}").main()
        print(f"  ({name}: {time.monotonic() - started:.0f} s, load {os.getloadavg()[0]:.1f})", flush=True)


if __name__ == "__main__":
    main()
