"""The Codex CLI, `codex exec`."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl

from reflact.config.models import ModelConfig
from reflact.confine import Confinement, ConfinementError, Job, Mount
from reflact.core.errors import Unavailable
from reflact.harness.agent import Assignment
from reflact.harness.agent_cli import (
    KEY_FILE,
    KEY_S,
    SCRATCH_BYTES,
    Access,
    Launch,
    agent_limits,
    image_files,
    task_text,
)
from reflact.harness.agent_report import Events
from reflact.harness.codex_events import CodexEvents
from reflact.harness.programs import Program
from reflact.harness.workspace import Workspace, workspace

_INSIDE = "/opt/codex"
_KEY = "RELAY_KEY"
_OPEN = "danger-full-access"
_PROBE_S = 20.0
_SILENCE_MS = 300_000


@dataclass(slots=True)
class Codex:
    """Runs it, one process an item.

    Attributes:
        program: The CLI.
        model: Keys under `model.`.
    """

    program: Program
    model: ModelConfig
    _sandbox: str = field(init=False)

    def __post_init__(self) -> None:
        self._sandbox = self.model.codex_exec_sandbox

    async def settle(self, confinement: Confinement) -> str:
        """Try Codex's own sandbox: where it does not work every command of the student fails without a word."""
        if self._sandbox == _OPEN:
            return self._open_network(confinement)
        reason = await self._sandbox_problem(confinement)
        if reason is None:
            return ""
        if not confinement.confined:
            raise Unavailable(
                f"Codex's own sandbox (model.codex_exec_sandbox={self._sandbox}) does not work here: {reason}. "
                "Install bubblewrap and allow user namespaces, or set model.codex_exec_sandbox=danger-full-access, "
                "with which a student's commands may do whatever you may"
            )
        self._sandbox = _OPEN
        found = f"Codex's own sandbox does not work inside bubblewrap ({reason}); bubblewrap alone confines the student"
        return "; ".join(filter(None, (found, self._open_network(confinement))))

    def launch(self, place: Workspace, assignment: Assignment, access: Access) -> Launch:
        """Return `codex exec` with a configuration of its own."""
        images = self._prepare(place, assignment, access)
        # Images go first: their option takes all values up to the next option.
        pictures = [part for image in images for part in ("--image", image)]
        argv = (self._inside(place.confined), "exec", *pictures, *self._options(place, access), "-")
        return Launch(argv, self._env(place, access), self._mounts(place.confined), task_text(assignment.prompt))

    def events(self) -> Events:
        """Return a fresh reader of its events."""
        return CodexEvents()

    def _prepare(self, place: Workspace, assignment: Assignment, access: Access) -> list[str]:
        """Write what Codex reads; returns the paths of the images as it knows them."""
        images = image_files(assignment.images)
        place.put(images)
        # A file of its own, since a skill may be longer than an argument may be.
        place.put_home("codex/config.toml", f"developer_instructions = {_toml(assignment.system)}\n")
        if access.fleeting:
            place.put_home(KEY_FILE, access.key)
        return [f"{place.work_inside}/{name}" for name in images]

    def _options(self, place: Workspace, access: Access) -> list[str]:
        return [
            *("--json", "--skip-git-repo-check", "-C", place.work_inside, "-m", self.model.student),
            *("-s", self._sandbox, "--ephemeral", "--strict-config"),
            *(part for setting in self._settings(access, place.home_inside) for part in ("-c", setting)),
        ]

    def _settings(self, access: Access, home: str) -> list[str]:
        model = self.model
        texts = {
            "approval_policy": model.codex_exec_approval_policy,
            "model_reasoning_effort": model.codex_exec_reasoning_effort,
            "model_provider": "relay",
            "web_search": "live" if model.codex_exec_web_search else "disabled",
        }
        values = {
            "analytics.enabled": "false",
            "features.plugins": "false",
            "project_doc_max_bytes": "0",
            "sandbox_workspace_write.exclude_slash_tmp": "true",
            "sandbox_workspace_write.exclude_tmpdir_env_var": "true",
            "sandbox_workspace_write.network_access": json.dumps(model.codex_exec_network_access),
            "shell_environment_policy.ignore_default_excludes": "false",
            "model_providers.relay": _provider(access, home),
        }
        return [
            *(f"{key}={_toml(text)}" for key, text in texts.items()),
            *(f"{key}={value}" for key, value in values.items()),
        ]

    def _env(self, place: Workspace, access: Access) -> dict[str, str]:
        return {
            "HOME": place.home_inside,
            "CODEX_HOME": f"{place.home_inside}/codex",
            "TMPDIR": "/tmp" if place.confined else f"{place.home_inside}/tmp",
            "SHELL": "/bin/bash",
            # A token stands in a file, where it is renewed.
            **({} if access.fleeting else {_KEY: access.key}),
        }

    def _mounts(self, confined: bool) -> tuple[Mount, ...]:
        if not confined:
            return ()
        program = self.program
        if program.folder is None:
            return (Mount(program.path, self._inside(True)),)
        return (Mount(program.folder, _INSIDE),)

    def _inside(self, confined: bool) -> str:
        program = self.program
        if not confined:
            return str(program.path)
        name = program.path.name if program.folder is None else str(program.path.relative_to(program.folder))
        return f"{_INSIDE}/{name}"

    def _open_network(self, confinement: Confinement) -> str:
        """Say that the student has a network that it should not have, `""` where it has none."""
        if not confinement.confined or self.model.exec_relay or self.model.codex_exec_network_access:
            return ""
        return (
            "model.exec_relay=false: without Codex's own sandbox its commands have the machine's network too, although "
            "model.codex_exec_network_access=false"
        )

    async def _sandbox_problem(self, confinement: Confinement) -> str | None:
        """Run one command in Codex's sandbox, within ours; returns why that fails."""
        with workspace(confinement.confined) as place:
            place.put_home("codex/config.toml", "")
            work = Mount(place.work, place.work_inside, True), Mount(place.home, place.home_inside, True)
            job = Job(
                (self._inside(place.confined), "sandbox", "--", "/bin/echo", "fine"),
                place.work_inside,
                replace(agent_limits(), wall_s=_PROBE_S),
                (*self._mounts(place.confined), *work),
                env=self._env(place, Access("")),
                scratch_bytes=SCRATCH_BYTES,
            )
            try:
                result = await confinement.run(job)
            except ConfinementError as error:
                return str(error)
        if result.ok and result.stdout.strip() == b"fine":
            return None
        lines = result.stderr.decode(errors="replace").strip().splitlines()
        return lines[-1][:300] if lines else f"it ended with {result.ending}, exit code {result.code}"


def _provider(access: Access, home: str) -> str:
    # The relay repeats what can be repeated; only an answer that broke off is Codex's to ask for again.
    requests, streams = (4, 5) if access.direct else (0, 2)
    parts = [
        'name="Relay"',
        f"base_url={_toml(access.url)}",
        'wire_api="responses"',
        _credential(access, home),
        f"request_max_retries={requests}",
        f"stream_max_retries={streams}",
        f"stream_idle_timeout_ms={_SILENCE_MS}",
    ]
    if access.query:
        parts.append(f"query_params={{{','.join(f'{_toml(a)}={_toml(b)}' for a, b in parse_qsl(access.query))}}}")
    return f"{{{','.join(parts)}}}"


def _credential(access: Access, home: str) -> str:
    if access.fleeting:
        file = _toml(f"{home}/{KEY_FILE}")
        return f'auth={{command="/bin/cat",args=[{file}],timeout_ms=5000,refresh_interval_ms={1000 * KEY_S}}}'
    if access.header == "authorization":
        return f'env_key="{_KEY}"'
    return f'env_http_headers={{"{access.header}"="{_KEY}"}}'


def _toml(text: str) -> str:
    """Return a text as a TOML string: JSON's form is one, but for the one control character that it leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
