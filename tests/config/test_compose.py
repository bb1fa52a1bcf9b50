"""Composition: typed, closed, from anywhere, as often as wanted."""

from __future__ import annotations

import copy
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hydra import compose as hydra_compose
from hydra import initialize_config_dir, version
from hydra.core.global_hydra import GlobalHydra

from reflact.config.axes import load_axes
from reflact.config.compose import Composer, compose
from reflact.config.keys import all_keys, get, show
from reflact.config.paths import conf_dir
from reflact.config.schema import Config
from reflact.core.errors import ConfigError

PLAN = [line for line in (Path(__file__).parent / "plan_overrides.txt").read_text(encoding="utf-8").split("\n") if line]


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer()


@pytest.mark.parametrize("line", PLAN)
def test_every_override_of_the_plan_composes_to_its_value(composer: Composer, line: str) -> None:
    key, _, value = line.partition("=")
    assert show(get(composer.compose([line]), key)).removesuffix(".0") == value


def test_the_result_is_typed_and_closed(composer: Composer) -> None:
    config = composer.compose(["train.batch_size=full", "optimizer.min_learning_rate=1"])
    assert isinstance(config, Config)
    assert config.train.batch_size == "full" and config.optimizer.min_learning_rate == 1
    with pytest.raises(AttributeError):
        config.optimizer.learning_rte = 8  # type: ignore[attr-defined]


def test_the_result_can_be_copied_and_sent_to_another_process(composer: Composer) -> None:
    config = composer.compose(["+benchmark.options.level=easy"])
    assert copy.deepcopy(config) == config == pickle.loads(pickle.dumps(config))


def test_two_results_share_nothing(composer: Composer) -> None:
    first, second = composer.compose([]), composer.compose([])
    first.sweep.only.append("x")
    first.env.workers = 1
    assert second == Composer().compose([])


def test_it_works_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compose(["benchmark=docvqa"])
    monkeypatch.chdir(tmp_path)
    assert compose(["benchmark=docvqa"]) == before
    assert list(tmp_path.iterdir()) == []


def test_it_works_in_threads() -> None:
    def rate(n: int) -> int:
        return compose([f"optimizer.learning_rate={n}"]).optimizer.learning_rate

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rate, range(2, 10))) == list(range(2, 10))


def test_another_hydra_application_in_the_process_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs.yaml").write_text("a: 1\n", encoding="utf-8")
    with initialize_config_dir(str(tmp_path), version_base="1.2"):
        before = version.getbase()
        compose(["benchmark=docvqa"])
        assert version.getbase() == before
        assert hydra_compose("theirs").a == 1
    assert not GlobalHydra.instance().is_initialized()


def test_every_option_composes(composer: Composer) -> None:
    for group in set(composer.groups()) - {"validity"}:  # the rules of tables lie beside the options and are none
        for option in composer.options(group) if not group.startswith("ablation/") else []:
            line = f"+{group}={option}" if group == "sweep" else f"{group}={option}"
            assert isinstance(composer.compose([line]), Config), line


def test_axes_compose_with_each_other_and_keys_win(composer: Composer) -> None:
    lines = [f"ablation/{axis.name}={axis.options[-1].name}" for axis in load_axes().axes]
    config = composer.compose([*lines, "harness=claude_code_exec", "optimizer.learning_rate=3"])
    assert config.model.student == "gpt-5.4-mini"  # an axis wins over the harness
    assert config.optimizer.lr_scheduler == "linear"
    assert config.optimizer.learning_rate == 3  # and a key over an axis
    assert config.train.batch_size == "full"


def test_the_order_of_overrides_does_not_matter(composer: Composer) -> None:
    lines = ["train.seed=1", "benchmark=docvqa", "ablation/lr=lr8", "env.workers=3"]
    assert composer.compose(lines) == composer.compose(lines[::-1])


def test_the_quick_way_gives_what_hydra_gives(composer: Composer) -> None:
    for n in range(3):
        chosen = [f"ablation/{axis.name}={axis.options[-1 - n % len(axis.options)].name}" for axis in load_axes().axes]
        lines = ["benchmark=docvqa", *reversed(chosen), "harness=claude_code_exec", "train.seed=7"]
        assert composer.compose(lines) == composer.compose([*lines, "hydra.job.chdir=false"])


def test_null_is_the_benchmarks_own_value_of_an_axis(composer: Composer) -> None:
    own = composer.compose(["benchmark=docvqa"])
    assert composer.compose(["benchmark=docvqa", "ablation/lr=null", "ablation/batch=null"]) == own
    assert composer.raw(["benchmark=docvqa", "ablation/lr=null"]).optimizer.lr_scheduler == own.optimizer.lr_scheduler
    with pytest.raises(ConfigError, match="leave it out to have the usual one"):
        composer.compose(["pricing=null"])


def test_the_axes_are_merged_in_the_order_of_the_defaults_list() -> None:
    text = (conf_dir() / "config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"ablation/(\w+): null", text) == [axis.name for axis in load_axes().axes]


def test_a_harness_sets_the_backends() -> None:
    assert compose(["harness=rehearsal"]).model.teacher_backend == "rehearsal"
    config = compose(["harness=claude_code_exec"])
    assert (config.model.student_backend, config.model.student) == ("claude_code_exec", "sonnet")
    assert compose(["harness=claude_code_exec", "model.student=opus"]).model.student == "opus"


def test_a_folder_of_ones_own_adds_options(tmp_path: Path) -> None:
    (tmp_path / "benchmark").mkdir()
    text = "# @package _global_\nbenchmark:\n  name: docvqa\nenv:\n  image_root: 数据\n"
    (tmp_path / "benchmark" / "mine.yaml").write_text(text, encoding="utf-8")
    config = Composer(tmp_path).compose(["benchmark=mine"])
    assert (config.benchmark.name, config.env.image_root) == ("docvqa", "数据")


def test_an_unknown_key_in_a_file_of_ones_own_is_refused_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "benchmark").mkdir()
    text = "# @package _global_\nenv:\n  wokers: 3\n"
    (tmp_path / "benchmark" / "mine.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"benchmark/mine\.yaml.*env\.wokers.*env\.workers"):
        Composer(tmp_path).compose(["benchmark=mine"])


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        Composer(tmp_path / "nowhere")


def test_letters_outside_ascii_need_no_quotes(composer: Composer) -> None:
    assert composer.compose(["env.skill_init=技能/初始.md"]).env.skill_init == "技能/初始.md"


def test_the_files_hold_only_keys_of_the_schema() -> None:
    for path in (conf_dir() / "ablation").rglob("*.yaml"):
        assert path.read_text(encoding="utf-8").startswith("# @package _global_\n"), path
    for axis in load_axes().axes:
        for option in axis.options:
            assert option.sets.keys() <= all_keys().keys()
