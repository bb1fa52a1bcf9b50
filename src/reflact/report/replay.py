"""A run walked again from its files, without a call, to see what its teacher was sent.

The walk is the run's own: the same method, stages and keys, in a copy of the directory. Where a stage would ask the
teacher, the prompt is built and kept, and the recorded result is taken; where a row would be made, the walk ends.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from omegaconf import DictConfig, OmegaConf

from reflact.config.compose import typed
from reflact.config.schema import Config
from reflact.core.errors import ConfigError, DataError
from reflact.core.events import Decision, Event
from reflact.core.types import Item, Json
from reflact.engine.assemble import setting
from reflact.engine.evaluation import Evaluator
from reflact.engine.final import BackgroundTest
from reflact.engine.forecast import Forecast
from reflact.engine.gate import Metric, make_rule
from reflact.engine.history import History
from reflact.engine.judge import measure_baseline
from reflact.engine.keys import KeyMaker
from reflact.engine.method import make_method
from reflact.engine.prepare import Prepared, prepare
from reflact.engine.run_record import read_record
from reflact.engine.running import leading
from reflact.engine.workbench import Workbench
from reflact.harness.protocol import Job, Performance
from reflact.models.meter import Meter
from reflact.models.protocol import CallError, ChatModel, ChatReply, ChatRequest, Failure, Message, ModelInfo
from reflact.models.slots import Slots
from reflact.optimizer.llm_teacher import LLMTeacher
from reflact.optimizer.prompt_library import PromptLibrary
from reflact.rundir.journal import Journal
from reflact.rundir.jsonl import Syncer
from reflact.rundir.layout import RunLayout

_ROWS = ("results.jsonl", "conversations.jsonl")
_LEFT_OUT = ("claims", ".hydra", "test", "speculation", "events.jsonl", "state.json", "summary.json", "train.log")


class _End(Exception):
    """The walk has come as far as it can, or as far as was asked."""


@dataclass(slots=True)
class Call:
    """A teacher call of a run.

    Attributes:
        name: The file of its result, relative to the run directory, without suffix.
        exact: Whether the inputs have the hash that the result was kept under: this is what was sent.
        prompt: Name of the prompt.
        stage: Stage that paid.
        messages: What was sent.
    """

    name: str
    exact: bool
    prompt: str = ""
    stage: str = ""
    messages: tuple[Message, ...] = ()


@dataclass(slots=True)
class Recorder:
    """Stands where the teacher's model would be and keeps what it is sent."""

    info: ModelInfo
    calls: list[Call] = field(default_factory=list)
    under_way: dict[object, Call] = field(default_factory=dict)

    @property
    def model(self) -> Recorder:
        """Itself: it has the recorded description."""
        return self

    async def ask(self, request: ChatRequest, *, stage: str, phase: str) -> ChatReply:
        """Keep the request; there is no answer."""
        call = self.under_way[asyncio.current_task()]
        call.prompt = request.schema.name if request.schema is not None else "(free text)"
        call.stage, call.messages = str(stage), request.messages
        self.calls.append(call)
        raise CallError(Failure.CONTENT_FILTER, "nothing is sent", item_specific=True)


class _ReplayJournal(Journal):
    """Builds what a stage would send, and gives what was recorded."""

    def __init__(self, root: Path, folder: Path, recorder: Recorder) -> None:
        super().__init__(folder, lambda: None)
        self._root = root
        self._recorder = recorder

    def sub(self, folder: str) -> Journal:
        """Return the journal of a folder inside this one."""
        return _ReplayJournal(self._root, self._folder / folder, self._recorder)

    async def once(self, name: str, key: str, make: Callable[[], Awaitable[dict[str, Json]]]) -> dict[str, Json]:
        """Return the recorded result."""
        path = self._folder / f"{name}.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        call = Call(path.relative_to(self._root).with_suffix("").as_posix(), kept is not None and kept["key"] == key)
        task = asyncio.current_task()
        self._recorder.under_way[task] = call
        await make()
        del self._recorder.under_way[task]
        if kept is None:
            raise _End
        return {field: value for field, value in kept.items() if field != "key"}


class _ReplayBench(Workbench):
    """A workbench whose journals replay."""

    recorder: Recorder

    def journal(self, folder: Path) -> Journal:
        """Return the journal of a folder."""
        return _ReplayJournal(self.layout.root, folder, self.recorder)


class _NoStudent:
    """Every row that is needed is on disk, or the walk ends."""

    name = "replay"

    async def perform(self, item: Item, job: Job) -> Performance:
        raise _End

    async def aclose(self) -> None:
        """Nothing is held."""


def recorded_config(record: Mapping[str, Any]) -> Config:
    """Return the configuration of a run's `config.json`."""
    node = OmegaConf.merge(OmegaConf.structured(Config), OmegaConf.create(dict(record["config"])))
    config = typed(cast(DictConfig, node))
    config.evaluation.overlap_baseline_test = config.train.speculate = False
    return config


def replay(run: Path, step: int) -> list[Call]:
    """Return the teacher calls of a run up to the end of a step, in the order in which they were built.

    Args:
        run: The run directory; nothing is written to it.
        step: The last step to walk, from 1.

    Raises:
        ConfigError: It is no training run, or its benchmark has other items now.
    """
    record = read_record(RunLayout(run))
    if record is None or "schedule" not in record:
        raise ConfigError(f"{run} is no training run: it has no config.json")
    config = recorded_config(record)
    prepared = prepare(config, skill=str(RunLayout(run).skill(0)))
    if prepared.split.fingerprint != record["split"]["fingerprint"]:
        raise DataError(f"{run} was made with other items than the benchmark has now")
    recorder = Recorder(_info(record, "teacher"))
    with tempfile.TemporaryDirectory(prefix="reflact-replay-") as folder:
        root = Path(folder) / "run"
        _copy(run.absolute(), root)
        asyncio.run(_walk(prepared, record, RunLayout(root), recorder, step))
    return recorder.calls


def _copy(run: Path, root: Path) -> None:
    """Copy what the stages read; rows are only pointed to."""
    shutil.copytree(run, root, ignore=lambda _, names: {n for n in names if n in (*_LEFT_OUT, *_ROWS)})
    for name in _ROWS:
        for rows in run.rglob(name):
            place = root / rows.relative_to(run)
            if place.parent.is_dir():
                place.symlink_to(rows)


async def _walk(
    prepared: Prepared, record: Mapping[str, Any], layout: RunLayout, recorder: Recorder, last: int
) -> None:
    def emit(event: Event) -> None:
        if isinstance(event, Decision) and event.what == "step" and (event.step or 0) >= last:
            raise _End

    syncer = Syncer()
    try:
        bench = _bench(prepared, record, layout, recorder, emit, syncer)
        async with asyncio.TaskGroup() as group:
            state = await measure_baseline(bench)
            method = make_method(prepared.config.optimizer.name)
            await method.improve(bench, state, History(layout, state), BackgroundTest(bench, group))
    except _End:
        pass
    except BaseExceptionGroup as errors:
        first = leading(errors)
        if not isinstance(first, _End):
            raise first from None
    finally:
        syncer.close()


def _bench(
    prepared: Prepared,
    record: Mapping[str, Any],
    layout: RunLayout,
    recorder: Recorder,
    emit: Callable[[Event], None],
    syncer: Syncer,
) -> Workbench:
    config = prepared.config
    loop = asyncio.get_running_loop()
    slots = Slots(1, loop.time)
    student = cast(ChatModel, Recorder(_info(record, "student")))
    shared = setting(prepared, student, record["code_version"])
    bench = _ReplayBench(
        config=config,
        benchmark=prepared.benchmark,
        split=prepared.split,
        schedule=prepared.schedule,
        initial_skill=prepared.skill,
        evaluator=Evaluator(
            harness=_NoStudent(),
            slots=slots,
            keys=KeyMaker(prepared.split.fingerprints, shared),
            config=config.evaluation,
            syncer=syncer,
            emit=emit,
            check=lambda: None,
        ),
        teacher=LLMTeacher(recorder, config, PromptLibrary.load(prepared.benchmark.prompts()), emit),
        rule=make_rule(config.evaluation),
        metric=Metric(config.evaluation.gate_metric, config.evaluation.gate_mixed_weight),
        meter=Meter.of(config),
        layout=layout,
        syncer=syncer,
        emit=emit,
        check=lambda: None,
        forecast=Forecast(slots, slots, loop.time),
    )
    bench.recorder = recorder
    return bench


def _info(record: Mapping[str, Any], role: str) -> ModelInfo:
    known = record["models"][role]
    return ModelInfo(known["backend"], known["model"], known["endpoint"], known["simulated"], known["settings"])
