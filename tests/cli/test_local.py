from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from reflact.cli import local
from reflact.cli.local import app
from reflact.core.errors import ConfigError, Unavailable
from reflact.models.local_weights import SHA256, Weights

from ..models.local_support import needs_local_model


@needs_local_model
@pytest.mark.heavy
def test_check_loads_and_asks() -> None:
    result = CliRunner().invoke(app, ["check"], catch_exceptions=False)
    assert result.exit_code == 0
    assert SHA256 in result.output
    assert "7 | lamps | Oslo" in result.output


@needs_local_model
def test_check_refuses_what_is_not_a_model(tmp_path: Path) -> None:
    path = tmp_path / "text.gguf"
    path.write_text("text")
    result = CliRunner().invoke(app, ["check", "--path", str(path)])
    assert isinstance(result.exception, ConfigError)


def test_check_without_the_runtime_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise Unavailable("run `reflact local install`")

    monkeypatch.setattr(local, "require_runtime", absent)
    result = CliRunner().invoke(app, ["check"])
    assert isinstance(result.exception, Unavailable)


def test_install_says_what_is_there_and_what_to_do_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "install_all", lambda say: Weights(Path("/weights.gguf"), "0123"))
    result = CliRunner().invoke(app, ["install"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "/weights.gguf" in result.output
    assert "0123" in result.output
    assert "reflact-train benchmark=orders harness=local" in result.output
