"""Real requests of the real client, seen by a scripted server."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflact.config.compose import compose
from reflact.core.errors import ConfigError, ReflactError
from reflact.engine.evaluate import evaluate
from reflact.testing import Fault, Reply, ScriptedServer, SeenRequest, Wire

from .support import PARTS, picture, row, write_split

Overrides = tuple[str, ...]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[dict[str, Any]]]:
    """Evaluate the default skill on 12 test items against a server; return the rows."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    rows = {part: [row(f"{part}{n}", image_path=f"{part}{n}.png") for n in range(12)] for part in PARTS}
    folder = write_split(tmp_path / "split", rows)
    for part in PARTS:
        for n in range(12):
            (folder / part / f"{part}{n}.png").write_bytes(picture(shade=20 * n))

    def evaluate_on(server: ScriptedServer, *overrides: str) -> list[dict[str, Any]]:
        config = compose(["benchmark=docvqa", f"env.split_dir={folder}", "split=test", "env.workers=2", *overrides])
        for role in ("student", "teacher"):
            setattr(config.model, f"{role}_base_url", server.base_url)
        config.env.out_root = str(tmp_path / "run")
        evaluate(config)
        (results,) = (tmp_path / "run").rglob("results.jsonl")
        return [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]

    return evaluate_on


def image_part(seen: SeenRequest) -> dict[str, Any]:
    """Return the part of the body that holds the image."""
    turns = seen.body["messages"] if seen.wire is Wire.CHAT else seen.body["input"]
    (part,) = (part for turn in turns if isinstance(turn["content"], list) for part in turn["content"][1:])
    return dict(part)


@pytest.mark.parametrize(
    ("overrides", "wire", "detail"),
    [
        ((), Wire.CHAT, None),
        (("env.image_detail=high",), Wire.CHAT, "high"),
        (("model.student_api=responses",), Wire.RESPONSES, "auto"),
        (("model.student_api=responses", "env.image_detail=low"), Wire.RESPONSES, "low"),
    ],
)
def test_every_request_carries_its_image(
    run: Callable[..., list[dict[str, Any]]], overrides: Overrides, wire: Wire, detail: str | None
) -> None:
    def answer(seen: SeenRequest) -> Reply:
        number = int(seen.user.split("What is number test")[1].split("?")[0])
        return Reply(f"<answer>value test{number}</answer>")

    with ScriptedServer(answer) as server:
        rows = run(server, *overrides)
        requests = server.log.requests
    assert [row["hard"] for row in rows] == [1.0] * 12
    assert {(seen.wire, seen.images) for seen in requests} == {(wire, 1)}
    for seen in requests:
        number = int(seen.user.split("What is number test")[1].split("?")[0])
        part = image_part(seen)
        target = part["image_url"] if wire is Wire.CHAT else {"url": part["image_url"], "detail": part["detail"]}
        kind, _, data = target["url"].partition(";base64,")
        assert kind == "data:image/png"
        assert base64.b64decode(data) == picture(shade=20 * number)
        assert target.get("detail") == detail
    assert {row["extra"]["image"]["media_type"] for row in rows} == {"image/png"}


@pytest.mark.parametrize("overrides", [(), ("model.student_api=responses",)], ids=["chat", "responses"])
def test_a_server_without_eyes_stops_the_run_after_a_few_calls(
    run: Callable[..., list[dict[str, Any]]], overrides: Overrides
) -> None:
    refusal = Fault.http(400, message="Invalid content type. image_url is only supported by certain models.")
    with ScriptedServer(lambda _: refusal) as server:
        with pytest.raises(ConfigError, match=r"takes no images.*only supported by certain models") as caught:
            run(server, *overrides)
        assert len(server.log.calls) <= 4
    assert caught.value.exit_code == 2


def test_an_unclear_refusal_of_all_items_gives_no_zeros(run: Callable[..., list[dict[str, Any]]]) -> None:
    with (
        ScriptedServer(lambda _: Fault.http(400, message="no")) as server,
        pytest.raises(ReflactError, match=r"items all failed with 'bad_request'"),
    ):
        run(server)


def test_one_bad_image_concerns_its_item_alone(run: Callable[..., list[dict[str, Any]]]) -> None:
    def answer(seen: SeenRequest) -> Reply | Fault:
        if "number test3?" in seen.user:
            return Fault.http(400, code="invalid_image", message="The image is not valid.")
        return Reply("<answer>nothing of the kind</answer>")

    with ScriptedServer(answer) as server:
        rows = {row["id"]: row for row in run(server)}
    assert (rows["test3"]["status"], rows["test3"]["cause"]) == ("refused", "bad_image")
    assert {row["status"] for name, row in rows.items() if name != "test3"} == {"ok"}
