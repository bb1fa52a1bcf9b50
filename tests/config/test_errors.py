"""What a wrong override is answered with: which one, what is allowed, what was probably meant."""

from __future__ import annotations

import re
import shlex

import pytest

from reflact.config.compose import Composer
from reflact.core.errors import ConfigError, ExitCode


@pytest.fixture(scope="module")
def composer() -> Composer:
    return Composer()


WRONG = [
    ("optimizer.learning_rte=8", ["optimizer.learning_rte", "did you mean optimizer.learning_rate"]),
    ("learning_rate=8", ["learning_rate", "did you mean optimizer.learning_rate"]),
    ("+optimizer.learning_rte=8", ["did you mean optimizer.learning_rate"]),
    ("++nonsense.deep=1", ["nonsense"]),
    ("+nonsense=1", ["nonsense"]),
    ("optimizer.learning_rate=eight", ["optimizer.learning_rate=eight", "a whole number"]),
    ("optimizer.learning_rate=2.5", ["a whole number"]),
    ("optimizer.learning_rate=true", ["a whole number"]),
    ("optimizer.learning_rate=[1]", ["a whole number"]),
    ("optimizer.learning_rate=null", ["a whole number"]),
    ("optimizer.use_slow_update=perhaps", ["true or false"]),
    ("gradient=3", ["group of keys", "gradient.minibatch_size"]),
    ("~optimizer.learning_rate", ["cannot be removed"]),
    ("+optimizer.learning_rate=3", ["exists", "without `+`"]),
    ("optimizer.lr_scheduler=cosin", ["did you mean cosine", "constant, linear, cosine"]),
    ("benchmark=docvq", ["did you mean docvqa"]),
    ("harness=codex", ["codex_exec"]),
    ("ablation/lr=8", ["ablation/lr=lr8", "no bare number"]),
    ("ablation/lr=lr3", ["lr1, lr16, lr2, lr4, lr8"]),
    ("harness=null", ["leave it out"]),
    ("ablation/learning=lr8", ["no config group ablation/learning"]),
    ("benchmark.options.level=easy", ["put a `+` in front"]),
    ("just-a-word", ["no `=`"]),
    ("two words=1", ["cannot be the name of a key"]),
    ("hydra/launcher=slrm", ["hydra/launcher=slrm", "joblib"]),
]


@pytest.mark.parametrize(("line", "said"), WRONG, ids=[line for line, _ in WRONG])
def test_a_wrong_override_is_explained(composer: Composer, line: str, said: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        composer.compose(["train.seed=1", line])
    message = str(caught.value)
    assert all(part in message for part in said), message
    assert "\n" not in message
    assert caught.value.exit_code == ExitCode.USAGE


@pytest.mark.parametrize("value", ["x=1", "a,b", "{k:v", "[1, 2", "f(x", "it's", "a: {b", "https://x/?a=1"])
def test_an_unreadable_value_is_answered_with_the_override_that_works(composer: Composer, value: str) -> None:
    with pytest.raises(ConfigError) as caught:
        composer.compose([f"env.data_root={value}"])
    (advised,) = shlex.split(re.split(r"for the shell: |as one text: ", str(caught.value))[1])
    assert composer.compose([advised]).env.data_root == value


def test_several_values_without_multirun_are_explained(composer: Composer) -> None:
    with pytest.raises(ConfigError, match="--multirun"):
        composer.compose(["optimizer.learning_rate=1,2"])
    with pytest.raises(ConfigError, match="--multirun"):
        composer.compose(["benchmark=docvqa,orders"])


def test_the_right_override_is_blamed(composer: Composer) -> None:
    with pytest.raises(ConfigError) as caught:
        composer.compose(["benchmark=docvqa", "env.workers=8", "train.batch_size=1.5", "train.seed=3"])
    assert str(caught.value).startswith("train.batch_size=1.5")
