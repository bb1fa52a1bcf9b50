"""What holds for all tests: gaps are shown, and with `--gaps=fail` they are failures.

A test that needs something optional skips with a reason that begins with `absent:`.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Generator, Iterator
from typing import Any

import pytest

ABSENT = "absent:"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--gaps", choices=("show", "fail"), default="show", help="what a test that is skipped for something absent is"
    )


def pytest_configure() -> None:
    # Background jobs and `nohup` ignore these, and every child would inherit that: tests of signals want a terminal's.
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # not the main thread
                signal.signal(number, handler)


@pytest.fixture(autouse=True)
def signals_as_found() -> Iterator[None]:
    """Set back what a command that ran in this process did to signals: it ignores them once it is about to end."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.config.getoption("--gaps") == "fail" and ABSENT in _reason(report):
        report.outcome = "failed"
        report.longrepr = f"nothing may be left out here, but {_reason(report)}"
    return report


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = _reason(report)
        reasons[reason] = reasons.get(reason, 0) + 1
    if reasons:
        terminalreporter.write_sep("-", "left out")
        for reason, count in sorted(reasons.items()):
            terminalreporter.write_line(f"{count:4d}  {reason}")


def _reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return str(report.longrepr)
