"""A scripted model server on 127.0.0.1: in this process (`ScriptedServer`) or as one of its own.

Run `python -m reflact.testing.server --help` for the latter.
"""

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
from reflact.testing.server.reading import fingerprint

__all__ = [
    "Answer",
    "Exchange",
    "Fault",
    "FaultKind",
    "Reply",
    "RequestLog",
    "Responder",
    "ResponderFailed",
    "ScriptedServer",
    "SeenMessage",
    "SeenRequest",
    "ToolCall",
    "Wire",
    "fingerprint",
]
