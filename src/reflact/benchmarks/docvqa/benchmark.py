"""The benchmark: data, task, prompts, initial skill."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from reflact.benchmarks import single_turn
from reflact.benchmarks.docvqa.blind import takes_no_images
from reflact.benchmarks.docvqa.checks import empty_golds, repeated_questions
from reflact.benchmarks.docvqa.form import DocVQAFormat
from reflact.benchmarks.docvqa.gallery import Gallery, open_images, with_hashes
from reflact.benchmarks.docvqa.images import ImageProblem, SentImage, load_image, require_pillow
from reflact.benchmarks.docvqa.rehearsal import RULES, rehearse
from reflact.benchmarks.docvqa.scoring import score, whole_answer
from reflact.benchmarks.loading import load_split
from reflact.benchmarks.prompts import load_prompt, with_skill
from reflact.benchmarks.protocol import Finding, Split
from reflact.benchmarks.records import Record
from reflact.benchmarks.single_turn import Answered, ask
from reflact.config.schema import Config
from reflact.core.errors import DataError, Unavailable
from reflact.core.names import RowStatus
from reflact.core.types import Item, Outcome, Rule
from reflact.harness.agent import Assignment, Handed
from reflact.harness.protocol import ChatSession
from reflact.models.protocol import CallError, Message


class DocVQA:
    """One chat turn with the image of a page; average normalised Levenshtein similarity."""

    name = "docvqa"
    version = "1"
    # Train questions are labelled data; without the label an analyst cannot tell a misread value from a wrong form.
    teacher_sees_gold = True

    def __init__(self, config: Config) -> None:
        """Take what the benchmark needs of the configuration."""
        self.form = DocVQAFormat()
        self._env = config.env
        self._system = load_prompt(self.form.package, "system")
        self._student = load_prompt(self.form.package, "student")
        self._gallery: Gallery | None = None

    def load(self) -> Split:
        """Read the items and open every image; `check` says which images are missing or cannot be used.

        Raises:
            DataError: A CSV file is missing or malformed.
            Unavailable: Pillow is not installed.
        """
        require_pillow()
        split = load_split(self._env, self.form)
        self._gallery = open_images(split, self._env.image_root)
        return with_hashes(split, self._gallery)

    def check(self, split: Split) -> Sequence[Finding]:
        """Look for images and answers that are not there, and for the same question in two parts."""
        gallery = self._gallery
        if gallery is None:
            require_pillow()
            gallery = open_images(split, self._env.image_root)
        return [*gallery.findings(), *empty_golds(split), *repeated_questions(split)]

    def narrow(self, records: Sequence[Record]) -> tuple[list[Record], Mapping[str, Any]]:
        """Take every item of a source; each must have an answer."""
        without = [record for record in records if not record.item.gold]
        if without:
            raise DataError(f"{len(without)} items have no accepted answer, the first is {without[0].where}")
        return list(records), {}

    def initial_skill(self) -> str:
        """The benchmark's own initial skill."""
        return files(self.form.package).joinpath("initial.md").read_text(encoding="utf-8")

    def prompts(self) -> Mapping[str, str]:
        """No teacher prompt is replaced."""
        return {}

    def settings(self) -> Mapping[str, Any]:
        """What shapes prompts, images and replies."""
        return {
            "image_detail": self._env.image_detail,
            "max_image_pixels": self._env.max_image_pixels,
            "max_completion_tokens": self._env.max_completion_tokens,
            "prompts": {prompt.name: prompt.record() for prompt in (self._system, self._student)},
        }

    def rules(self) -> Sequence[Rule]:
        """Hidden rules for rehearsals."""
        return RULES

    async def converse(self, item: Item, session: ChatSession) -> Outcome:
        """Ask the question with its image once, once more if no usable text comes, and score the reply.

        A question whose image is not there is not asked: the row is an `error`.

        Raises:
            Unavailable: The student's model takes no images.
        """
        try:
            sent = await asyncio.to_thread(self._load_image, item)
        except ImageProblem as problem:
            return _without_image(problem)
        try:
            answered = await ask(session, self.messages(item, session.skill, sent), whole_answer)
        except CallError as error:
            if not takes_no_images(error):
                raise
            raise Unavailable(
                f"the student's model takes no images, and every question of DocVQA is about one: {error}. "
                "Choose a model that does with model.student=..."
            ) from None
        return score(answered, item.gold, sent) if isinstance(answered, Answered) else answered

    def messages(self, item: Item, skill: str, sent: SentImage) -> list[Message]:
        """Return what the student is asked: text and image in one user turn."""
        return [
            Message("system", with_skill(self._system.text, skill)),
            Message("user", self._student.fill(question=item.question), (sent.image,)),
        ]

    def _load_image(self, item: Item) -> SentImage:
        place = self._place(item)
        if place is None:
            raise ImageProblem(f"there is no usable image {item.data['image']} for question {item.id}")
        return load_image(place, item.data["image_sha256"], self._env.max_image_pixels)

    def _place(self, item: Item) -> Path | None:
        return None if self._gallery is None else self._gallery.places.get(item.id)

    async def assignment(self, item: Item, skill: str, seed: int) -> Assignment | Outcome:
        """Return what an agent gets: the same as a chat turn, the image attached."""
        try:
            sent = await asyncio.to_thread(self._load_image, item)
        except ImageProblem as problem:
            return _without_image(problem)
        return single_turn.assignment(self.messages(item, skill, sent))

    def in_form(self, item: Item, handed: Handed, seed: int) -> bool:
        """Whether there is an answer in answer tags."""
        return whole_answer(handed.text)

    async def judge(self, item: Item, handed: Handed, seed: int) -> Outcome:
        """Score an agent's last message."""
        sent = await asyncio.to_thread(self._load_image, item)
        return score(single_turn.handed_in(handed), item.gold, sent)

    def rehearse(self, item: Item, correct: bool, seed: int) -> str:
        """Return a simulated reply."""
        return rehearse(item, correct, seed)


def _without_image(problem: ImageProblem) -> Outcome:
    return Outcome(status=RowStatus.ERROR, cause="image", extra={"error": str(problem)[:500]})
