from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflact.config.schema import Config
from reflact.core.errors import Unavailable
from reflact.core.names import Role
from reflact.models import local
from reflact.models.local import LocalChat, LocalModels, connect
from reflact.models.protocol import CallError, ChatModel, ChatRequest, Failure, Image, Message, ReplySchema
from reflact.models.registry import connect_beside, connect_role
from reflact.testing import ChatModelConformance

from .local_support import needs_local_model

# Each loading takes about a second, and much longer where other tests keep the cores busy.
pytestmark = [needs_local_model, pytest.mark.heavy]

SKILL = Message("system", "Order: Send 3 cups to Rome.\nAnswer: 3 | cups | Rome")
ITEM = Message("user", "Order: We need seven lamps in Oslo.")


def config() -> Config:
    own = Config()
    own.local.context = 512
    return own


def order(**more: object) -> ChatRequest:
    values: dict[str, object] = {"max_completion_tokens": 16, "timeout_s": 60.0, **more}
    return ChatRequest((SKILL, ITEM), **values)  # type: ignore[arg-type]


LONG = ChatRequest((Message("user", "Write a long story about a lamp."),), max_completion_tokens=400, timeout_s=60.0)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def model(runner: asyncio.Runner) -> Iterator[ChatModel]:
    model = connect(config(), Role.STUDENT)
    yield model
    runner.run(model.aclose())


class TestConformance(ChatModelConformance):
    slack_s = 10.0

    def make_model(self) -> ChatModel:
        return connect(config(), Role.STUDENT)


class TestReplies:
    def test_prefill_begins_the_reply_and_is_not_repeated(self, runner: asyncio.Runner, model: ChatModel) -> None:
        reply = runner.run(model.complete(order(prefill="Answer:", stop=("\n",))))
        assert model.supports_prefill
        assert reply.text.strip() == "7 | lamps | Oslo"
        assert reply.finish_reason == "stop"

    def test_replies_repeat_and_the_second_is_served_from_the_cache(
        self, runner: asyncio.Runner, model: ChatModel
    ) -> None:
        first, second = (runner.run(model.complete(order(prefill="Answer:"))) for _ in range(2))
        assert first.text == second.text
        assert second.usage.cached_tokens > second.usage.prompt_tokens // 2
        assert first.usage.prompt_tokens == second.usage.prompt_tokens

    def test_stop_texts_are_left_out(self, runner: asyncio.Runner, model: ChatModel) -> None:
        assert "|" not in runner.run(model.complete(order(prefill="Answer:", stop=("|",)))).text

    def test_a_cap_ends_the_reply(self, runner: asyncio.Runner, model: ChatModel) -> None:
        reply = runner.run(model.complete(order(max_completion_tokens=2)))
        assert (reply.finish_reason, reply.usage.completion_tokens) == ("length", 2)

    def test_a_schema_is_kept(self, runner: asyncio.Runner, model: ChatModel) -> None:
        schema = {
            "type": "object",
            "properties": {"ware": {"enum": ["cups", "lamps"]}, "count": {"type": "integer"}},
            "required": ["ware", "count"],
            "additionalProperties": False,
        }
        request = order(schema=ReplySchema("order", schema), max_completion_tokens=64)
        reply = json.loads(runner.run(model.complete(request)).text)
        assert reply["ware"] in ("cups", "lamps")
        assert isinstance(reply["count"], int)

    def test_a_prompt_that_does_not_fit_concerns_its_item_alone(self, runner: asyncio.Runner, model: ChatModel) -> None:
        request = ChatRequest((Message("user", "lamp " * 2000),), max_completion_tokens=4, timeout_s=60.0)
        with pytest.raises(CallError) as caught:
            runner.run(model.complete(request))
        assert caught.value.failure is Failure.BAD_REQUEST
        assert caught.value.item_specific

    def test_images_are_refused_before_the_model_sees_them(self, runner: asyncio.Runner, model: ChatModel) -> None:
        request = ChatRequest((Message("user", "Look.", (Image("image/png", b"x"),)),), 4, 60.0)
        with pytest.raises(CallError, match="no images") as caught:
            runner.run(model.complete(request))
        assert caught.value.item_specific

    def test_a_call_out_of_time_is_stopped_and_the_next_one_does_not_wait_for_it(
        self, runner: asyncio.Runner, model: ChatModel
    ) -> None:
        with pytest.raises(CallError) as caught:
            runner.run(model.complete(ChatRequest(LONG.messages, LONG.max_completion_tokens, 0.3)))
        assert caught.value.failure is Failure.NO_ANSWER
        started = time.monotonic()
        runner.run(model.complete(order(max_completion_tokens=1)))
        # Left alone the story would take the slot for about ten seconds.
        assert time.monotonic() - started < 5

    def test_a_cancelled_call_frees_the_slot(self, runner: asyncio.Runner, model: ChatModel) -> None:
        async def cancel() -> float:
            call = asyncio.ensure_future(model.complete(LONG))
            await asyncio.sleep(0.3)
            call.cancel()
            await asyncio.wait({call})
            started = time.monotonic()
            await model.complete(order(max_completion_tokens=1))
            return time.monotonic() - started

        assert runner.run(cancel()) < 5

    def test_waiting_in_line_is_not_taken_for_silence(self, runner: asyncio.Runner, model: ChatModel) -> None:
        async def together() -> list[str]:
            long = ChatRequest(LONG.messages, 60, 60.0)
            replies = await asyncio.gather(
                model.complete(long), model.complete(order(max_completion_tokens=1, timeout_s=1.5))
            )
            return [reply.finish_reason for reply in replies]

        assert runner.run(together()) == ["length", "length"]

    def test_info_says_which_weights_answer(self, model: ChatModel) -> None:
        assert model.info.backend == "local"
        assert model.info.model == "SmolLM2-135M-Instruct.Q4_1"
        assert not model.info.simulated
        assert model.info.settings["weights_sha256"].startswith("b179c952")


class TestSharing:
    def test_roles_with_the_same_weights_share_one_model(self) -> None:
        async def use() -> None:
            shared = LocalModels()
            student = shared.connect(config(), Role.STUDENT)
            teacher = connect(config(), Role.TEACHER, shared)
            assert student._runtime is teacher._runtime
            await student.complete(order())
            await student.aclose()
            # The teacher still has it, loaded.
            assert (await teacher.complete(order())).usage.calls == 1
            await teacher.aclose()
            assert not shared._users

        asyncio.run(use())

    def test_a_run_whose_roles_are_both_local_loads_one_model(self) -> None:
        own = config()
        own.model.student_backend = own.model.teacher_backend = "local"

        async def use() -> None:
            student = connect_role(own, Role.STUDENT)
            teacher = connect_beside(own, Role.TEACHER, student)
            assert isinstance(student, LocalChat) and isinstance(teacher, LocalChat)
            assert student._runtime is teacher._runtime
            await student.aclose()
            assert (await teacher.complete(order())).usage.calls == 1
            await teacher.aclose()

        asyncio.run(use())

    def test_a_teacher_elsewhere_shares_nothing(self) -> None:
        own = config()
        own.model.student_backend, own.model.teacher_backend = "local", "rehearsal"

        async def use() -> None:
            student = connect_role(own, Role.STUDENT)
            assert not isinstance(connect_beside(own, Role.TEACHER, student), LocalChat)
            await student.aclose()

        asyncio.run(use())

    def test_another_context_is_another_model(self) -> None:
        async def use() -> None:
            shared = LocalModels()
            one, other = shared.connect(config(), Role.STUDENT), shared.connect(Config(), Role.STUDENT)
            assert one._runtime is not other._runtime
            await one.aclose()
            await other.aclose()

        asyncio.run(use())

    def test_closing_twice_is_closing_once(self) -> None:
        async def use() -> None:
            shared = LocalModels()
            one, other = (shared.connect(config(), Role.STUDENT) for _ in range(2))
            await one.aclose()
            await one.aclose()
            assert (await other.complete(order())).usage.calls == 1
            await other.aclose()

        asyncio.run(use())


def test_a_broken_file_is_unavailable(tmp_path: Path) -> None:
    own = config()
    own.model.local_path = str(tmp_path / "broken.gguf")
    Path(own.model.local_path).write_bytes(b"GGUF" + b"\0" * 64)

    async def use() -> None:
        model = connect(own, Role.STUDENT)
        try:
            with pytest.raises(Unavailable, match="cannot be loaded"):
                await model.complete(order())
        finally:
            await model.aclose()

    asyncio.run(use())


def test_no_runtime_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise Unavailable("run `reflact local install`")

    monkeypatch.setattr(local, "require_runtime", absent)
    with pytest.raises(Unavailable, match="reflact local install"):
        connect(config(), Role.STUDENT)
