"""Backend `local`: a small real model in this process; no key, no server to run.

Temperature 0, one slot, prompt cache on. Replies repeat from run to run on one machine; across machines and
versions of the runtime that is likely, not promised.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from reflact.config.schema import Config
from reflact.core.names import Role
from reflact.core.usage import Usage
from reflact.models.local_runtime import BATCH, Generation, LocalRuntime, RuntimeSettings
from reflact.models.local_weights import find_weights, require_runtime
from reflact.models.protocol import CallError, ChatReply, ChatRequest, Failure, ModelInfo

_TOO_LONG = "exceed_context_size_error"


@dataclass
class LocalModels:
    """The loaded models of one owner: connections made through it share what is the same.

    A model is loaded at its first call and unloaded when the last connection to it is closed.
    """

    _users: dict[RuntimeSettings, tuple[LocalRuntime, int]] = field(default_factory=dict)

    def connect(self, config: Config, role: Role) -> LocalChat:
        """Connect a role.

        Raises:
            ConfigError: `model.local_path` is not a GGUF file.
            Unavailable: Runtime or weights are missing.
        """
        require_runtime()
        settings = RuntimeSettings(find_weights(config.model.local_path), config.local.context, config.local.threads)
        runtime, users = self._users.get(settings) or (LocalRuntime(settings), 0)
        self._users[settings] = (runtime, users + 1)
        return LocalChat(runtime, self)

    def release(self, runtime: LocalRuntime) -> None:
        """Give a connection back."""
        settings = runtime.settings
        users = self._users[settings][1] - 1
        if users:
            self._users[settings] = (runtime, users)
        else:
            del self._users[settings]
            runtime.close()


def connect(config: Config, role: Role, shared: LocalModels | None = None) -> LocalChat:
    """Connect a role to a model in this process; with `shared`, to one that others may be using too."""
    return (shared if shared is not None else LocalModels()).connect(config, role)


class LocalChat:
    """A connection to a model in this process."""

    supports_prefill = True

    def __init__(self, runtime: LocalRuntime, owner: LocalModels) -> None:
        self._runtime: LocalRuntime | None = runtime
        self._owner = owner
        weights = runtime.settings.weights
        self.info = ModelInfo(
            backend="local",
            model=weights.path.stem,
            settings={
                "weights_sha256": weights.sha256,
                "context": runtime.settings.context,
                "batch": BATCH,
                "temperature": 0,
                "prompt_cache": True,
            },
        )

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Make one attempt. The timeout counts from when the model starts on it, not from when it queues.

        Raises:
            CallError: `no_answer` after `timeout_s`; `bad_request` for what the model cannot read.
            Unavailable: The model cannot be loaded.
        """
        if self._runtime is None:
            raise RuntimeError("the connection is closed")
        if any(message.images for message in request.messages):
            raise CallError(Failure.BAD_REQUEST, "the backend `local` reads no images", item_specific=True)
        loop = asyncio.get_running_loop()
        begun = asyncio.Event()
        generation = Generation(_body(request), partial(_tell, loop, begun))
        job = asyncio.wrap_future(self._runtime.worker.submit(self._runtime.generate, generation))
        try:
            await _first(job, begun)
            done, _ = await asyncio.wait({job}, timeout=request.timeout_s)
        finally:
            # Also when this call is cancelled: the thread stops before the next token, and nobody waits for it.
            generation.abandoned.set()
        if not done:
            raise CallError(Failure.NO_ANSWER, f"no complete answer within {request.timeout_s:g} s")
        job.result()
        return _reply(request, generation, self.info.model)

    def beside(self, config: Config, role: Role) -> LocalChat:
        """Connect another role; with the same weights and settings, to the same loaded model."""
        return self._owner.connect(config, role)

    async def aclose(self) -> None:
        """Give the model back."""
        runtime, self._runtime = self._runtime, None
        if runtime is not None:
            self._owner.release(runtime)


def _tell(loop: asyncio.AbstractEventLoop, begun: asyncio.Event) -> None:
    loop.call_soon_threadsafe(begun.set)


async def _first(job: asyncio.Future[None], begun: asyncio.Event) -> None:
    """Wait until the model starts on the call, or until the call has failed before that."""
    waiting = asyncio.ensure_future(_until(begun))
    try:
        await asyncio.wait([job, waiting], return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


async def _until(event: asyncio.Event) -> None:
    await event.wait()


def _body(request: ChatRequest) -> dict[str, Any]:
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    if request.prefill is not None:
        messages.append({"role": "assistant", "content": request.prefill})
    body: dict[str, Any] = {
        "messages": messages,
        "max_tokens": request.max_completion_tokens,
        "temperature": 0,
        "cache_prompt": True,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.stop:
        body["stop"] = list(request.stop)
    if request.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.schema.name, "schema": dict(request.schema.schema)},
        }
    return body


def _reply(request: ChatRequest, generation: Generation, model: str) -> ChatReply:
    if generation.error is not None:
        raise _failure(generation.error)
    text = "".join(generation.text)
    if request.prefill is not None:
        # The runtime repeats the words it was given; whether it does is a matter of its version.
        text = text.removeprefix(request.prefill)
    return ChatReply(text, generation.finish_reason, _usage(generation.usage), model)


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    return Usage.reported(
        usage.get("prompt_tokens"), details.get("cached_tokens"), usage.get("completion_tokens"), None
    )


def _failure(error: Mapping[str, Any]) -> CallError:
    status = int(error.get("code", 500))
    message = str(error.get("message", error))
    if status < 500:
        return CallError(Failure.BAD_REQUEST, message, status=status, item_specific=error.get("type") == _TOO_LONG)
    return CallError(Failure.SERVER, message, status=status)
