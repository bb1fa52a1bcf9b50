"""What the harness needs to know of an agent program: its command line and its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from reflact.confine import MIB, Confinement, Limits, Mount
from reflact.harness.agent import Assignment
from reflact.harness.agent_report import Events
from reflact.harness.workspace import Workspace
from reflact.models.protocol import Image

DUMMY_KEY = "none-the-relay-has-it"
KEY_FILE = "key"
"""Where a program's home holds a key that is read anew now and then."""
KEY_S = 60
"""Seconds after which it may be another."""
SCRATCH_BYTES = 1024 * MIB
_DAY_S = 24 * 3600.0
_FILE_NAMES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}


@dataclass(frozen=True, slots=True)
class Access:
    """How a program reaches the model.

    Attributes:
        url: Base URL, with `/v1` at its end for Codex.
        key: What opens the door; a dummy where a relay has the real one.
        header: The header that it goes into: `authorization` (as a bearer token), `api-key` or `x-api-key`.
        direct: There is no relay, so that the program itself has to repeat what failed.
        query: What every URL ends with, such as `api-version=preview`.
        fleeting: The key is a token, which ends: it is read from `KEY_FILE`, where a new one will stand in time.
    """

    url: str
    key: str = field(default=DUMMY_KEY, repr=False)
    header: str = "authorization"
    direct: bool = False
    query: str = ""
    fleeting: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """A command, beside what all agent programs share.

    Attributes:
        argv: The program and its arguments, with the paths that it knows.
        env: Its environment.
        mounts: What it needs to be shown.
        stdin: The task.
        hidden: What must not be seen although a mount holds it.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    mounts: tuple[Mount, ...]
    stdin: bytes
    hidden: tuple[Path, ...] = ()


class AgentCli(Protocol):
    """An agent program."""

    async def settle(self, confinement: Confinement) -> str:
        """Find out, once a run, what works here; returns a warning or `""`.

        Raises:
            Unavailable: What was asked for does not work here.
        """
        ...

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Write what the program reads into its home, and return its command."""
        ...

    def events(self) -> Events:
        """Return a fresh reader of its events."""
        ...


def agent_limits() -> Limits:
    """Return what an agent and everything that it starts may take; its time is kept by the item's budget."""
    # Threads count as processes, and these programs have dozens; they reserve address space without end.
    return Limits(
        wall_s=_DAY_S,
        memory_bytes=4096 * MIB,
        file_bytes=512 * MIB,
        folder_bytes=1024 * MIB,
        entries=50_000,
        processes=512,
        output_bytes=256 * MIB,
        address_space=False,
    )


def image_files(images: tuple[Image, ...]) -> dict[str, bytes]:
    """Return images as files with plain names."""
    return {
        f"image-{number}.{_FILE_NAMES.get(image.media_type, 'png')}": image.data
        for number, image in enumerate(images, start=1)
    }


def task_text(prompt: str) -> bytes:
    """Return a task as it is written to standard input; programs take a first `/` or `-` for something else."""
    return f"Task:\n\n{prompt}\n".encode()
