"""The doctor must find before a run what would spoil it, say what to do, and change nothing."""

import asyncio
import os

import pytest
import typer
from typer.testing import CliRunner

from reflact.cli.doctor import doctor
from reflact.config.compose import compose
from reflact.config.schema import Config
from reflact.core.errors import ReflactError
from reflact.core.names import Role
from reflact.harness.programs import find_claude, find_codex
from reflact.models.azure_auth import PROCESS_TOKENS, TokenSource
from reflact.models.limit_making import make_limiter
from reflact.models.registry import limit_key
from reflact.rundir.claim import Claim
from reflact.testing import Fault, Reply, ScriptedServer

QUIET = ["harness=rehearsal"]


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """A folder of its own, without keys in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


class Result:
    """What the doctor said: its exit code and its lines as (level, name, message)."""

    def __init__(self, code: int, output: str) -> None:
        self.code = code
        self.output = output
        self.lines = [tuple(line.split(None, 2)) for line in output.splitlines()[:-1]]

    def said(self, level: str, name: str) -> str:
        return "\n".join(line[2] for line in self.lines if line[:2] == (level, name))


def examine(*arguments: str) -> Result:
    app = typer.Typer()
    app.command()(doctor)
    result = CliRunner().invoke(app, [*arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return Result(result.exit_code, result.output)


def served(responder, *overrides: str, probe: int = 0) -> Result:
    with ScriptedServer(responder) as server:
        urls = [f"model.{role}_base_url={server.base_url}" for role in ("student", "teacher")]
        return examine(*urls, *overrides, *(["--probe", str(probe)] if probe else []))


def test_all_is_well(place):
    result = examine(*QUIET)
    assert result.code == 0, result.output
    assert {line[0] for line in result.lines} == {"ok"}
    assert result.output.rstrip().endswith("all is well")
    assert "train 16, val 32, test 64" in result.said("ok", "data")
    assert "2 epochs of 2 steps, batches of 8" in result.said("ok", "plan")
    assert "edits a step at most: " in result.said("ok", "plan")
    assert list(place.iterdir()) == [], "nothing is written"


def test_a_wrong_key_is_named_and_nothing_else_is_tried():
    result = examine("optimizer.learning_rat=8")
    assert result.code == 2
    assert "optimizer.learning_rate" in result.said("failed", "config")
    assert {line[1] for line in result.lines} == {"python", "config"}


def test_missing_services_are_told_with_the_ways_on():
    result = examine()
    assert result.code == 69
    for role in ("student", "teacher"):
        assert f"model.{role}_base_url=URL" in result.said("failed", role)
    assert result.said("ok", "data"), "the other checks are made all the same"


def test_limits_in_force_are_shown():
    result = served(lambda seen: Reply("ready"), "limits.requests_per_minute=50")
    assert "student: at most 50 requests a minute; shared with 0 other processes" in result.said("ok", "limits")


def test_missing_data_are_a_configuration_problem(place):
    result = examine(*QUIET, "benchmark=docvqa", f"env.split_dir={place}/nowhere")
    assert result.code == 2
    assert result.said("failed", "data")


def test_a_skill_that_is_not_there_is_named(place):
    result = examine(*QUIET, f"env.skill_init={place}/none.md")
    assert result.code == 2
    assert "none.md" in result.said("failed", "data")


def test_a_used_directory_is_refused_and_stays_as_it_is(place):
    (place / "used").mkdir()
    (place / "used" / "file").write_text("x")
    result = examine(*QUIET, f"env.out_root={place}/used")
    assert result.code == 73
    assert "was refused" in result.said("failed", "directory")
    assert [path.name for path in (place / "used").iterdir()] == ["file"]


def test_a_run_that_may_be_continued_is_no_obstacle(place):
    Claim.take(place / "run", resume=False, timeout_s=300, heartbeat_s=5).release()
    (place / "run" / "config.json").write_text("{}")
    assert examine(*QUIET, f"env.out_root={place}/run").code == 73
    result = examine(*QUIET, f"env.out_root={place}/run", "run.resume=true")
    assert "will be continued" in result.said("ok", "directory")


def test_a_budget_that_lets_nothing_be_learnt_is_warned_of():
    result = examine(*QUIET, "budget.max_tokens=1000")
    assert result.code == 0
    assert "budget.max_tokens=1000 lets about 0 of" in result.said("warning", "plan")


def test_models_that_answer():
    result = served(lambda _: Reply("ready"))
    assert result.code == 0, result.output
    assert "answers" in result.said("ok", "student") and "answers" in result.said("ok", "teacher")


@pytest.mark.parametrize(
    ("fault", "level", "code", "word"),
    [
        (Fault.http(401), "failed", 69, "Look at the key"),
        (Fault.http(404), "failed", 69, "name of the model"),
        (Fault.http(503), "failed", 69, "try again later"),
        (Fault.http(429), "warning", 0, "no room now"),
    ],
)
def test_models_that_do_not_answer_say_why(fault, level, code, word):
    result = served(lambda _: fault)
    assert result.code == code, result.output
    assert word in result.said(level, "student")


def test_an_empty_reply_is_pointed_at():
    result = served(lambda _: Reply("", finish_reason="length"))
    assert result.code == 0
    assert "--probe" in result.said("warning", "student")


def test_a_probe_finds_the_token_cap_that_eats_the_answers():
    def cut(seen):
        if "ready" in seen.text:
            return Reply("ready")
        return Reply("", finish_reason="length", completion_tokens=512, reasoning_tokens=512)

    result = served(cut, "env.max_completion_tokens=512", probe=8)
    assert result.code == 2
    assert "8 of 8 replies empty, 8 cut at env.max_completion_tokens=512: raise it" in result.said("failed", "probe")


def test_a_probe_measures_tokens_and_cost():
    result = served(
        lambda _: Reply("4 | knives | Santiago", prompt_tokens=90, completion_tokens=10),
        "+pricing.models={gpt-5.5: {prompt: 1.0, completion: 10.0}}",
        probe=4,
    )
    said = result.said("ok", "probe")
    assert "4 items in" in said and "ok 4" in said
    assert "100 tokens a row" in said
    assert "at most about" in said and "$" in said


def test_a_probe_is_not_made_where_a_model_is_missing():
    result = examine("model.teacher_backend=template", "--probe", "2")
    assert result.code == 69
    assert "not made" in result.said("warning", "probe")


def test_agents_need_their_program(monkeypatch, place):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-nobody")
    missing = f"model.codex_exec_path={place / 'nothing'}"
    result = examine("harness=codex_exec", "model.teacher_backend=template", missing)
    assert result.code == 2
    assert "no such program" in result.said("failed", "student")
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")
    program = place / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 9.9\n")
    program.chmod(0o755)
    result = served(lambda seen: Reply("ready"), "harness=codex_exec", "model.teacher_backend=template")
    assert "codex-cli 9.9" in result.said("ok", "student")


AGENTS = (("codex_exec", "OPENAI_API_KEY"), ("claude_code_exec", "ANTHROPIC_API_KEY"))


def need(backend):
    try:
        (find_codex if backend == "codex_exec" else find_claude)(Config())
    except ReflactError as error:
        pytest.skip(f"absent: {error}")


def agent(backend, responder, *arguments, **more) -> Result:
    with ScriptedServer(responder, **more) as server:
        url = server.base_url if backend == "codex_exec" else server.url
        settings = [f"harness={backend}", f"model.student_base_url={url}", "model.teacher_backend=template"]
        return examine("benchmark=searchqa", "env.sample=true", *settings, *arguments)


@pytest.mark.parametrize(("backend", "variable"), AGENTS)
def test_an_agents_model_is_asked_with_the_agents_credential(monkeypatch, backend, variable):
    need(backend)
    monkeypatch.setenv(variable, "sk-right")
    seen = []

    def responder(request):
        seen.append(request)
        return Reply("ready")

    result = agent(backend, responder, require_auth="sk-right")
    assert result.code == 0, result.output
    assert len(seen) == 1 and "answers" in result.said("ok", "student")
    assert f"the key in {variable}" in result.said("ok", "login")
    monkeypatch.setenv(variable, "sk-wrong")
    result = agent(backend, responder, require_auth="sk-right")
    assert result.code == 69 and f"Look at the key (in {variable}, on Azure AZURE" in result.said("failed", "student")
    assert "sk-wrong" not in result.output


@pytest.mark.parametrize(("backend", "variable"), AGENTS)
def test_a_model_that_an_agent_cannot_have_is_found_before_the_run(monkeypatch, backend, variable):
    need(backend)
    monkeypatch.setenv(variable, "sk-1")
    result = agent(backend, lambda seen: Fault.http(404))
    assert result.code == 69 and "not found" in result.said("failed", "student")


@pytest.mark.parametrize(("backend", "variable"), AGENTS)
def test_a_probe_lets_the_agent_itself_do_an_item(monkeypatch, backend, variable):
    need(backend)
    monkeypatch.setenv(variable, "sk-1")
    result = agent(backend, lambda seen: Reply("<answer>x</answer>"), "--probe", "1")
    assert result.code == 0, result.output
    assert "1 item in" in result.said("ok", "probe") and "ok 1" in result.said("ok", "probe")


def test_what_confines_an_agent_is_tried(monkeypatch, place):
    program = place / "codex"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo codex-cli 9.9; exit; }\necho no namespaces >&2; exit 1\n'
    )
    program.chmod(0o755)
    settings = ["harness=codex_exec", f"model.codex_exec_path={program}", "model.teacher_backend=template"]
    result = served(lambda seen: Reply("ready"), *settings, "env.sandbox=off")
    assert result.code == 69 and "does not work here: no namespaces" in result.said("failed", "sandbox")


def test_the_credential_is_named_and_never_shown(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-very-secret-0123456789")
    result = served(lambda _: Reply("ready"), "model.student_api_key_env=MY_KEY", "model.teacher_backend=rehearsal")
    assert "student: the key in MY_KEY, at http://127.0.0.1:" in result.said("ok", "login")
    assert "very-secret" not in result.output
    result = served(lambda _: Reply("ready"))
    assert "student: no key (OPENAI_API_KEY is not set, or says none)" in result.said("ok", "login")
    assert "teacher: no key" in result.said("ok", "login")


@pytest.mark.parametrize(
    ("mode", "word"), [("azure_cli", "login of the Azure CLI"), ("managed_identity", "managed identity me of this")]
)
def test_azure_logins_are_named_also_where_they_fail(monkeypatch, place, mode, word):
    monkeypatch.setenv("PATH", str(place))
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:9/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", "x")
    settings = [f"model.student_azure_openai_auth_mode={mode}", "model.teacher_backend=template"]
    if mode == "managed_identity":
        settings.append("model.student_azure_openai_managed_identity_client_id=me")
    else:
        result = examine("model.student_azure_openai_endpoint=https://x.openai.azure.com", *settings)
        assert result.code == 69 and "not on the PATH" in result.said("failed", "student")
        assert word in result.said("ok", "login")
        return
    monkeypatch.setattr(PROCESS_TOKENS, "source", lambda *_: TokenSource(nobody, "hint", pause=lambda _: None))
    result = examine("model.student_azure_openai_endpoint=https://x.openai.azure.com", *settings)
    assert result.code == 69 and word in result.said("ok", "login")


def nobody():
    raise OSError("nobody is there")


def test_a_server_that_is_not_there_is_said_once():
    with ScriptedServer(lambda _: Reply("ready")) as server:
        url = server.base_url
    result = examine(f"model.student_base_url={url}", "model.teacher_backend=template")
    said = result.said("failed", "student")
    assert result.code == 69 and said.count("connection") == 1 and "no connection" in said
    assert "Look at the endpoint and the network" in said


def test_who_shares_the_limits_is_said(place, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    with ScriptedServer(lambda _: Reply("ready")) as server:
        url = f"model.student_base_url={server.base_url}"
        config = compose([url, "limits.max_concurrent_requests=3"])
        limiter = make_limiter(limit_key(config, Role.STUDENT), config.limits, lambda _: None, remote=True)

        async def look():
            async with limiter.permit(1):
                result = await asyncio.to_thread(examine, url, "model.teacher_backend=template")
            await limiter.aclose()
            return result

        result = asyncio.run(look())
    assert f"at most 3 requests in flight; shared with 1 other process (pid {os.getpid()})" in result.said(
        "ok", "limits"
    )


@pytest.mark.parametrize("method", ["one_shot", "gepa"])
def test_the_plan_is_that_of_the_method(method):
    result = examine(*QUIET, f"optimizer={method}")
    said = result.said("ok", "plan")
    assert said.startswith(f"{method}: ") and "epochs of" not in said
    assert ("and 1 teacher call" in said) == (method == "one_shot")
    assert "train.num_epochs" not in result.output


def test_a_benchmark_that_runs_code_says_how_it_is_confined():
    result = examine(*QUIET, "benchmark=spreadsheetbench", "env.sample=true")
    assert "confined by" in result.said("ok", "sandbox") or "unsandboxed" in result.said("warning", "data")
