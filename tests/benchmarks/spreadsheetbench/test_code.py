from __future__ import annotations

import pytest

from reflact.benchmarks.spreadsheetbench.code import Script, extract, has_whole_script


@pytest.mark.parametrize(
    ("reply", "script"),
    [
        ("```python\na = 1\n```", Script("a = 1\n", True)),
        ("Here:\n\n```py\na = 1\n\n  b\n```\nDone.", Script("a = 1\n\n  b\n", True)),
        ("```python\nfirst\n```\nbetter:\n```python\nsecond\n```", Script("second\n", True)),
        ("```bash\nls\n```\n```\na = 1\n```", Script("a = 1\n", True)),
        ("```\nplain\n```\n```python\nreal\n```\n```\noutput\n```", Script("real\n", True)),
        ('```python\ns = """\n```inner\n"""\nb\n```', Script('s = """\n```inner\n"""\nb\n', True)),
        ("````python\na\n```\nb\n````", Script("a\n```\nb\n", True)),
        ("~~~python\na\n```\n~~~", Script("a\n```\n", True)),
        ("```python\r\na = 1\r\n```", Script("a = 1\r\n", True)),
        ("```python\na = 1", Script("a = 1\n", False)),
        ("```python\na\n```\n```python\nb = (", Script("a\n", True)),
        ("import x\nx(INPUT_PATH, OUTPUT_PATH)", Script("import x\nx(INPUT_PATH, OUTPUT_PATH)", False)),
        ("no script", None),
        ("```python\n\n```", None),
        ("```bash\nls\n```", None),
        ("", None),
    ],
)
def test_extract(reply: str, script: Script | None) -> None:
    assert extract(reply) == script
    assert has_whole_script(reply) is (script is not None and script.whole)
