from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from reflact.benchmarks.registry import GROUP, benchmark_names, load_benchmark, make_benchmark
from reflact.config.schema import Config
from reflact.core.errors import ConfigError


def config(name: str) -> Config:
    made = Config()
    made.benchmark.name = name
    return made


def test_installed_benchmarks_are_listed_without_being_imported() -> None:
    assert {"searchqa", "livemathematicianbench"} <= set(benchmark_names())


@pytest.mark.parametrize("name", ["searchqa", "livemathematicianbench"])
def test_a_benchmark_is_found_by_its_name(name: str) -> None:
    assert load_benchmark(config(name)).name == name


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"unknown benchmark 'serchqa': did you mean searchqa\? installed: .*orders"):
        load_benchmark(config("serchqa"))


def test_no_name_says_how_to_choose_one() -> None:
    with pytest.raises(ConfigError, match=r"add benchmark=<name>, one of: .*searchqa"):
        load_benchmark(config(""))


def test_a_plugin_that_cannot_be_imported_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_plugin_module.py").write_text("raise RuntimeError('no licence')", encoding="utf-8")
    info = tmp_path / "their_plugin-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-plugin\nVersion: 1.2\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ntheirs = broken_plugin_module:Make\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ConfigError) as caught:
        load_benchmark(config("theirs"))
    assert str(caught.value) == (
        "benchmark 'theirs' (broken_plugin_module:Make, from their-plugin 1.2) cannot be imported: "
        "RuntimeError: no licence"
    )
    sys.modules.pop("broken_plugin_module", None)


def test_a_target_that_is_not_callable_is_refused() -> None:
    entries = [EntryPoint("odd", "string:ascii_letters", GROUP)]
    with pytest.raises(ConfigError, match=r"from an unknown distribution.*is not a callable"):
        make_benchmark(config("odd"), entries)


def test_a_name_claimed_twice_is_refused_and_a_doubled_listing_is_not() -> None:
    ours = EntryPoint("searchqa", "reflact.benchmarks.searchqa:SearchQA", GROUP)
    theirs = EntryPoint("searchqa", "theirs:SearchQA", GROUP)
    with pytest.raises(ConfigError, match=r"claimed more than once: reflact.*theirs:SearchQA.*uninstall all but one"):
        make_benchmark(config("searchqa"), [ours, theirs])
    assert make_benchmark(config("searchqa"), [ours, ours]).name == "searchqa"
