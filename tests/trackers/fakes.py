"""Trackers that misbehave, installed the way a package of somebody else's would be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

MODULE = """
import json, os, sys, time
from pathlib import Path


class Base:
    def begin(self, begin):
        self.file = Path(begin.memory, "told.jsonl")
        self.say(begin=begin.to_json())

    def metrics(self, values, step, at):
        self.say(metrics=dict(values), step=step, t=at)

    def end(self, end):
        self.say(end=end.to_json())

    def say(self, **record):
        with self.file.open("a") as file:
            file.write(json.dumps(record) + "\\n")


class Good(Base):
    pass


class Environment(Base):
    def begin(self, begin):
        super().begin(begin)
        self.say(environ=dict(os.environ))


class RaisesAtOnce(Base):
    def begin(self, begin):
        raise RuntimeError("no store here")


class RaisesLater(Base):
    def metrics(self, values, step, at):
        raise RuntimeError("the store is full")


class HangsInMetrics(Base):
    def metrics(self, values, step, at):
        time.sleep(3600)


class HangsAtTheEnd(Base):
    def end(self, end):
        time.sleep(3600)


class Dies(Base):
    def metrics(self, values, step, at):
        os.kill(os.getpid(), 9)


class Floods(Base):
    def metrics(self, values, step, at):
        sys.stdout.write("x" * 1_000_000)
        super().metrics(values, step, at)


class LeavesAChild(Base):
    def end(self, end):
        if os.fork() == 0:
            Path(self.file.parent, "child").write_text(str(os.getpid()))
            time.sleep(3600)
        super().end(end)
"""
NAMES = (
    "Good", "Environment", "RaisesAtOnce", "RaisesLater", "HangsInMetrics", "HangsAtTheEnd", "Dies", "Floods",
    "LeavesAChild",
)  # fmt: skip


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the fakes where this process and the trackers' processes find them."""
    info = folder / "fake_trackers-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "fake_trackers.py").write_text(MODULE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-trackers\nVersion: 1.0\n", encoding="utf-8")
    lines = "\n".join(f"{name} = fake_trackers:{name}" for name in NAMES)
    (info / "entry_points.txt").write_text(f"[reflact.trackers]\n{lines}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
