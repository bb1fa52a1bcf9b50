"""A study that was really made (rehearsed), a hostile copy of it, and one browser a test process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import reflact
from reflact.report.html.build import build_report, write_report
from tests.report.html.browser import Browser, absent
from tests.report.html.poison import poison

SAMPLE = ("benchmark=searchqa", "env.sample=true", "harness=rehearsal")


def train(place: Path, *overrides: str) -> Path:
    config = reflact.compose([*SAMPLE, *overrides])
    config.env.out_root = str(place)
    reflact.train(config)
    return place


@pytest.fixture(scope="session")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a study."""
    root = tmp_path_factory.mktemp("made") / "study"
    train(root / "DEFAULT-searchqa-5.5")
    train(root / "LR-searchqa-1", "ablation/lr=lr1")
    return root


@pytest.fixture(scope="session")
def page(study: Path) -> Path:
    """The report of the study."""
    out = study.parent / "study.html"
    write_report(build_report([study]), out)
    return out


@pytest.fixture(scope="session")
def hostile(study: Path) -> Path:
    """The report of a run in which every text that comes from a model, a data set or a user is an attack."""
    root = study.parent / "hostile"
    run = root / """e'vil"><img src=x onerror=attack()>%2F?#&amp;"""
    shutil.copytree(study / "DEFAULT-searchqa-5.5", run)
    poison(run)
    out = root / "report.html"
    write_report(build_report([root]), out)
    return out


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A headless browser, started once."""
    reason = absent()
    if reason:
        pytest.skip(reason)
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()
