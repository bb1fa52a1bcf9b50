from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from reflact.benchmarks.docvqa import gallery
from reflact.benchmarks.protocol import Finding
from reflact.config.compose import compose
from reflact.config.schema import Config
from reflact.core.errors import DataError, Unavailable
from reflact.core.names import Part
from reflact.engine.prepare import prepare

from .support import PARTS, make_docvqa, picture, row, write_csv, write_images, write_split

ROWS = [row(n) for n in range(9)]


def findings(**env: str) -> dict[str, Finding]:
    benchmark = make_docvqa(**env)
    return {finding.code: finding for finding in benchmark.check(benchmark.load())}


def test_images_are_found_in_the_root_and_beside_the_table(tmp_path: Path) -> None:
    folder = write_split(tmp_path / "2-1-7")
    write_images(tmp_path / "scans", ROWS[:3])
    write_images(folder / "val", ROWS[3:6])
    write_images(folder, ROWS[6:])
    assert findings(split_dir=str(folder), image_root=str(tmp_path / "scans")) == {}


def test_the_root_goes_before_the_table_s_folder(tmp_path: Path) -> None:
    folder = write_split(tmp_path / "2-1-7")
    write_images(folder, ROWS)
    write_images(tmp_path / "scans", list(reversed(ROWS)))
    beside = make_docvqa(split_dir=str(folder)).load()
    chosen = make_docvqa(split_dir=str(folder), image_root=str(tmp_path / "scans")).load()
    assert beside.parts[Part.TRAIN][0].data["image_sha256"] == chosen.parts[Part.TEST][2].data["image_sha256"]


def test_equal_names_beside_different_tables_are_different_images(tmp_path: Path) -> None:
    folder = write_split(tmp_path, {part: [row(part, image_path="page.png")] for part in PARTS})
    for shade, part in enumerate(PARTS):
        (folder / part / "page.png").write_bytes(picture(shade=shade))
    split = make_docvqa(split_dir=str(folder)).load()
    assert len({split.parts[part][0].data["image_sha256"] for part in Part}) == 3


def test_links_are_followed_and_a_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "elsewhere" / "scan"
    real.parent.mkdir()
    real.write_bytes(picture())
    images = tmp_path / "s" / "docvqa_images"
    images.mkdir(parents=True)
    for entry in ROWS:
        (tmp_path / "s" / entry["image_path"]).symlink_to(real)
    opened: list[Path] = []
    check = gallery.check_image
    monkeypatch.setattr(gallery, "check_image", lambda path: opened.append(path) or check(path))
    folder = write_split(tmp_path / "split")
    found = findings(split_dir=str(folder), image_root=str(tmp_path / "s"))
    assert set(found) == set()
    assert len(opened) == 1


def test_missing_images_are_listed_before_the_run(tmp_path: Path) -> None:
    folder = write_split(tmp_path)
    write_images(folder, ROWS[:2])
    (folder / ROWS[2]["image_path"]).symlink_to(tmp_path / "gone")
    message = findings(split_dir=str(folder))["image_missing"].message
    assert message.startswith("7 of 9 images are missing: docvqa_images/q2_d20.png (question 2), ")
    assert " and 2 more; looked in " in message
    assert str(folder / "train") in message
    config = make_config(folder)
    with pytest.raises(DataError, match="7 of 9 images are missing") as caught:
        prepare(config)
    assert caught.value.exit_code == 2


def test_names_that_no_file_can_have_are_missing_images(tmp_path: Path) -> None:
    rows = [row(0, image_path="x" * 400 + ".png"), *ROWS[1:]]
    folder = write_split(tmp_path, {part: rows[3 * number : 3 * number + 3] for number, part in enumerate(PARTS)})
    write_images(folder, ROWS[1:])
    found = findings(split_dir=str(folder))
    assert set(found) == {"image_missing"}
    assert "(question 0)" in found["image_missing"].message


def test_an_image_in_a_folder_that_may_not_be_entered_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_split(tmp_path)
    write_images(folder, ROWS)
    is_file, stat = Path.is_file, Path.stat

    def locked(path: Path) -> bool:
        return path.name == "q3_d30.png"

    def refuse(path: Path, *args: object, **more: object) -> object:
        if locked(path):
            raise PermissionError(13, "Permission denied", str(path))
        return stat(path, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "is_file", lambda path: refuse(path) and is_file(path) if locked(path) else is_file(path))
    monkeypatch.setattr(Path, "stat", refuse)
    found = findings(split_dir=str(folder))
    assert set(found) == {"image_broken"}
    assert "q3_d30.png: cannot be read: Permission denied" in found["image_broken"].message


def make_config(folder: Path) -> Config:

    return compose(["benchmark=docvqa", f"env.split_dir={folder}", "harness=rehearsal"])


def test_broken_images_are_listed_with_their_reasons(tmp_path: Path) -> None:
    folder = write_split(tmp_path)
    write_images(folder, ROWS)
    (folder / ROWS[1]["image_path"]).write_bytes(b"<html>")
    (folder / ROWS[8]["image_path"]).write_bytes(picture(size=(50, 50))[:-30])
    found = findings(split_dir=str(folder))
    assert set(found) == {"image_broken"}
    assert found["image_broken"].level == "error"
    assert found["image_broken"].message.startswith("2 images cannot be used: ")
    assert "q1_d10.png: not a PNG" in found["image_broken"].message
    assert "q8_d80.png: a broken image" in found["image_broken"].message


def test_other_images_are_another_split_from_whatever_place(tmp_path: Path) -> None:
    folder = write_split(tmp_path / "a")
    write_images(folder, ROWS)
    first = make_docvqa(split_dir=str(folder)).load()
    moved = write_split(tmp_path / "b")
    write_images(tmp_path / "scans", ROWS)
    again = make_docvqa(split_dir=str(moved), image_root=str(tmp_path / "scans")).load()
    assert again.fingerprint == first.fingerprint
    (tmp_path / "scans" / ROWS[5]["image_path"]).write_bytes(picture(shade=77))
    other = make_docvqa(split_dir=str(moved), image_root=str(tmp_path / "scans")).load()
    assert [part for part in Part if other.fingerprints[part] != first.fingerprints[part]] == [Part.VAL]


def test_items_without_an_answer_and_questions_in_two_parts_are_named(tmp_path: Path) -> None:
    rows = {part: [row(f"{part}{n}", image_path=f"{part}{n}.png") for n in range(2)] for part in PARTS}
    rows["val"][0]["answer"] = "[]"
    rows["test"][1] |= {"question": "what is  number TRAIN0?", "image_path": "train0.png"}
    folder = write_split(tmp_path, rows)
    write_images(folder, [entry for part in PARTS for entry in rows[part]])
    found = findings(split_dir=str(folder))
    assert {code: finding.level for code, finding in found.items()} == {
        "empty_gold": "error",
        "repeated_items": "warning",
    }
    assert "1 items have no accepted answer: 'val0'" in found["empty_gold"].message
    assert "train 'train0' = test 'test1'" in found["repeated_items"].message


def test_without_pillow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(Unavailable, match=r"pip install 'reflact\[docvqa\]'"):
        make_docvqa(sample=True).load()


def test_many_images_are_opened_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = threading.Barrier(2, timeout=30)

    def check_image(path: Path) -> str:
        both.wait()
        return path.name

    monkeypatch.setattr(gallery, "check_image", check_image)
    rows = {part: [row(f"{part}{n}") for n in range(2)] for part in PARTS}
    folder = write_split(tmp_path, rows)
    write_images(folder, [entry for part in PARTS for entry in rows[part]])
    split = make_docvqa(split_dir=str(folder)).load()
    assert split.parts[Part.VAL][1].data["image_sha256"] == "qval1_dval10.png"


def test_a_source_is_cut_in_memory(tmp_path: Path) -> None:
    rows = [row(n) for n in range(20)]
    write_images(tmp_path, rows)
    source = write_csv(tmp_path / "validation.csv", rows)
    for root in (source, tmp_path):
        benchmark = make_docvqa(data_root=str(root))
        split = benchmark.load()
        assert {part.value: len(split.parts[part]) for part in Part} == {"train": 4, "val": 2, "test": 14}
        assert list(benchmark.check(split)) == []
