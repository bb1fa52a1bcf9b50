"""`reflact keys` and `reflact archive`, and how any command ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflact.cli.errors import guarded
from reflact.core.errors import ConfigError, Refused, Unavailable
from tests.cli.commands import C_LOCALE, run, tree


def test_keys_explains_what_is_asked_for(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact", "keys", "lr_scheduler")
    assert "optimizer.lr_scheduler=cosine" in result.out and "constant, linear, cosine" in result.out
    wrong = run(tmp_path, "reflact", "keys", "optimizer.learning_rte")
    assert wrong.code == 2 and "did you mean optimizer.learning_rate" in wrong.err


def test_archive_moves_a_directory_and_loses_nothing(tmp_path: Path) -> None:
    dirty = tmp_path / "运行"
    dirty.mkdir()
    (dirty / "half.json").write_text("{", encoding="utf-8")
    before = tree(dirty)
    result = run(tmp_path, "reflact", "archive", "运行", "--reason", "写坏了", env=C_LOCALE)
    assert result.code == 0, result.err
    (moved,) = [path for path in (tmp_path / "archive").iterdir() if path.is_dir()]
    assert not dirty.exists() and str(moved) in result.out
    assert {name: content for name, (content, _) in tree(moved).items()} == {n: c for n, (c, _) in before.items()}
    assert run(tmp_path, "reflact", "archive", "运行").code == 73


@pytest.mark.parametrize(("error", "code"), [(ConfigError("x"), 2), (Unavailable("x"), 69), (Refused("x"), 73)])
def test_our_errors_are_one_line_and_a_code(error: Exception, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise error

    with pytest.raises(SystemExit) as ended:
        guarded("reflact", work)
    assert ended.value.code == code
    assert capsys.readouterr().err == "reflact: x\n"


def test_a_bug_is_not_swallowed() -> None:
    def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        guarded("reflact", work)


def test_ctrl_c_is_no_traceback() -> None:
    def work() -> None:
        raise KeyboardInterrupt

    with pytest.raises(SystemExit) as ended:
        guarded("reflact", work)
    assert ended.value.code == 75
