"""One or two examples of every command, shown at the end of its help and in the reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

EXAMPLES: Mapping[str, Sequence[str]] = {
    "": ("reflact status outputs --watch", "reflact doctor benchmark=searchqa"),
    "status": ("reflact status outputs --watch", "reflact status outputs/study --json"),
    "tables": ("reflact tables outputs/study --out tables", "reflact tables outputs/study --explain LR-docvqa-8"),
    "plot": (
        "reflact plot axes outputs/study --out axes.svg --group LR --group BATCH",
        "reflact plot learning outputs/study --out curves.pdf --benchmark docvqa",
    ),
    "report": ("reflact report outputs/study --out study.html",),
    "diff": (
        "reflact diff outputs/study/LR-docvqa-4 outputs/study/LR-docvqa-8",
        "reflact diff outputs/first outputs/second --json",
    ),
    "keys": ("reflact keys learning_rate", "reflact keys"),
    "doctor": ("reflact doctor benchmark=docvqa optimizer.learning_rate=8", "reflact doctor harness=local --probe 4"),
    "splits": ("reflact splits verify data/searchqa/splits/2-1-7",),
    "splits make": ("reflact splits make searchqa --source train.json --split 4-1-5",),
    "splits verify": ("reflact splits verify data/searchqa/splits/2-1-7 --source train.json",),
    "data": ("reflact data check searchqa",),
    "data check": ("reflact data check docvqa --sample",),
    "data make-games": ("reflact data make-games games",),
    "prompts": ("reflact prompts list",),
    "prompts list": ("reflact prompts list benchmark=searchqa",),
    "prompts show": (
        "reflact prompts show --only analyse_failure",
        "reflact prompts show --run outputs/first --step 3",
    ),
    "local": ("reflact local install",),
    "local install": ("reflact local install",),
    "local check": ("reflact local check",),
    "local serve": ("reflact local serve", "reflact local serve --path model.gguf --port 0"),
    "azure-token": ("reflact azure-token --auth managed_identity",),
    "archive": ("reflact archive outputs/first --reason 'the split was wrong'",),
    "export": (
        "reflact export outputs/first --out skills --name order-forms \\",
        "    --description 'How to write orders as records. Use it for order forms.'",
    ),
}
"""By the command's words after `reflact`."""


def epilog(command: str) -> str | None:
    r"""Return the end of a command's help; `\b` keeps its lines as they are."""
    lines = EXAMPLES.get(command)
    if not lines:
        return None
    return "\b\n" + "\n".join(["Example:" if _one(lines) else "Examples:", *(f"  {line}" for line in lines)])


def _one(lines: Sequence[str]) -> bool:
    return sum(line.startswith("reflact ") for line in lines) == 1
