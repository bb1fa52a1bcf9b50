"""How all figures look, and how they become files: the same runs give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reflact.core.errors import ConfigError, Unavailable
from reflact.rundir.atomic import write_bytes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTHS = {"column": 3.4, "page": 7.0}
"""Inches of a paper's column and of its page."""
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Okabe and Ito, "Color Universal Design" (2008), without the yellow that white paper swallows; told apart with any
common colour blindness. Each also has a marker of its own, for print without colours."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "p", "<", "h")
"""More than colours, so that a series whose colour comes a second time has another marker."""
GREY = "#9A9A9A"
ENDINGS = ("svg", "png", "pdf")
DPI = 300
_LOOK: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],  # it comes with matplotlib: the same on every machine
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.titlesize": 8,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "lines.markersize": 4,
    "errorbar.capsize": 0,
    "savefig.facecolor": "white",
    "svg.hashsalt": "reflact",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


def colour(place: int) -> str:
    """Return the colour of the series at a place."""
    return COLOURS[place % len(COLOURS)]


def marker(place: int) -> str:
    """Return the marker of the series at a place."""
    return MARKERS[place % len(MARKERS)]


def require_matplotlib() -> None:
    """Make sure that figures can be drawn.

    Raises:
        Unavailable: matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise Unavailable("figures need matplotlib: pip install 'reflact[plots]'")


def require_ending(out: Path) -> str:
    """Return the format that a file's name says.

    Raises:
        ConfigError: It says none that figures can have.
    """
    ending = out.suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise ConfigError(f"--out {out}: the name must end in one of {', '.join(f'.{name}' for name in ENDINGS)}")
    if out.is_dir():
        raise ConfigError(f"--out {out} is a folder; the name of a file is needed")
    return ending


@contextmanager
def looking() -> Iterator[None]:
    """Let what is drawn in the block have our look, whatever a matplotlibrc of the user says."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        for name, value in _LOOK.items():
            matplotlib.rcParams[name] = value  # type: ignore[index]
        yield


def rendered(figure: Figure, ending: str) -> bytes:
    """Return a figure as a file of that format: without a date, a version or anything else that changes."""
    metadata = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}.get(
        ending, {"CreationDate": None, "Creator": None, "Producer": None}
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, format=ending, dpi=DPI, metadata=metadata)
    return buffer.getvalue()


def write(data: bytes, out: Path) -> None:
    """Write a figure; one that would not change is left alone."""
    if not out.is_file() or out.read_bytes() != data:
        write_bytes(out, data)
