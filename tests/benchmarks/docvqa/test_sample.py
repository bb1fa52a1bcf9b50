from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

from PIL import Image

from reflact.benchmarks.docvqa import DocVQA
from reflact.benchmarks.docvqa.drawing import write_sample
from reflact.benchmarks.protocol import Benchmark
from reflact.core.names import Part
from reflact.testing import BenchmarkConformance, Brain
from reflact.testing.sessions import FakeSession

from .support import make_docvqa

SAMPLE = Path(str(files("reflact.benchmarks.docvqa"))) / "sample"


class TestDocVQA(BenchmarkConformance):
    def make_benchmark(self) -> Benchmark:
        return make_docvqa(sample=True)

    def make_moved_benchmark(self, folder: Path) -> Benchmark:
        shutil.copytree(SAMPLE, folder / "sample")
        return make_docvqa(split_dir=str(folder / "sample"))


def test_the_sample_is_what_the_generator_draws(tmp_path: Path) -> None:
    write_sample(tmp_path)
    drawn = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.*"))
    assert drawn == sorted(path.relative_to(SAMPLE) for path in SAMPLE.rglob("*.*"))
    for name in drawn:
        if name.suffix == ".csv":
            assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes()
        else:
            # Another version of the font's renderer may draw other greys.
            with Image.open(tmp_path / name) as new, Image.open(SAMPLE / name) as old:
                assert (new.size, new.format) == (old.size, old.format) == ((620, 800), "PNG")


def test_the_sample_is_small_and_shares_no_page_between_parts() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*.png")) < 300_000
    split = make_docvqa(sample=True).load()
    assert split.sample
    assert {part.value: len(split.parts[part]) for part in Part} == {"train": 12, "val": 10, "test": 16}
    pages = [{item.data["image_sha256"] for item in split.parts[part]} for part in Part]
    assert len(set.union(*pages)) == sum(map(len, pages)) == 13
    assert len({item.question for part in Part for item in split.parts[part]}) == 38


def test_every_answer_stands_on_its_page() -> None:
    from reflact.benchmarks.docvqa.pages import Form, Letter, Table, sample_pages

    for pages in sample_pages().values():
        for page in pages:
            match page.body:
                case Form(fields):
                    said = [value for field in fields for value in field]
                case Table(rows):
                    said = [cell for row in rows for cell in row]
                case Letter(lines):
                    said = list(lines)
            text = "\n".join((page.title, page.subtitle, *said, page.footer))
            assert all(any(gold in text for gold in asked.golds) for asked in page.questions), page.number


def test_a_brain_can_do_it() -> None:
    import asyncio

    from reflact.models.protocol import Message
    from reflact.testing import SeenMessage, SeenRequest, Wire

    benchmark: DocVQA = make_docvqa(sample=True)
    items = [item for part in benchmark.load().parts.values() for item in part]
    for base in (0.0, 1.0):
        brain = Brain.for_benchmark(benchmark, base=base)

        def answer(messages: list[Message], brain: Brain = brain) -> str:
            flat = tuple(SeenMessage(message.role, message.content) for message in messages)
            return brain(SeenRequest(1, Wire.CHAT, "POST", "/v1/chat/completions", messages=flat)).text

        outcomes = [asyncio.run(benchmark.converse(item, FakeSession(answer))) for item in items]
        assert {outcome.hard for outcome in outcomes} == {base}
