"""What goes wrong in a launcher's process can be told in another one, whatever it is."""

from __future__ import annotations

import pickle

import pytest
from omegaconf import DictConfig, OmegaConf

from reflact.cli.job import _portable
from reflact.core.errors import ConfigError, DataError, ReflactError, Refused, Stopped, Unavailable
from reflact.core.names import StopCause
from reflact.sweep.foreign import OURS, require_score


@pytest.mark.parametrize(
    "error",
    [
        Stopped(StopCause.RATE_LIMIT, "enough"),
        *(kind("why") for kind in (ConfigError, DataError, Refused, Unavailable)),
    ],
)
def test_our_errors_are_the_same_in_another_process(error: ReflactError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error) and again.exit_code is error.exit_code
    assert getattr(again, "cause", None) is getattr(error, "cause", None)


class Stubborn(Exception):
    """Made from two values, of which one is forgotten: unpickling it fails, as with errors of HTTP clients."""

    def __init__(self, message: str, response: object) -> None:
        super().__init__(message)
        self.response = response


def test_an_error_that_cannot_cross_is_told_in_its_words() -> None:
    error = _portable(Stubborn("no such page", object()))
    assert str(pickle.loads(pickle.dumps(error))) == "Stubborn: no such page"
    bug = ValueError("x")
    assert _portable(bug) is bug


def test_a_sweeper_that_optimises_is_told_of_a_failure_and_never_of_nan() -> None:
    def job(sweeper: str) -> DictConfig:
        return OmegaConf.create({"hydra": {"sweeper": {"_target_": sweeper}}})

    optuna = "hydra_plugins.hydra_optuna_sweeper.optuna_sweeper.OptunaSweeper"
    require_score(job(optuna), 0.0)
    require_score(job(OURS), float("nan"))
    with pytest.raises(ReflactError, match="without a score"):
        require_score(job(optuna), float("nan"))
