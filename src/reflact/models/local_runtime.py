"""One loaded GGUF model with one slot, driven from a thread of its own."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from reflact.core.errors import Unavailable
from reflact.models.local_weights import Weights

BATCH = 256
_WAIT_POLICY = "OMP_WAIT_POLICY"


@dataclass(frozen=True, slots=True)
class RuntimeSettings:
    """What a loaded model depends on: weights, tokens of context, threads (0: one a usable core)."""

    weights: Weights
    context: int
    threads: int


@dataclass(slots=True)
class Generation:
    """One call on its way through the worker thread.

    Attributes:
        begun: Set when the model starts on the call, so that waiting in line is not taken for its work.
        abandoned: Set by whoever no longer wants the reply; the model stops before its next token.
        reply: Text, finish reason and usage, filled as they come.
    """

    body: Mapping[str, Any]
    on_begin: Callable[[], None]
    abandoned: threading.Event = field(default_factory=threading.Event)
    text: list[str] = field(default_factory=list)
    finish_reason: str = ""
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: Mapping[str, Any] | None = None

    def take(self, chunk: Mapping[str, Any]) -> bool:
        """Add a part of the stream; return whether to stop."""
        if "error" in chunk:
            self.error = chunk["error"]
        for choice in chunk.get("choices") or ():
            self.text.append(choice["delta"].get("content") or "")
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        self.usage = chunk.get("usage") or self.usage
        return self.abandoned.is_set()


class LocalRuntime:
    """Loads the model at the first call; calls run one after another, which is what one slot means."""

    def __init__(self, settings: RuntimeSettings) -> None:
        self.settings = settings
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reflact-local")
        self._server: Any = None

    @property
    def worker(self) -> ThreadPoolExecutor:
        """The thread that owns the model."""
        return self._worker

    def generate(self, generation: Generation) -> None:
        """Carry out a call; to be run in `worker`.

        Raises:
            Unavailable: The model cannot be loaded.
        """
        if generation.abandoned.is_set():
            return
        if self._server is None:
            self._server = _load(self.settings)
        generation.on_begin()
        # Streaming is what makes a call stoppable: the callback is asked after every token.
        whole = self._server.handle_chat_completions(dict(generation.body), generation.take)
        if isinstance(whole, Mapping) and "error" in whole:
            generation.error = whole["error"]

    def close(self) -> None:
        """Unload the model as soon as the call in progress has stopped; does not wait for it."""
        self._worker.submit(self._unload)
        self._worker.shutdown(wait=False)

    def _unload(self) -> None:
        self._server = None


def _load(settings: RuntimeSettings) -> Any:
    runtime = import_runtime()
    params = parameters(runtime, settings)
    # The runtime always opens a port on loopback, which nothing here uses: nobody else shall either.
    params.api_keys = [secrets.token_hex(32)]
    return load(runtime, params, settings.weights)


def parameters(runtime: Any, settings: RuntimeSettings, slots: int = 1) -> Any:
    """Return what the runtime is to be started with.

    Args:
        runtime: The runtime's module, see `import_runtime`.
        settings: Weights, context of a slot, threads.
        slots: Calls that are worked on at once.
    """
    params = runtime.CommonParams()
    params.model.path = str(settings.weights.path)
    params.n_ctx = settings.context * slots
    params.n_batch = params.n_ubatch = BATCH
    params.n_parallel = slots
    params.cpuparams.n_threads = settings.threads if settings.threads > 0 else len(os.sched_getaffinity(0))
    # Saved prompt states would cost memory; reuse of the slot's own prefix, which is what makes a shared
    # skill cheap, does not depend on them.
    params.cache_ram_mib = 0
    params.warmup = False
    params.verbosity = -1
    return params


def load(runtime: Any, params: Any, weights: Weights) -> Any:
    """Load the model.

    Raises:
        Unavailable: It cannot be loaded.
    """
    try:
        return runtime.Server(params)
    except Exception as failure:
        # The runtime raises bare RuntimeErrors; whatever it is, the model is not there.
        raise Unavailable(f"the model {weights.path} cannot be loaded: {failure}") from failure


def import_runtime() -> Any:
    """Import the runtime with idle OpenMP threads asleep.

    With the default policy they spin between tokens, and on a machine with other work generation falls tenfold.
    OpenMP reads the variable once, when it is loaded, so the environment is put back right after.
    """
    before = os.environ.get(_WAIT_POLICY)
    os.environ[_WAIT_POLICY] = "passive"
    try:
        import xllamacpp
    finally:
        if before is None:
            del os.environ[_WAIT_POLICY]
        else:
            os.environ[_WAIT_POLICY] = before
    return xllamacpp
