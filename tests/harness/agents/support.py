"""What tests of agent programs need: a task, a harness against a scripted server, and programs that are not real."""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import struct
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from reflact.benchmarks.answers import extract
from reflact.config.operation import BudgetConfig
from reflact.config.schema import Config
from reflact.confine import choose
from reflact.core.errors import ReflactError
from reflact.core.events import Event
from reflact.core.names import Phase, Role, RowStatus, Stage
from reflact.core.types import Item, Outcome
from reflact.harness.agent import Assignment, Handed
from reflact.harness.programs import find_claude, find_codex
from reflact.harness.protocol import Job, Performance
from reflact.harness.registry import connect_student, make_harness
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limits import LocalLimiter
from reflact.models.meter import Meter
from reflact.testing import ScriptedServer

CODEX, CLAUDE = "codex_exec", "claude_code_exec"
BOTH = (CODEX, CLAUDE)
KEY = "the-real-key-of-this-test"
SKILL = "# Skill\n\n- MARK-7731: look twice, „zweimal“ — 两次.\n"
ITEM = Item("i1", "What is the capital of France?", ("Paris",))
RIGHT = "I looked.\n<answer>Paris</answer>"


class Quiz:
    """A task whose answer stands in answer tags, or in a file."""

    def __init__(self, **assignment: Any) -> None:
        self.given = assignment
        self.handed: list[Handed] = []

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        values = {"system": f"You answer questions.\n\n{skill}", "prompt": item.question, **self.given}
        return Assignment(**values)

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        return handed.file is not None or extract(handed.text).tagged

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        self.handed.append(handed)
        said = handed.text if handed.file is None else handed.file.decode()
        answer = extract(said).text
        hard = float(answer in item.gold)
        return Outcome(
            RowStatus.OK,
            hard=hard,
            soft=hard,
            predicted_answer=answer,
            n_turns=handed.n_turns,
            conversation=handed.conversation,
        )


@dataclass
class Bench:
    """A harness and what it told."""

    harness: Any
    meter: Meter
    events: list[Event] = field(default_factory=list)

    def do(self, *items: Item, skill: str = SKILL, at_once: bool = True, **job: Any) -> list[Performance]:
        """Do items, all at once, and close the harness."""

        async def go() -> list[Performance]:
            try:
                work = [self.harness.perform(item, job_of(skill, **job)) for item in items]
                return list(await asyncio.gather(*work))
            finally:
                await self.harness.aclose()

        return asyncio.run(go())

    def one(self, item: Item = ITEM, **more: Any) -> Performance:
        """Do one item."""
        return self.do(item, **more)[0]

    def named(self, kind: str) -> list[Any]:
        """Return the events of a kind."""
        return [event for event in self.events if event.kind == kind]


def job_of(skill: str = SKILL, **more: Any) -> Job:
    return Job(**{"skill": skill, "seed": 1, "repeat": 0, "stage": Stage.ROLLOUT, "phase": Phase.TRAIN, **more})


def settings(backend: str, url: str, **more: Any) -> Config:
    """Return a configuration; `more` takes keys with `__` for the dot."""
    config = Config()
    config.model.student_backend = backend
    config.model.student = "gpt-5.5" if backend == CODEX else "claude-sonnet-4-5"
    config.model.student_base_url = url
    config.model.student_api_key_env = "REFLACT_TEST_KEY"
    config.model.codex_exec_use_sdk = False
    config.env.exec_timeout, config.env.idle_timeout = 60.0, 60.0
    config.limits.backoff_s = 0.05
    for key, value in more.items():
        group, _, name = key.partition("__")
        setattr(getattr(config, group), name, value)
    return config


def bench(
    monkeypatch: pytest.MonkeyPatch, backend: str, url: str, task: Quiz | None = None, budget: int = 0, **more: Any
) -> Bench:
    """Make a harness that reaches a scripted server."""
    monkeypatch.setenv("REFLACT_TEST_KEY", KEY)
    config = settings(backend, url, **more)
    meter, events = Meter({}, BudgetConfig(max_tokens=budget)), list[Event]()
    caller = Caller(
        connect_student(config),
        Role.STUDENT,
        limiter=LocalLimiter(config.limits, time.monotonic),
        meter=meter,
        policy=RetryPolicy.of(config.limits),
        emit=events.append,
        clock=time.monotonic,
        rng=Random(0),
        in_flight=4,
    )
    harness = make_harness(config, cast(Any, task or Quiz()), caller, events.append)
    return Bench(harness, meter, events)


def url_of(server: ScriptedServer, backend: str) -> str:
    return server.base_url if backend == CODEX else server.url


def png(side: int = 8) -> bytes:
    """Return a small image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xc0\x20\x20" * side for _ in range(side))
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def need(backend: str) -> None:
    """Skip where the real program is missing."""
    try:
        (find_codex if backend == CODEX else find_claude)(Config())
    except ReflactError as error:
        pytest.skip(f"absent: {error}")


def need_bubblewrap() -> None:
    choice = choose("auto")
    if not choice.confinement.confined:
        pytest.skip(f"absent: {choice.reason}")


def fake(folder: Path, name: str, body: str) -> Path:
    """Write a shell script that plays a program; what it is not asked in earnest it answers itself."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(
        f'#!/bin/sh\ncase "$1" in --version) echo "fake 1.0"; exit 0;; sandbox) echo fine; exit 0;; esac\n{body}\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def fake_bench(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, backend: str, body: str, task: Quiz | None = None, **more: Any
) -> Bench:
    """Make a harness whose program is a script, first on PATH; without a relay, since it asks nobody."""
    fake(tmp_path / "bin", "codex" if backend == CODEX else "claude", body)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    more = {"model__exec_relay": False, **more}
    return bench(monkeypatch, backend, "http://127.0.0.1:9/v1", task, **more)


def codex_says(*texts: str, usage: str = '{"input_tokens":10,"cached_input_tokens":4,"output_tokens":5}') -> str:
    """Return shell lines that print a whole turn."""
    events: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}]
    events += [
        {"type": "item.completed", "item": {"id": f"item_{n}", "type": "agent_message", "text": text}}
        for n, text in enumerate(texts)
    ]
    events.append({"type": "turn.completed", "usage": json.loads(usage)})
    return "\n".join(f"printf '%s\\n' {shlex.quote(json.dumps(event))}" for event in events)


def claude_says(*texts: str, **result: Any) -> str:
    """Return shell lines that print a whole conversation."""
    events: list[Mapping[str, Any]] = [{"type": "system", "subtype": "init"}]
    events += [
        {"type": "assistant", "message": {"model": "m", "content": [{"type": "text", "text": text}]}} for text in texts
    ]
    usage = {"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 5}
    last = {"type": "result", "subtype": "success", "is_error": False, "result": texts[-1] if texts else ""}
    events.append({**last, "num_turns": 1, "usage": usage, **result})
    return "\n".join(f"printf '%s\\n' {shlex.quote(json.dumps(event))}" for event in events)


def living(word: str) -> list[int]:
    """Return the processes of this machine whose command line or environment holds a word."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            except OSError:
                continue
            if word.encode() in text:
                found.append(int(entry.name))
    return found


@contextmanager
def nothing_left(word: str) -> Iterator[None]:
    """Check that no process with the word lives when the block has ended."""
    yield
    left = living(word)
    assert not left, [told(pid) for pid in left]


def told(pid: int) -> str:
    """Return what a process is, for whoever wonders why it is still there."""
    try:
        return "\n".join(Path(f"/proc/{pid}/{name}").read_text(errors="replace")[:600] for name in ("cmdline", "stat"))
    except OSError as error:
        return f"{pid}: {error}"
