"""Runs whose texts are attacks."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

ATTACKS = (
    "</script><script>attack()</script>",
    "<!--<script>attack()",
    "<img src=x onerror=attack()>",
    '"><svg onload=attack()>',
    "' onfocus='attack()' autofocus='",
    "javascript:attack()",
    "<a href='javascript:attack()'>click</a>",
    "</style></title></textarea></pre><script>attack()</script>",
    "<iframe srcdoc='<script>parent.attack()</script>'></iframe>",
    "<base href='https://evil.invalid/'><meta http-equiv=refresh content='0;url=data:text/html,x'>",
    "{{ 7 * 7 }} {% raw %} ${attack()} `${attack()}`",
    '\\"}]}</script><script>attack()</script>',
    "\x1b[31mred\x1b]0;title\x07 \x00\x08",
    "\u202egnp.exe\u202c \u2066isolated\u2069 \u200bzero",
    "\u2028line\u2029separator \ud800 lone",
    "__proto__",
    "constructor",
    "]]>&lt;script&gt;&#60;script&#62;attack()",
)
"""Each calls `attack` if anything of it is run."""

# What the files say to programs, which a model or an item cannot change.
_OURS = frozenset(
    {
        "key", "status", "kind", "action", "digest", "name", "phase", "role", "stage", "state", "sha256", "origin",
        "what", "source", "started_at", "finished_at", "fingerprint", "skill_sha256", "config_hash", "skill_key",
        "folder", "rule", "type", "gate_metric",
    }
)  # fmt: skip


def poison(root: Path) -> None:
    """Put an attack into every text of a run, file by file, names of fields included where they are free."""
    attacks = itertools.cycle(ATTACKS)
    for path in sorted(root.rglob("*")):
        if path.suffix == ".json" and "claims" not in path.parts:
            value = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps(_poisoned(value, attacks)), encoding="utf-8")
        elif path.suffix == ".jsonl":
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            path.write_text("".join(json.dumps(_poisoned(line, attacks)) + "\n" for line in lines), encoding="utf-8")
        elif path.suffix == ".md":
            path.write_text("\n".join(attack.replace("\ud800", "") for attack in ATTACKS) + "\n", encoding="utf-8")
    overrides = root / ".hydra" / "overrides.yaml"
    overrides.parent.mkdir(exist_ok=True)
    overrides.write_text(f"- key={ATTACKS[0]}\n", encoding="utf-8")


def _poisoned(value: Any, attacks: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {
            (f"{key}{next(attacks)}" if name in ("config", "failure_types", "prompts", "settings") else key): (
                _poisoned(below, attacks, key)
            )
            for key, below in value.items()
        }
    if isinstance(value, list):
        return [_poisoned(below, attacks, name) for below in value]
    if not isinstance(value, str) or name in _OURS or not value:
        return value
    # The same item keeps its id in all files, or nothing would belong together.
    return f"{value}{ATTACKS[hash_of(value)]}" if name in ("id", "members", "support") else f"{value} {next(attacks)}"


def hash_of(text: str) -> int:
    return sum(text.encode()) % len(ATTACKS)
