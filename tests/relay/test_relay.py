"""The relay alone: an HTTP client plays the agent program."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import aiohttp
import pytest

from reflact.config.operation import BudgetConfig, LimitsConfig
from reflact.config.schema import Config
from reflact.core.events import Event
from reflact.core.names import Phase, Role, Stage
from reflact.models.backoff import RetryPolicy
from reflact.models.caller import Caller
from reflact.models.limits import LocalLimiter
from reflact.models.meter import Meter
from reflact.models.work_budget import WorkBudget
from reflact.relay import Caps, Proof, Relay, Visit
from reflact.relay.connect import connect_upstream
from reflact.testing import Fault, Reply, ScriptedServer
from reflact.testing.exchange import FaultKind
from reflact.testing.server import fingerprint

KEY = "a-real-key-for-the-relay"
BODY = {"model": "m", "stream": True, "instructions": "# Skill", "input": "hello"}


class Rig:
    """A relay with one item in it."""

    def __init__(self, server: ScriptedServer, budget: int = 0, limits: LimitsConfig | None = None) -> None:
        config = Config()
        config.model.student_backend = "codex_exec"
        config.model.student_base_url = server.base_url
        self.events: list[Event] = []
        self.meter = Meter({}, BudgetConfig(max_tokens=budget))
        limits = LimitsConfig(backoff_s=0.01) if limits is None else limits
        self.upstream = connect_upstream(config, {}, environ={"OPENAI_API_KEY": KEY})
        caller = Caller(
            self.upstream,
            Role.STUDENT,
            limiter=LocalLimiter(limits, time.monotonic),
            meter=self.meter,
            policy=RetryPolicy.of(limits),
            emit=self.events.append,
            clock=time.monotonic,
            rng=Random(0),
        )
        self.relay = Relay(caller, self.upstream, 20.0)
        self.work = WorkBudget(30.0, time.monotonic)
        self.visit = self.new_visit()

    def new_visit(self, requests: int = 5, tokens: int = 10_000) -> Visit:
        return Visit(
            nonce=Relay.new_nonce(),
            stage=Stage.ROLLOUT,
            phase=Phase.TRAIN,
            budget=self.work,
            caps=Caps(requests, tokens),
            proof=Proof("# Skill"),
        )

    def run(self, play: Callable[[aiohttp.ClientSession, str], Awaitable[Any]]) -> Any:
        """Play a program; it is given a client and the address of its item."""

        async def go() -> Any:
            self.relay.admit(self.visit)
            port = await self.relay.shared_port()
            try:
                async with aiohttp.ClientSession() as client:
                    return await play(client, f"http://127.0.0.1:{port}/{self.visit.nonce}/v1")
            finally:
                await self.relay.aclose()
                await self.upstream.aclose()

        return asyncio.run(go())


async def post(client: aiohttp.ClientSession, url: str, body: Any = None, **more: Any) -> tuple[int, str]:
    async with client.post(f"{url}/responses", json=BODY if body is None else body, **more) as answer:
        return answer.status, await answer.text()


def test_the_real_key_replaces_whatever_the_program_sends() -> None:
    with ScriptedServer(lambda seen: Reply("hi", prompt_tokens=7), require_auth=KEY) as server:
        rig = Rig(server)
        status, text = rig.run(lambda client, url: post(client, url, headers={"Authorization": "Bearer dummy"}))
        assert server.log.requests[0].auth == fingerprint(KEY)
    assert status == 200 and "response.completed" in text and KEY not in text
    assert rig.visit.answers == 1 and rig.visit.usage.prompt_tokens == 7
    assert rig.meter.total == rig.visit.usage


def test_passwords_of_netrc_are_never_sent(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login somebody password of-another-service\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    with ScriptedServer(lambda seen: Reply("hi"), require_auth=KEY) as server:
        assert Rig(server).run(post)[0] == 200
        assert server.log.requests[0].auth == fingerprint(KEY)


@pytest.mark.parametrize(("bypass", "proxied"), [("", True), ("127.0.0.1", False)])
def test_the_environments_proxy_is_taken_unless_it_is_not_for_this_host(
    bypass: str, proxied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", bypass)

    async def play(client: aiohttp.ClientSession, url: str) -> tuple[int, str]:
        # The test's own client takes no notice of the environment.
        return await post(client, url)

    with (
        ScriptedServer(lambda seen: Reply("from the service")) as server,
        # A proxy is asked for whole URLs, of which this one knows the path alone.
        ScriptedServer(lambda seen: Reply("through the proxy")) as proxy,
    ):
        monkeypatch.setenv("http_proxy", proxy.url)
        rig = Rig(server)
        status, text = rig.run(play)
        assert status == 200
        assert ("through the proxy" in text, "from the service" in text) == (proxied, not proxied)
        assert (len(proxy.log.calls), len(server.log.calls)) == (int(proxied), int(not proxied))


def test_nobody_else_is_let_in_and_nothing_else_let_through() -> None:
    async def play(client: aiohttp.ClientSession, url: str) -> list[int]:
        root = url.rsplit("/", 2)[0]
        statuses = []
        for method, target in (
            ("POST", f"{root}/v1/responses"),
            ("POST", f"{root}/guess/v1/responses"),
            ("GET", f"{url}/files"),
            ("POST", f"{url}/messages"),
            ("GET", f"{url}/models"),
        ):
            async with client.request(method, target, json=BODY if method == "POST" else None) as answer:
                statuses.append(answer.status)
        return statuses

    with ScriptedServer() as server:
        assert Rig(server).run(play) == [404, 404, 403, 403, 200]
        assert server.log.exchanges == ()


def test_an_item_that_has_ended_is_forgotten() -> None:
    with ScriptedServer() as server:
        rig = Rig(server)

        async def play(client: aiohttp.ClientSession, url: str) -> list[int]:
            first = (await post(client, url))[0]
            await rig.relay.dismiss(rig.visit)
            return [first, (await post(client, url))[0]]

        assert rig.run(play) == [200, 404]
        assert len(server.log.calls) == 1


def test_a_first_request_without_the_skill_goes_nowhere() -> None:
    with ScriptedServer() as server:
        rig = Rig(server)
        status, text = rig.run(lambda client, url: post(client, url, {**BODY, "instructions": "something else"}))
        assert server.log.calls == ()
    assert status == 403 and "skill" in text
    assert rig.visit.error is not None and rig.visit.error.cause == "not_delivered"
    assert rig.visit.over.is_set()


@pytest.mark.parametrize(("caps", "name"), [({"requests": 2}, "exec_requests"), ({"tokens": 15}, "exec_tokens")])
def test_caps_of_an_item_hold(caps: dict[str, int], name: str) -> None:
    with ScriptedServer(lambda seen: Reply("x", prompt_tokens=8, completion_tokens=1)) as server:
        rig = Rig(server)
        rig.visit = rig.new_visit(**caps)

        async def play(client: aiohttp.ClientSession, url: str) -> list[int]:
            return [(await post(client, url))[0] for _ in range(3)]

        assert rig.run(play) == [200, 200, 403]
        assert len(server.log.calls) == 2
    assert rig.visit.capped == name and rig.visit.over.is_set()


def test_a_spent_budget_stops_the_run() -> None:
    with ScriptedServer(lambda seen: Reply("x", prompt_tokens=50)) as server:
        rig = Rig(server, budget=20)

        async def play(client: aiohttp.ClientSession, url: str) -> list[int]:
            return [(await post(client, url))[0] for _ in range(2)]

        assert rig.run(play) == [200, 503]
        assert len(server.log.calls) == 1
    assert rig.visit.stop is not None and "budget" in str(rig.visit.stop)


def test_refusals_are_repeated_word_by_word_and_never_tried_again() -> None:
    fault = Fault.http(400, message="no such parameter", code="odd")
    with ScriptedServer(lambda seen: fault) as server:
        rig = Rig(server)
        status, text = rig.run(post)
        assert len(server.log.calls) == 1
    assert status == 400 and "no such parameter" in text
    assert rig.visit.last_error is not None and not rig.visit.over.is_set()


def test_a_wrong_key_stops_the_run_and_is_shown_nowhere() -> None:
    with ScriptedServer(require_auth="another") as server:
        rig = Rig(server)
        status, text = rig.run(post)
        assert len(server.log.calls) == 1
    assert status == 503 and KEY not in text
    assert rig.visit.stop is not None and KEY not in str(rig.visit.stop)


@pytest.mark.parametrize("kind", [FaultKind.CUT_IN_BODY])
def test_a_broken_answer_is_a_broken_connection(kind: FaultKind) -> None:
    with ScriptedServer(lambda seen: Fault(kind)) as server:
        rig = Rig(server)
        with pytest.raises(aiohttp.ClientError):
            rig.run(post)
    assert rig.visit.unknown == 1
    assert rig.meter.total.failed_calls == 1


def test_waiting_for_a_pause_is_no_work() -> None:
    answers = iter([Fault.http(429, retry_after_s=0.6), Reply("x")])
    with ScriptedServer(lambda seen: next(answers)) as server:
        rig = Rig(server)
        assert rig.run(post)[0] == 200
    assert rig.work.waited_s >= 0.6
    assert rig.work.worked_s < rig.work.waited_s + 2
    assert [event.kind for event in rig.events] == ["retry", "call"]


def test_a_program_that_leaves_drops_the_call() -> None:
    with ScriptedServer(lambda seen: Fault.hang()) as server:
        rig = Rig(server)

        async def play(client: aiohttp.ClientSession, url: str) -> None:
            with pytest.raises(TimeoutError):
                await post(client, url, timeout=aiohttp.ClientTimeout(total=0.3))
            await rig.relay.dismiss(rig.visit)

        rig.run(play)
        server.log.wait_until_unconnected()
    assert rig.visit.unknown == 1


def test_many_at_once_stay_within_the_limit() -> None:
    with ScriptedServer(lambda seen: Reply("x", latency_s=0.02)) as server:
        rig = Rig(server, limits=LimitsConfig(max_concurrent_requests=2))
        rig.visit = rig.new_visit(requests=50, tokens=1_000_000)

        async def play(client: aiohttp.ClientSession, url: str) -> list[int]:
            return [status for status, _ in await asyncio.gather(*(post(client, url) for _ in range(12)))]

        assert rig.run(play) == [200] * 12
        assert server.log.max_in_flight <= 2
    assert rig.visit.answers == 12
