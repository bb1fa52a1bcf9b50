from __future__ import annotations

import re
import shutil
from pathlib import Path

from reflact.rundir.code_version import code_version


def test_equal_sources_have_equal_versions(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    (one / "prompts").mkdir(parents=True)
    (one / "a.py").write_text("x = 1", encoding="utf-8")
    (one / "prompts" / "李明.md").write_text("text", encoding="utf-8")
    shutil.copytree(one, two)
    (two / "conf").mkdir()
    (two / "conf" / "config.yaml").write_text("a: 1", encoding="utf-8")
    (two / "a.pyc").write_text("compiled", encoding="utf-8")
    assert code_version(one) == code_version(two)
    (two / "prompts" / "李明.md").write_text("texts", encoding="utf-8")
    assert code_version(one) != code_version(two)


def test_the_version_names_package_and_sources() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\+[0-9a-f]{12}", code_version())
