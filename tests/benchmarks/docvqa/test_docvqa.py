from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from reflact.benchmarks.docvqa.images import SentImage
from reflact.benchmarks.docvqa.rehearsal import _WRONG, RULES, rehearse
from reflact.benchmarks.docvqa.scoring import score
from reflact.benchmarks.single_turn import Answered
from reflact.core.errors import Unavailable
from reflact.core.names import Part, RowStatus
from reflact.core.types import Item, Outcome
from reflact.models.protocol import CallError, Failure
from reflact.models.protocol import Image as Attached
from reflact.testing import scripted_session
from reflact.testing.conformance.benchmark import leaks

from ..support import converse, cut
from .support import loaded, make_docvqa, picture

SENT = SentImage(Attached("image/png", b"png"))


def scored(reply: str, *golds: str) -> Outcome:
    return score(Answered(reply, False, 1, ()), golds, SENT)


def test_the_student_sees_skill_question_and_image_and_not_the_gold(tmp_path: Path) -> None:
    benchmark, item = loaded(tmp_path)
    outcome, session = converse(benchmark, item, "<answer>Value 1</answer>", skill="# Be short")
    system, user = session.asked[0].messages
    assert (system.role, user.role, len(session.asked[0].messages)) == ("system", "user", 2)
    assert "<skill>\n# Be short\n</skill>" in system.content
    assert "Question: What is number 1?" in user.content
    assert "value 1" not in session.asked[0].text
    assert system.images == ()
    assert [(image.media_type, image.data) for image in user.images] == [("image/png", picture(shade=1))]
    assert (outcome.hard, outcome.soft, outcome.fail_reason) == (1.0, 1.0, None)
    assert outcome.extra["image"] == {"media_type": "image/png", "bytes": len(picture(shade=1))}


def test_the_type_that_is_sent_is_that_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "q1.png").write_bytes(picture("JPEG"))
    benchmark, item = loaded(tmp_path)
    _, session = converse(benchmark, item, "<answer>x</answer>")
    assert session.asked[0].messages[1].images[0].media_type == "image/jpeg"


def test_large_images_are_made_smaller_if_asked(tmp_path: Path) -> None:
    (tmp_path / "q1.png").write_bytes(picture(size=(40, 20)))
    benchmark, item = loaded(tmp_path, max_image_pixels=200)
    _, session = converse(benchmark, item, "<answer>x</answer>")
    (image,) = session.asked[0].messages[1].images
    assert image.media_type == "image/png"
    assert Image.open(io.BytesIO(image.data)).size == (20, 10)


def test_without_its_image_a_question_is_not_asked(tmp_path: Path) -> None:
    benchmark, item = loaded(tmp_path)
    stranger = Item("other", "?", ("x",), data={"image": "none.png", "image_sha256": ""})
    (tmp_path / "q1.png").unlink()
    for asked in (item, stranger):
        outcome, session = converse(benchmark, asked, "<answer>value 1</answer>")
        assert (outcome.status, outcome.cause, outcome.hard, outcome.soft) == (RowStatus.ERROR, "image", None, None)
        assert "image" in outcome.extra["error"] or "q1.png" in outcome.extra["error"]
        assert session.asked == []
    (tmp_path / "q1.png").write_bytes(picture(shade=99))
    outcome, session = converse(benchmark, item, "<answer>value 1</answer>")
    assert outcome.status is RowStatus.ERROR
    assert "changed since it was checked" in outcome.extra["error"]
    assert session.asked == []


def test_images_are_read_only_when_their_call_starts(tmp_path: Path) -> None:
    benchmark, item = loaded(tmp_path)
    data = (tmp_path / "q1.png").read_bytes()
    assert not any(isinstance(value, bytes) for value in item.data.values())
    (tmp_path / "q1.png").unlink()
    (tmp_path / "q1.png").write_bytes(data)
    outcome, _ = converse(benchmark, item, "<answer>value 1</answer>")
    assert outcome.hard == 1.0


@pytest.mark.parametrize(
    ("reply", "hard", "soft", "reason"),
    [
        ("<answer>14 March 1987</answer>", 1, 1, None),
        ("It is <answer>\n14  MARCH 1987 </answer>", 1, 1, None),
        ("It says\n\n14 march 1987", 1, 1, None),
        ("<answer>x</answer> no: <ANSWER>14 March 1987</ANSWER>", 1, 1, None),
        ("<answer>14 March 1981</answer>", 0, 12 / 13, "nearly right"),
        ("<answer>on 14 March 1987</answer>", 0, 13 / 16, "too much"),
        ("<answer>1987</answer>", 0, 0, "too little"),
        ("<answer>Tuesday</answer>", 0, 0, "is wrong"),
        ("<answer> </answer>", 0, 0, "tags were empty"),
        ("No tag here, Tuesday", 0, 0, "no complete pair of answer tags"),
        ("<answer>", 0, 0, "gave no answer"),
    ],
)
def test_scores_and_reasons(reply: str, hard: float, soft: float, reason: str | None) -> None:
    outcome = scored(reply, "14 March 1987", "the fourteenth of March, 1987")
    assert outcome.status is RowStatus.OK
    assert outcome.hard == hard
    assert outcome.soft == pytest.approx(soft)
    assert (outcome.fail_reason is None) == (reason is None)
    assert reason is None or (outcome.fail_reason is not None and reason in outcome.fail_reason)


def test_hard_begins_at_a_similarity_of_0_999() -> None:
    gold = "a" * 1000
    assert scored(f"<answer>{'a' * 999}b</answer>", gold).hard == 1.0
    assert scored(f"<answer>{'a' * 998}bb</answer>", gold).hard == 0.0
    assert scored("<answer></answer>", " ").soft == 0.0


@given(st.text("abc ", max_size=8), st.lists(st.text("xyzuvw ", min_size=4, max_size=8), max_size=3))
def test_a_failure_always_has_a_reason_without_the_gold(answer: str, golds: list[str]) -> None:
    outcome = scored(f"<answer>{answer}</answer>", *golds)
    assert outcome.hard == 0.0
    assert outcome.fail_reason
    assert not [gold for gold in golds if leaks(outcome.fail_reason, gold, answer)]


def test_only_a_closed_tag_is_an_answer_of_a_cut_reply(tmp_path: Path) -> None:
    benchmark, item = loaded(tmp_path)
    outcome, session = converse(benchmark, item, cut("It must be\nvalue 1"), cut("<answer>value 1"))
    assert (outcome.status, outcome.cause, outcome.hard) == (RowStatus.EMPTY, "length", 0.0)
    assert [len(asked.messages[1].images) for asked in session.asked] == [1, 1]
    outcome, _ = converse(benchmark, item, cut("<answer>value 1</answer> because"))
    assert (outcome.status, outcome.truncated, outcome.hard) == (RowStatus.OK, True, 1.0)


@pytest.mark.parametrize(
    "said",
    [
        "Invalid content type. image_url is only supported by certain models.",
        "This model does not support image inputs.",
        "image input is not supported - hint: you may need to provide the mmproj",
        "At most 0 image(s) may be provided in one prompt.",
        "m1 is not a multimodal model",
        "unknown variant `image_url`, expected `text`",
        "this model is missing data required for image input",
        "messages[1].content must be a string",
        "Images are not supported by this model.",
        "the backend `local` reads no images",
    ],
)
def test_a_model_without_eyes_ends_the_run(tmp_path: Path, said: str) -> None:
    benchmark, item = loaded(tmp_path)
    for failure in (Failure.BAD_REQUEST, Failure.SERVER):
        with pytest.raises(Unavailable, match=r"takes no images.*model\.student"):
            asyncio.run(benchmark.converse(item, scripted_session([CallError(failure, said)])))


@pytest.mark.parametrize(
    "error",
    [
        CallError(Failure.BAD_REQUEST, "You uploaded an unsupported image.", cause="bad_image", item_specific=True),
        CallError(Failure.BAD_REQUEST, "this size of image is not supported", cause="bad_image", item_specific=True),
        CallError(Failure.BAD_REQUEST, "image inputs are not supported in this mode", cause="bad_image"),
        CallError(Failure.BAD_REQUEST, "max_tokens is not supported"),
        CallError(Failure.BAD_REQUEST, "Invalid 'messages'"),
        CallError(Failure.SERVER, "could not process image"),
        CallError(Failure.RATE_LIMIT, "image input is not supported"),
    ],
    ids=str,
)
def test_other_failures_are_left_to_the_harness(tmp_path: Path, error: CallError) -> None:
    benchmark, item = loaded(tmp_path)
    with pytest.raises(CallError) as caught:
        asyncio.run(benchmark.converse(item, scripted_session([error])))
    assert caught.value is error


def test_settings_follow_what_shapes_requests() -> None:
    plain = make_docvqa().settings()
    for change in ({"image_detail": "high"}, {"max_image_pixels": 500}, {"max_completion_tokens": 99}):
        assert make_docvqa(**change).settings() != plain
    assert make_docvqa(workers=3, image_root="/x").settings() == plain


def test_rehearsed_replies_score_as_asked() -> None:
    for items in make_docvqa(sample=True).load().parts.values():
        for item in items:
            for correct in (True, False):
                outcome = scored(rehearse(item, correct, 42), *item.gold)
                assert (outcome.hard, outcome.soft) == (float(correct), float(correct)), item.id
    item = Item("q", "?", _WRONG)
    assert scored(rehearse(item, False, 1), *item.gold).hard == 0.0
    assert rehearse(item, True, 1) == rehearse(item, True, 1)


def test_the_initial_skill_holds_no_hidden_rule() -> None:
    assert not [rule for rule in RULES if rule.text in make_docvqa().initial_skill()]
    assert make_docvqa(sample=True).load().parts[Part.TRAIN]
