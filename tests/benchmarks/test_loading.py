from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflact.benchmarks.commands import make_split
from reflact.benchmarks.folders import MANIFEST
from reflact.benchmarks.loading import split_folder
from reflact.config.study import EnvConfig
from reflact.core.errors import DataError
from reflact.core.names import Part

from .support import make, question, write_json, write_split


def parts(**changes: Any) -> dict[str, list[dict[str, Any]]]:
    made = {part: [question(f"{part}{n}") for n in range(3)] for part in ("train", "val", "test")}
    return {**made, **changes}


def test_where_a_split_is_looked_for() -> None:
    assert split_folder(EnvConfig(), "searchqa") == Path("data/searchqa/splits/2-1-7")
    assert split_folder(EnvConfig(split="1shot", split_root="x"), "searchqa") == Path("x/1shot")
    assert split_folder(EnvConfig(split_dir="d", split_root="x"), "searchqa") == Path("d")


def test_a_split_is_found_relative_to_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_split(tmp_path / "data/searchqa/splits/2-1-7", parts())
    monkeypatch.chdir(tmp_path)
    split = make("searchqa").load()
    assert (split.name, split.source) == ("2-1-7", "data/searchqa/splits/2-1-7")
    assert [item.id for item in split.parts[Part.VAL]] == ["val0", "val1", "val2"]
    assert not split.sample


def test_the_fingerprint_is_of_the_content_alone(tmp_path: Path) -> None:
    first = write_split(tmp_path / "a", parts())
    second = tmp_path / "elsewhere" / "b"
    for part, records in parts().items():
        (second / part).mkdir(parents=True)
        lines = [json.dumps(dict(reversed(record.items())), ensure_ascii=True) for record in records]
        (second / part / "anything.jsonl").write_text("\r\n".join(lines), encoding="utf-8")
    other = write_split(
        tmp_path / "c", parts(val=[question("val0"), question("val1"), question("val2", answers=["x"])])
    )
    splits = [make("searchqa", split_dir=str(folder)).load() for folder in (first, second, other)]
    assert splits[0].fingerprint == splits[1].fingerprint != splits[2].fingerprint
    assert splits[0].fingerprints[Part.TRAIN] == splits[2].fingerprints[Part.TRAIN]


def test_a_missing_folder_names_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        make("searchqa", split_root=str(tmp_path), split="1-1-8").load()
    folder = tmp_path / "1-1-8"
    assert str(caught.value) == (
        f"there is no split folder {folder}. Make it with `reflact splits make searchqa --source <file or folder> "
        f"--split 1-1-8 --out {folder}`, point env.split_dir at one that exists, or try the items that ship with "
        "reflact: env.sample=true"
    )


def test_the_command_follows_the_folder_s_name() -> None:
    for name, options in {"2-1-7_seed43": " --split 2-1-7 --seed 43", "1shot": " --split 1shot", "mine": ""}.items():
        with pytest.raises(DataError, match=rf"--source <file or folder>{options} --out no/{name}`"):
            make("searchqa", split_dir=f"no/{name}").load()


def test_a_missing_part_says_what_was_found(tmp_path: Path) -> None:
    write_split(tmp_path, {"train": [question("a")], "valid": [question("b")], "test": [question("c")]})
    with pytest.raises(DataError, match=r"has no folder 'val' \(found: test, train, valid\).*reflact splits make"):
        make("searchqa", split_dir=str(tmp_path)).load()


def test_a_part_needs_exactly_one_file(tmp_path: Path) -> None:
    write_split(tmp_path, parts())
    write_json(tmp_path / "val" / "more.json", [])
    with pytest.raises(DataError, match=r"val must hold exactly one JSON file.*found: items\.json, more\.json"):
        make("searchqa", split_dir=str(tmp_path)).load()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"val": []}, r"val.items\.json: the file holds no items"),
        (
            {"val": [question("v"), question("v")]},
            r"items\.json:1 \(id 'v'\): the id stands twice; before: .*items\.json:1",
        ),
        ({"test": [question("train1")]}, r"more than one part: 'train1' in train .* and test "),
        (
            {"val": [{"id": "v", "question": "?", "context": "c", "answer": ["x"]}]},
            r"val.items\.json:1 \(id 'v'\): the field 'answers' is missing",
        ),
        ({"val": [question("v", answers="x")]}, r"'answers' must be a list of texts"),
        ({"val": [question("v", context="")]}, r"'context' is blank"),
    ],
)
def test_bad_items_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    write_split(tmp_path, parts(**changes))
    with pytest.raises(DataError, match=message):
        make("searchqa", split_dir=str(tmp_path)).load()


def test_many_overlaps_are_counted(tmp_path: Path) -> None:
    same = [question(f"i{n}") for n in range(5)]
    write_split(tmp_path, parts(train=same, test=same))
    with pytest.raises(DataError, match="and 2 more"):
        make("searchqa", split_dir=str(tmp_path)).load()


def test_items_that_the_manifest_does_not_describe_are_refused(tmp_path: Path) -> None:
    source = write_json(tmp_path / "pool.json", [question(f"i{n}") for n in range(20)])
    folder = tmp_path / "split"
    make_split(make("searchqa"), source, folder)
    benchmark = make("searchqa", split_dir=str(folder))
    assert benchmark.load().manifest["ratio"] == "2-1-7"
    write_json(folder / "val" / "items.json", [question("new")])
    with pytest.raises(DataError, match=r"not those that split_manifest\.json describes.*reflact splits verify"):
        benchmark.load()
    (folder / MANIFEST).unlink()
    assert benchmark.load().parts[Part.VAL][0].id == "new"


def test_a_foreign_manifest_is_kept_and_not_compared(tmp_path: Path) -> None:
    write_split(tmp_path, parts())
    write_json(tmp_path / MANIFEST, {"by": "somebody", "fingerprint": "md5:1"})
    assert make("searchqa", split_dir=str(tmp_path)).load().manifest["by"] == "somebody"
    write_json(tmp_path / MANIFEST, [])
    with pytest.raises(DataError, match="a JSON object was expected"):
        make("searchqa", split_dir=str(tmp_path)).load()


def test_a_source_is_cut_in_memory_as_the_command_cuts_it(tmp_path: Path) -> None:
    source = write_json(tmp_path / "pool.json", [question(f"i{n}") for n in range(40)])
    make_split(make("searchqa"), source, tmp_path / "1-1-8", split="1-1-8")
    written = make("searchqa", split_dir=str(tmp_path / "1-1-8")).load()
    drawn = make("searchqa", data_root=str(source), split="1-1-8").load()
    assert drawn.fingerprints == written.fingerprints
    # A named split folder wins over the source.
    assert make("searchqa", data_root="nowhere", split_root=str(tmp_path), split="1-1-8").load().parts == written.parts


@pytest.mark.parametrize("name", ["searchqa", "livemathematicianbench"])
def test_the_sample_ships_with_the_package(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    benchmark = make(name, sample=True, split_dir="ignored")
    split = benchmark.load()
    assert (split.name, split.sample) == ("sample", True)
    assert [len(split.parts[part]) for part in Part] == [12, 10, 16]
    assert list(benchmark.check(split)) == []


def test_equal_items_under_two_ids_in_two_parts_are_warned_about(tmp_path: Path) -> None:
    twin = {**question("train0"), "id": "twin"}
    write_split(tmp_path, parts(test=[twin]))
    benchmark = make("searchqa", split_dir=str(tmp_path))
    (finding,) = benchmark.check(benchmark.load())
    assert (finding.level, finding.code) == ("warning", "repeated_items")
    assert "train 'train0' = test 'twin'" in finding.message
