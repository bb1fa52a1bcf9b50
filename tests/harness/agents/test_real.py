"""The real programs against a scripted server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from reflact.core.names import RowStatus
from reflact.core.types import Item
from reflact.models.protocol import Image
from reflact.testing import Fault, Reply, ScriptedServer, ToolCall
from reflact.testing.exchange import FaultKind, SeenRequest
from reflact.testing.server import fingerprint
from tests.harness.agents.support import (
    BOTH,
    CLAUDE,
    CODEX,
    ITEM,
    KEY,
    RIGHT,
    SKILL,
    Quiz,
    bench,
    living,
    need,
    nothing_left,
    png,
    url_of,
)

both = pytest.mark.parametrize("backend", BOTH)


def shell(backend: str, command: str) -> Reply:
    """Return a reply that lets the agent's shell run a command."""
    call = ToolCall("exec_command", {"cmd": command}) if backend == CODEX else ToolCall("Bash", {"command": command})
    return Reply(tool_calls=(call,), prompt_tokens=100, cached_tokens=40)


def tool_output(seen: SeenRequest) -> str:
    return "\n".join(message.text for message in seen.messages if message.role in ("tool", "user"))


@both
def test_an_item_is_done_through_the_relay(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    task = Quiz()
    reply = Reply(RIGHT, prompt_tokens=100, cached_tokens=40, completion_tokens=7)
    with ScriptedServer(lambda seen: reply, require_auth=KEY) as server:
        made = bench(monkeypatch, backend, url_of(server, backend), task)
        done = made.one()
        seen = server.log.requests[0]
    assert done.outcome.status is RowStatus.OK and done.outcome.hard == 1.0
    assert (done.usage.calls, done.usage.prompt_tokens, done.usage.cached_tokens) == (1, 100, 40)
    assert made.meter.total == done.usage
    assert [event.usage for event in made.named("call")] == [done.usage]
    assert SKILL.strip() in seen.system and ITEM.question in seen.user
    assert seen.auth == fingerprint(KEY)
    assert done.outcome.n_turns == 1
    assert [turn.role for turn in done.outcome.conversation] == ["user", "assistant"]


@both
def test_another_skill_is_another_request(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        made = bench(monkeypatch, backend, url_of(server, backend))
        made.one(skill="# Skill\n\n- MARK-8842\n")
        seen = server.log.requests[0]
    assert "MARK-8842" in seen.text and "MARK-7731" not in seen.text


@both
def test_tools_are_used_and_usage_adds_up(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)

    def responder(seen: SeenRequest) -> Reply:
        if seen.number == 1:
            return shell(backend, "cat notes.txt; env; cat /proc/1/environ; echo written > out.txt")
        return Reply(RIGHT, prompt_tokens=150, cached_tokens=100, completion_tokens=9)

    task = Quiz(files={"notes.txt": b"NOTE-55\n"})
    with ScriptedServer(responder, require_auth=KEY) as server:
        made = bench(monkeypatch, backend, url_of(server, backend), task)
        done = made.one()
        output = tool_output(server.log.requests[1])
    assert done.outcome.hard == 1.0
    assert "NOTE-55" in output
    assert KEY not in output
    assert done.usage.calls == 2
    assert (done.usage.prompt_tokens, done.usage.cached_tokens) == (250, 140)
    assert any("NOTE-55" in (turn.content or "") for turn in done.outcome.conversation if turn.role == "tool")


@both
def test_commands_are_run_by_bash_where_there_is_one(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    if not Path("/bin/bash").exists():
        pytest.skip("absent: bash")
    seen: list[str] = []

    def responder(request: SeenRequest) -> Reply:
        seen.append(request.text)
        return shell(backend, "[[ 1 == 1 ]] && echo is{1..3}") if len(seen) == 1 else Reply(RIGHT)

    with ScriptedServer(responder) as server:
        assert bench(monkeypatch, backend, url_of(server, backend)).one().outcome.hard == 1.0
    assert "is1 is2 is3" in seen[-1]


@both
def test_the_image_is_in_the_first_request(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    task = Quiz(images=(Image("image/png", png()),))
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        done = bench(monkeypatch, backend, url_of(server, backend), task).one()
        assert server.log.requests[0].images == 1
        assert ITEM.question in server.log.requests[0].user
    assert done.outcome.hard == 1.0


def test_an_image_that_the_program_leaves_out_is_an_error_and_no_wrong_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    need(CODEX)
    task = Quiz(images=(Image("image/png", png()[:40]),))
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        done = bench(monkeypatch, CODEX, server.base_url, task).one()
        assert server.log.requests == ()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "not_delivered")
    assert "image" in done.outcome.extra["error"]


@both
def test_prompts_of_any_form_arrive(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    long = '/compact --help `x` "quoted"\n- 日本語\n' + "line of filler text\n" * 15_000
    items = [Item("a", long, ("Paris",)), Item("b", "--version", ("Paris",)), Item("c", "/clear", ("Paris",))]
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).do(*items)
        users = [request.user for request in server.log.requests]
    assert [one.outcome.hard for one in done] == [1.0] * 3
    assert len(users) == 3
    for item in items:
        assert any(item.question.strip() in user for user in users)


RUN = """
import json, sys
import pytest
from reflact.core.types import Item
from tests.harness.agents.support import bench
item = Item("i", json.loads(sys.argv[3]), ("Paris",))
print(bench(pytest.MonkeyPatch(), sys.argv[1], sys.argv[2]).one(item).outcome.hard)
"""


@both
def test_a_locale_without_unicode_changes_nothing(backend: str) -> None:
    need(backend)
    question = "„Où?“ — 法国的首都是什么？"
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
        done = subprocess.run(
            [sys.executable, "-c", RUN, backend, url_of(server, backend), json.dumps(question)],
            cwd=Path(__file__).parents[3],
            env={**os.environ, **ascii_only},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.stdout.strip() == "1.0", done.stderr
        seen = server.log.requests[0]
    assert question in seen.user and SKILL.strip() in seen.system


@both
def test_429_and_5xx_are_repeated_unseen_and_waiting_is_no_work(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    answers = iter([Fault.http(429, retry_after_s=1), Fault.http(429), Fault.http(503), Fault.cut(), Reply(RIGHT)])
    with ScriptedServer(lambda seen: next(answers)) as server:
        made = bench(monkeypatch, backend, url_of(server, backend), env__exec_timeout=30.0)
        done = made.one()
        assert len(server.log.calls) == 5
    assert done.outcome.hard == 1.0
    assert done.usage.failed_calls == 4 and done.usage.calls == 1
    assert done.wait_s >= 1.0
    assert done.outcome.extra["agent"]["retries"] == 0
    assert made.meter.count_429 == 2


@both
def test_an_answer_that_breaks_off_is_asked_for_again(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    answers = iter([Fault(FaultKind.CUT_IN_BODY), Reply(RIGHT, prompt_tokens=10)])
    with ScriptedServer(lambda seen: next(answers)) as server:
        made = bench(monkeypatch, backend, url_of(server, backend))
        done = made.one()
    assert done.outcome.hard == 1.0
    assert done.outcome.extra["agent"]["uncounted"] == 1
    assert [event.cause for event in made.named("call_failed")] == ["stream_cut"]


@both
def test_answers_that_always_break_off_get_one_more_start(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    starts = 0

    def responder(seen: SeenRequest) -> Reply | Fault:
        return Fault(FaultKind.CUT_IN_BODY) if starts == 1 else Reply(RIGHT)

    with ScriptedServer(responder) as server:
        made = bench(monkeypatch, backend, url_of(server, backend))
        cli = made.harness._starter.cli
        launch = cli.launch

        def counted(*given: Any) -> Any:
            nonlocal starts
            starts += 1
            return launch(*given)

        monkeypatch.setattr(type(cli), "launch", lambda self, *given: counted(*given))
        done = made.one()
        monkeypatch.undo()
    assert done.outcome.hard == 1.0
    assert done.outcome.extra["agent"]["attempts"] == 2
    with ScriptedServer(lambda seen: Fault(FaultKind.CUT_IN_BODY)) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "stream_cut")
    assert done.outcome.extra["agent"]["attempts"] == 2


@both
def test_a_refused_item_is_refused_and_a_broken_service_is_an_error(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    fault = Fault.content_filter() if backend == CODEX else Fault.context_length()
    with ScriptedServer(lambda seen: fault) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).one()
    assert done.outcome.status is RowStatus.REFUSED
    with ScriptedServer(lambda seen: Fault.http(500)) as server:
        done = bench(monkeypatch, backend, url_of(server, backend), limits__max_attempts=3).one()
        assert len(server.log.calls) == 3
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "server")


@both
@pytest.mark.parametrize(
    ("ended", "status", "attempts"), [("length", RowStatus.EMPTY, 2), ("content_filter", RowStatus.REFUSED, 1)]
)
def test_an_answer_that_the_service_ends_is_no_fault_of_the_program(
    ended: str, status: RowStatus, attempts: int, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(backend)
    with ScriptedServer(lambda seen: Reply("I was about to", finish_reason=ended)) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).one()
    assert (done.outcome.status, done.outcome.cause, done.outcome.hard) == (status, ended, 0.0)
    assert done.outcome.extra["agent"]["attempts"] == attempts


@both
def test_silence_ends_at_the_time_limit_and_nothing_is_left(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(backend)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with nothing_left(str(tmp_path)), ScriptedServer(lambda seen: Fault.hang()) as server:
        made = bench(monkeypatch, backend, url_of(server, backend), env__exec_timeout=4.0)
        done = made.one()
        server.log.wait_until_unconnected()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "no_answer")


@both
def test_what_a_student_leaves_running_ends_with_the_item(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    nap = f"sleep {100_000 + os.getpid()}"
    command = f"(setsid nohup sh -c 'trap \"\" TERM INT HUP; {nap}' &) ; sleep 0.2; echo started"

    def responder(seen: SeenRequest) -> Reply:
        return shell(backend, command) if seen.number == 1 else Reply(RIGHT)

    with ScriptedServer(responder) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).one()
        assert "started" in tool_output(server.log.requests[1])
    assert done.outcome.hard == 1.0
    assert living(nap) + living(nap.replace(" ", "\0")) == []


@both
def test_items_share_nothing(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need(backend)
    if backend == CODEX:
        look = 'pwd; ls; touch mine-$$; echo "$CODEX_HOME"; ls -a /home/student /home/student/codex; ls /root /work'
    else:
        look = "pwd; ls; touch mine-$$; ls -a /home/student /home/student/claude; ls /root /work"

    def responder(seen: SeenRequest) -> Reply:
        return Reply(RIGHT) if "marker" in seen.text and "pwd" in seen.text else shell(backend, f"{look}; echo marker")

    with ScriptedServer(responder) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).do(
            *(Item(str(n), "q", ("Paris",)) for n in range(3))
        )
        outputs = [tool_output(request) for request in server.log.requests if "marker" in tool_output(request)]
    assert [one.outcome.hard for one in done] == [1.0] * 3
    for output in outputs:
        assert len(set(re.findall(r"mine-\d+", output))) <= 1
        assert "cannot access '/root'" in output or "cannot open" in output


@both
def test_the_users_own_files_and_variables_stay_out(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(backend)
    for name in (".codex/AGENTS.md", ".claude/CLAUDE.md", "AGENTS.md", "CLAUDE.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("MARK-OF-THE-USER")
    for skill in (".codex/skills/x", ".claude/skills/x"):
        (tmp_path / skill).mkdir(parents=True)
        (tmp_path / skill / "SKILL.md").write_text("---\nname: x\ndescription: MARK-OF-THE-USER\n---\nMARK-OF-THE-USER")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_MODEL", "mark-of-the-user")
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    monkeypatch.chdir(tmp_path)
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        done = bench(monkeypatch, backend, url_of(server, backend)).one()
        assert "mark-of-the-user" not in server.log.requests[0].text.lower()
        assert server.log.requests[0].model != "mark-of-the-user"
    assert done.outcome.hard == 1.0


@both
def test_workspaces_are_removed_and_kept_only_on_request(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need(backend)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    task = Quiz(files={"notes.txt": b"NOTE-55\n"})
    with ScriptedServer(lambda seen: Reply(RIGHT)) as server:
        url = url_of(server, backend)
        bench(monkeypatch, backend, url, task).one()
        assert list(scratch.iterdir()) == []
        out = tmp_path / "run"
        bench(monkeypatch, backend, url, task, run__keep_workspaces=True, env__out_root=str(out)).one()
    assert list(scratch.iterdir()) == []
    kept = list((out / "workspaces").iterdir())
    assert [path.name for path in kept[0].iterdir()] == ["notes.txt"]


def test_claude_is_let_in_by_the_relay_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    need(CLAUDE)
    script = (
        "exec 3<>/dev/tcp/127.0.0.1/8000; printf 'GET /v1/models HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&3; head -1 <&3; "
        "exec 4<>/dev/tcp/127.0.0.1/1; echo done"
    )

    def responder(seen: SeenRequest) -> Reply:
        return shell(CLAUDE, script) if seen.number == 1 else Reply(RIGHT)

    with ScriptedServer(responder) as server:
        bench(monkeypatch, CLAUDE, server.url).one()
        output = tool_output(server.log.requests[1])
    assert "404" in output
    assert "refused" in output
