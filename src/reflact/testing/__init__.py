"""The test kit for everybody who builds on reflact: a scripted model server, brains for it, and conformance classes.

Names are looked up when they are used, so that a benchmark's tests need neither aiohttp nor a model's client.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reflact.testing.brains import Brain, Known
    from reflact.testing.conformance.benchmark import BenchmarkConformance
    from reflact.testing.conformance.chat_model import ChatModelConformance
    from reflact.testing.conformance.http_model import HttpChatModelConformance
    from reflact.testing.exchange import (
        Answer,
        Fault,
        FaultKind,
        Reply,
        Responder,
        SeenMessage,
        SeenRequest,
        ToolCall,
        Wire,
    )
    from reflact.testing.server.host import ResponderFailed, ScriptedServer
    from reflact.testing.server.log import Exchange, RequestLog
    from reflact.testing.server.picky import Picky
    from reflact.testing.server.process import ServerProcess
    from reflact.testing.server.script import Script, read_script
    from reflact.testing.sessions import Asked, FakeSession, rehearsing_session, scripted_session

__all__ = [
    "Answer",
    "Asked",
    "BenchmarkConformance",
    "Brain",
    "ChatModelConformance",
    "Exchange",
    "FakeSession",
    "Fault",
    "FaultKind",
    "HttpChatModelConformance",
    "Known",
    "Picky",
    "Reply",
    "RequestLog",
    "Responder",
    "ResponderFailed",
    "Script",
    "ScriptedServer",
    "SeenMessage",
    "SeenRequest",
    "ServerProcess",
    "ToolCall",
    "Wire",
    "read_script",
    "rehearsing_session",
    "scripted_session",
]

_HOMES = {
    "exchange": (
        "Answer",
        "Fault",
        "FaultKind",
        "Reply",
        "Responder",
        "SeenMessage",
        "SeenRequest",
        "ToolCall",
        "Wire",
    ),
    "sessions": ("Asked", "FakeSession", "rehearsing_session", "scripted_session"),
    "brains": ("Brain", "Known"),
    "server.host": ("ResponderFailed", "ScriptedServer"),
    "server.log": ("Exchange", "RequestLog"),
    "server.picky": ("Picky",),
    "server.process": ("ServerProcess",),
    "server.script": ("Script", "read_script"),
    "conformance.benchmark": ("BenchmarkConformance",),
    "conformance.chat_model": ("ChatModelConformance",),
    "conformance.http_model": ("HttpChatModelConformance",),
}


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
