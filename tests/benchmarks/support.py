"""What several test modules of benchmarks need."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from reflact.benchmarks.protocol import Benchmark
from reflact.benchmarks.registry import load_benchmark
from reflact.config.schema import Config
from reflact.core.types import Item, Outcome
from reflact.core.usage import Usage
from reflact.models.protocol import ChatReply
from reflact.testing import FakeSession, scripted_session

REAL_LIVEMATH = Path(__file__).parents[2].parent / "shared" / "data" / "livemathematicianbench"


def make(name: str, **env: Any) -> Benchmark:
    """Return a benchmark whose `env.` keys are set."""
    config = Config()
    config.benchmark.name = name
    for key, value in env.items():
        assert hasattr(config.env, key)
        setattr(config.env, key, value)
    return load_benchmark(config)


def cut(text: str) -> ChatReply:
    """Return a reply that the token cap ended."""
    return ChatReply(text, "length", Usage(calls=1))


def converse(
    benchmark: Benchmark, item: Item, *said: str | ChatReply, skill: str = "", seed: int = 42
) -> tuple[Outcome, FakeSession]:
    """Let a student say these things; return the outcome and what the student was asked."""
    session = scripted_session(said, skill=skill, seed=seed)
    return asyncio.run(benchmark.converse(item, session)), session


def write_json(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_split(folder: Path, parts: Mapping[str, Sequence[Any]]) -> Path:
    """Write a split folder by hand, without a manifest."""
    for part, records in parts.items():
        write_json(folder / part / "items.json", list(records))
    return folder


def question(name: str, **changes: Any) -> dict[str, Any]:
    """Return a SearchQA record."""
    return {
        "id": name,
        "question": f"Who is {name}?",
        "context": f"[DOC] [TLE] {name} [PAR] The name is N{name}.",
        "answers": [f"N{name}"],
        **changes,
    }


def theorem(number: int, *, right: str = "", month: str = "202501", **changes: Any) -> dict[str, Any]:
    """Return a LiveMathematicianBench record as the monthly files have them."""
    return {
        "no": number,
        "month": month,
        "theorem": f"Theorem {number}.",
        "sketch": f"Sketch {number}.",
        "theorem_type": ["Universal", "Implication"],
        "mcq": {
            "question": f"What holds in case {number}?",
            "correct_choice": {"label": "A", "text": right or f"right {number}"},
            "choices": [{"label": label, "text": f"wrong {label} {number}"} for label in "BCDE"],
        },
        **changes,
    }
