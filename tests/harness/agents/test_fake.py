"""Programs that behave badly, played by scripts that are first on PATH."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from pathlib import Path

import pytest

from reflact.config.schema import Config
from reflact.confine import Ending
from reflact.core.errors import ConfigError, Stopped, Unavailable
from reflact.core.names import RowStatus
from reflact.core.types import Item
from reflact.core.usage import Usage
from reflact.harness.programs import find_claude, find_codex, version_of
from reflact.models.meter import MeterKey
from reflact.models.protocol import Image
from tests.harness.agents.support import (
    BOTH,
    CLAUDE,
    CODEX,
    ITEM,
    KEY,
    RIGHT,
    SKILL,
    Quiz,
    claude_says,
    codex_says,
    fake,
    fake_bench,
    job_of,
    living,
    need_bubblewrap,
    nothing_left,
    png,
)

both = pytest.mark.parametrize("backend", BOTH)


def says(backend: str, *texts: str) -> str:
    return codex_says(*texts) if backend == CODEX else claude_says(*texts)


def event(**values: object) -> str:
    return f"printf '%s\\n' '{json.dumps(values)}'"


@both
def test_the_program_on_path_is_taken_and_its_usage_counted(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = fake_bench(monkeypatch, tmp_path, backend, says(backend, "first", RIGHT))
    done = made.one()
    assert done.outcome.status is RowStatus.OK and done.outcome.hard == 1.0
    assert (done.usage.calls, done.usage.prompt_tokens, done.usage.cached_tokens) == (1, 10, 4)
    assert made.meter.total == done.usage
    assert made.harness._caller.model.info.settings["cli"] == "fake 1.0"


@pytest.mark.parametrize("absurd", ["-5", "1" + "0" * 30, "true", "1e300", "null", "[1]"])
@both
def test_what_a_program_counts_is_not_believed(
    backend: str, absurd: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = f'{{"input_tokens":{absurd},"cached_input_tokens":4,"output_tokens":5,"reasoning_output_tokens":{absurd}}}'
    if backend == CODEX:
        body = codex_says(RIGHT, usage=usage)
    else:
        body = claude_says(RIGHT, num_turns=json.loads(absurd), usage=json.loads(usage))
    made = fake_bench(monkeypatch, tmp_path, backend, body, budget=1_000_000)
    done = made.one()
    assert done.outcome.hard == 1.0
    assert 1 <= done.usage.calls <= 10_000
    assert (done.usage.prompt_tokens, done.usage.cached_tokens, done.usage.tokens) == (0, 0, 5)
    assert made.meter.total == done.usage


@both
def test_the_prompt_comes_by_stdin_byte_for_byte_and_argv_stays_short(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    body = 'cat > got; printf "%s\\n" "$@" > args; env > env\n' + says(backend, RIGHT)
    made = fake_bench(
        monkeypatch, tmp_path, backend, body, run__keep_workspaces=True, env__out_root=str(tmp_path / "run")
    )
    long = "--first `line`\n\"quoted\" 'both' $HOME \\ 日本語\n" * 6000
    monkeypatch.setenv("OF_THE_CALLER", "not for the student")
    done = made.one(Item("a", long, ("Paris",)), skill=SKILL * 3000)
    assert done.outcome.hard == 1.0
    (kept,) = (tmp_path / "run" / "workspaces").iterdir()
    assert long in (kept / "got").read_text(encoding="utf-8")
    args = (kept / "args").read_text(encoding="utf-8")
    assert len(args) < 8000
    assert "MARK-7731" not in args and KEY not in args
    assert "OF_THE_CALLER" not in (kept / "env").read_text(encoding="utf-8")


def test_the_order_of_arguments_keeps_the_prompt_from_a_greedy_option(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    body = (
        'images=0; greedy=""\n'
        'for word in "$@"; do case "$word" in --image) greedy=1;; -*) greedy="";; *) '
        '[ -n "$greedy" ] && [ -f "$word" ] && images=$((images+1));; esac; done\n'
        'last=""; for word in "$@"; do last="$word"; done\n'
        '[ "$images$last" = 2- ] || exit 9\n'
    ) + codex_says(RIGHT)
    task = Quiz(images=(Image("image/png", png()), Image("image/jpeg", b"x")))
    done = fake_bench(monkeypatch, tmp_path, CODEX, body, task).one()
    assert done.outcome.hard == 1.0


def test_reconnecting_is_no_failure(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    retries = [event(type="error", message=f"Reconnecting... {n}/5 (x)") for n in (1, 2)]
    body = "\n".join([*retries, codex_says(RIGHT)])
    done = fake_bench(monkeypatch, tmp_path, CODEX, body).one()
    assert done.outcome.status is RowStatus.OK
    assert done.outcome.extra["agent"]["retries"] == 2


def test_a_turn_that_failed_or_never_ended_is_no_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    message = event(type="item.completed", item={"id": "i", "type": "agent_message", "text": RIGHT})
    done = fake_bench(monkeypatch, tmp_path, CODEX, message).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "incomplete")
    assert done.outcome.conversation[-1].content == RIGHT
    failed = event(type="turn.failed", error={"message": "exceeded retry limit, last status: 429 Too Many Requests"})
    done = fake_bench(monkeypatch, tmp_path, CODEX, f"{message}\n{failed}\nexit 1").one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "rate_limit")


def test_is_error_counts_and_not_the_subtype(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    body = claude_says("API Error: 529", is_error=True, subtype="success", api_error_status=529) + "\nexit 1"
    done = fake_bench(monkeypatch, tmp_path, CLAUDE, body).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "server")
    body = claude_says("x", is_error=True, subtype="error_max_turns", result=None)
    done = fake_bench(monkeypatch, tmp_path, CLAUDE, body).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.TIMEOUT, "max_turns")


def test_not_logged_in_stops_the_run_although_the_exit_code_is_0(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = {"input_tokens": 0, "output_tokens": 0}
    body = claude_says(result="Not logged in · Please run /login", usage=usage)
    with pytest.raises(Unavailable, match="let in"):
        fake_bench(monkeypatch, tmp_path, CLAUDE, body).one()


def test_an_empty_result_takes_the_text_of_the_stream(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = fake_bench(monkeypatch, tmp_path, CLAUDE, claude_says(RIGHT, result="")).one()
    assert done.outcome.hard == 1.0
    assert done.outcome.extra["agent"]["flags"] == ["text_from_stream"]


@both
def test_no_text_at_all_is_empty_after_a_second_try(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = fake_bench(monkeypatch, tmp_path, backend, says(backend)).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.EMPTY, "empty")
    assert done.outcome.extra["agent"]["attempts"] == 2
    assert done.usage.calls == 2


def once_then(tmp_path: Path, first: str, then: str) -> str:
    """Return a script that does something else at its first start."""
    mark = tmp_path / "started"
    return f"if [ ! -e {mark} ]; then : > {mark}\n{first}\nelse\n{then}\nfi"


@both
def test_an_answer_out_of_form_gets_one_more_try(backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    task = Quiz()
    lost = "I don't see a request in your message."
    body = once_then(tmp_path, says(backend, lost), says(backend, RIGHT))
    done = fake_bench(monkeypatch, tmp_path, backend, body, task, env__sandbox="off").one()
    assert done.outcome.hard == 1.0
    said = [turn.content for turn in done.outcome.conversation]
    assert lost in said and RIGHT in said
    assert len(task.handed) == 1


@both
def test_a_program_that_falls_silent_is_ended_and_started_once_more(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nap = f"sleep {200_000 + os.getpid()}"
    hang = f"{event(type='thread.started')}\n{event(type='turn.started')}\n{nap}"
    body = once_then(tmp_path, hang, says(backend, RIGHT))
    with nothing_left(nap):
        done = fake_bench(monkeypatch, tmp_path, backend, body, env__sandbox="off", env__idle_timeout=1.0).one()
    assert done.outcome.hard == 1.0
    assert done.outcome.extra["agent"]["attempts"] == 2


def part(backend: str, text: str) -> str:
    """Return a shell line that says something in the middle of a turn."""
    if backend == CODEX:
        return event(type="item.completed", item={"id": "i", "type": "agent_message", "text": text})
    return event(type="assistant", message={"model": "m", "content": [{"type": "text", "text": text}]})


ENDS: dict[str, tuple[str, dict[str, float], tuple[RowStatus, str | None]]] = {
    "time": ("{nap}; {nap}", {"env__exec_timeout": 3.0}, (RowStatus.TIMEOUT, "exec_timeout")),
    "idle": ("{nap}; {nap}", {"env__idle_timeout": 2.0}, (RowStatus.TIMEOUT, "idle_timeout")),
    "killed": ("kill -9 $$", {}, (RowStatus.ERROR, "incomplete")),
    "failed": ("exit 7", {}, (RowStatus.ERROR, "incomplete")),
    "by itself": ("{says}", {}, (RowStatus.OK, None)),
}


@both
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_however_a_program_ends_nothing_is_left_and_what_was_said_is_kept(
    sandbox: str, end: str, backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if sandbox == "auto":
        need_bubblewrap()
    nap = f"sleep {300_000 + os.getpid()}"
    last, more, expected = ENDS[end]
    # A grandchild in a session of its own that ignores signals and holds standard output and standard error.
    stays = f"(setsid sh -c 'trap \"\" TERM INT HUP; {nap}; {nap}' &)\ntrap '' TERM INT HUP"
    ending = last.replace("{nap}", nap).replace("{says}", says(backend, RIGHT))
    body = f"{part(backend, 'half an answer')}\n{stays}\n{ending}"
    with nothing_left(nap):
        done = fake_bench(monkeypatch, tmp_path, backend, body, env__sandbox=sandbox, **more).one()
    assert (done.outcome.status, done.outcome.cause) == expected
    assert done.outcome.extra["sandbox"] == ("unsandboxed" if sandbox == "off" else "bubblewrap")
    assert "half an answer" in [turn.content for turn in done.outcome.conversation]
    assert done.outcome.extra["agent"]["attempts"] == (2 if end == "idle" else 1)


@both
@pytest.mark.parametrize("sandbox", ["off", "auto"])
def test_a_run_that_is_interrupted_takes_its_programs_with_it(
    sandbox: str, backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if sandbox == "auto":
        need_bubblewrap()
    nap = f"sleep {350_000 + os.getpid()}"
    body = f"{part(backend, 'begun')}\n(setsid sh -c 'trap \"\" TERM INT HUP; {nap}' &)\ntrap '' TERM INT HUP\n{nap}"
    made = fake_bench(monkeypatch, tmp_path, backend, body, env__sandbox=sandbox)

    async def interrupt() -> None:
        doing = asyncio.create_task(made.harness.perform(ITEM, job_of()))
        while not living(nap):  # noqa: ASYNC110 - another process says when
            await asyncio.sleep(0.02)
        doing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doing
        await made.harness.aclose()

    with nothing_left(nap):
        asyncio.run(asyncio.wait_for(interrupt(), 60))


@both
def test_a_demanded_file_is_the_answer_and_without_it_there_is_none(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    task = Quiz(answer_file="answer.txt")
    written = "echo Paris > answer.txt\n" + says(backend, "")
    done = fake_bench(monkeypatch, tmp_path, backend, written, task).one()
    assert done.outcome.hard == 1.0
    link = "ln -s /etc/hostname answer.txt\n" + says(backend, RIGHT)
    done = fake_bench(monkeypatch, tmp_path, backend, link, task).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.EMPTY, "no_file")


@both
def test_a_program_that_asks_nobody_through_the_relay_is_an_error(
    backend: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    done = fake_bench(monkeypatch, tmp_path, backend, says(backend, RIGHT), model__exec_relay=True).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.ERROR, "not_delivered")


def test_only_the_answer_is_shown_where_the_trace_is_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = {"id": "i", "type": "command_execution", "command": "ls", "aggregated_output": "secret", "exit_code": 0}
    body = f"{event(type='item.completed', item=command)}\n{codex_says('thinking', RIGHT)}"
    shown = fake_bench(monkeypatch, tmp_path, CODEX, body).one().outcome.conversation
    assert [turn.role for turn in shown] == ["user", "tool", "assistant", "assistant"]
    hidden = fake_bench(monkeypatch, tmp_path, CODEX, body, model__codex_trace_to_teacher=False).one()
    assert [turn.content for turn in hidden.outcome.conversation] == [ITEM.question, RIGHT]


def test_strange_output_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    strange = (
        "echo 'not json'; echo '[1, 2]'; echo '{\"type\": \"item.completed\"}'; echo '{\"type\": 7, \"item\": 3}'\n"
    )
    done = fake_bench(monkeypatch, tmp_path, CODEX, strange + codex_says(RIGHT)).one()
    assert done.outcome.hard == 1.0


def test_a_spent_budget_starts_no_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = fake_bench(monkeypatch, tmp_path, CODEX, codex_says(RIGHT), budget=10)
    made.meter.record(MeterKey("student", "m", "rollout", "train"), Usage(calls=1, prompt_tokens=20))
    with pytest.raises(Stopped, match="budget"):
        made.one()


def test_a_missing_program_is_said_before_any_item(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such program"):
        fake_bench(monkeypatch, tmp_path, CODEX, "", model__codex_exec_path=str(tmp_path / "nothing"))
    broken = fake(tmp_path / "other", "broken", "")
    broken.write_text("#!/bin/sh\necho 'cannot' >&2; exit 3\n")
    with pytest.raises(Unavailable, match="exit code 3"):
        fake_bench(monkeypatch, tmp_path, CODEX, "", model__codex_exec_path=str(broken))


def test_unconfined_codex_without_its_own_sandbox_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = fake_bench(monkeypatch, tmp_path, CODEX, "", env__sandbox="off")
    program = tmp_path / "bin" / "codex"
    program.write_text(program.read_text().replace("echo fine; exit 0", "echo no namespaces >&2; exit 1"))
    with pytest.raises(Unavailable, match="danger-full-access"):
        made.one()


def test_a_program_that_eats_the_disk_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    message = event(type="item.completed", item={"id": "i", "type": "agent_message", "text": "busy"})
    body = f"{message}\nfor name in a b c; do fallocate -l 400M $name; done; sleep 30"
    done = fake_bench(monkeypatch, tmp_path, CODEX, body, env__exec_timeout=30.0).one()
    assert (done.outcome.status, done.outcome.cause) == (RowStatus.TIMEOUT, f"{Ending.DISK.value}_limit")


def test_programs_of_npm_are_found_behind_what_it_puts_on_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    modules, links = tmp_path / "lib" / "node_modules", tmp_path / "bin"
    links.mkdir()
    wrapper = modules / "@openai" / "codex" / "bin" / "codex.js"
    vendor = modules / "@openai" / "codex" / "node_modules" / "@openai" / "codex-linux-x64" / "vendor" / "x86_64-linux"
    stub = modules / "@anthropic-ai" / "claude-code" / "bin" / "claude.exe"
    platform = modules / "@anthropic-ai" / "claude-code" / "node_modules" / "@anthropic-ai" / "claude-code-linux-x64"
    for path, said in (
        (wrapper, "wrapper"),
        (stub, "stub"),
        (vendor / "bin" / "codex", "codex 7"),
        (platform / "claude", "claude 7"),
    ):
        path.parent.mkdir(parents=True)
        fake(path.parent, path.name, "").write_text(f"#!/bin/sh\necho {said}\n")
    (links / "codex").symlink_to(wrapper)
    (links / "claude").symlink_to(stub)
    monkeypatch.setenv("PATH", f"{links}:{os.environ['PATH']}")
    codex, claude = find_codex(Config()), find_claude(Config())
    assert (version_of(codex), version_of(claude)) == ("codex 7", "claude 7")
    assert codex.folder == vendor
    explicit = Config()
    explicit.model.claude_code_exec_path = str(fake(tmp_path / "mine", "claude", ""))
    assert version_of(find_claude(explicit)) == "fake 1.0", "a path that is given wins"
