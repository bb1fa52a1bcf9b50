"""What users get wrong: one message each, that names the thing, its value and what to do, and the right exit code."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import reflact
from reflact.cli import evaluate, main, train
from reflact.core.errors import Stopped
from tests.cli.commands import run, tree

RUN = {"reflact-train": train.main, "reflact-eval": evaluate.main, "reflact": main.main}
SIMULATED = "harness=rehearsal"
CALLS_A_MODEL = "benchmark=searchqa env.sample=true"


@dataclass(frozen=True)
class Case:
    """A command line, how it ends, and what its message holds."""

    line: str
    code: int
    said: tuple[str, ...]

    def __str__(self) -> str:
        return self.line


EARLY = [
    # options of groups
    Case("reflact-train benchmark=docvq", 2, ("benchmark=docvq", "did you mean docvqa", "It takes one of")),
    Case("reflact-train harness=codex", 2, ("harness=codex", "codex_exec")),
    Case("reflact-train ablation/lr=8", 2, ("ablation/lr=8", "ablation/lr=lr8")),
    Case("reflact-train -m +sweep=papers", 2, ("sweep=papers", "did you mean paper")),
    Case("reflact-train --config-dir nowhere", 2, ("--config-dir nowhere", "not a folder")),
    # keys
    Case("reflact-train optimizer.learning_rte=8", 2, ("optimizer.learning_rte=8", "did you mean", "`reflact keys`")),
    Case("reflact-train learning_rate=8", 2, ("learning_rate", "did you mean optimizer.learning_rate")),
    Case("reflact keys nonsense", 2, ("nonsense", "`reflact keys` lists all")),
    Case("reflact-train --learning_rate=8", 2, ("--learning_rate", "without dashes", "--help")),
    # values
    Case("reflact-train optimizer.learning_rate=eight", 2, ("optimizer.learning_rate=eight", "a whole number")),
    Case("reflact-train train.num_epochs=0", 2, ("train.num_epochs=0", "at least 1")),
    Case("reflact-train optimizer.lr_scheduler=cosin", 2, ("cosin", "did you mean cosine", "constant, linear, cosine")),
    Case("reflact-train train.batch_size=half", 2, ("train.batch_size=half", "`full`")),
    Case("reflact-eval split=dev", 2, ("split=dev", "train, val, test")),
    Case("reflact-train env.use_gate=perhaps", 2, ("env.use_gate", "evaluation.use_gate")),
    # keys that do not go together
    Case(
        "reflact-train optimizer.learning_rate=2 optimizer.min_learning_rate=9",
        2,
        ("optimizer.min_learning_rate=9", "optimizer.learning_rate=2", "at most 2"),
    ),
    Case(
        "reflact-train model.student_base_url=http://127.0.0.1:9/v1 model.student_azure_openai_endpoint=https://n.azure.com",
        2,
        ("model.student_base_url", "model.student_azure_openai_endpoint", "empty one of them"),
    ),
    Case(
        "reflact-train model.student_base_url=localhost:8000", 2, ("model.student_base_url=localhost:8000", "http://")
    ),
    # places
    Case("reflact status nowhere", 2, ("nowhere is not a directory", "takes run directories")),
    Case("reflact tables nowhere --out t", 2, ("nowhere is not a directory",)),
    Case("reflact tables runs", 2, ("--out DIR",)),
    Case("reflact tables runs --explain finishe", 2, ("finishe", "did you mean finished")),
    Case("reflact diff runs/finished nowhere", 2, ("nowhere is no directory", "reflact status")),
    Case("reflact diff runs runs/finished", 2, ("runs is no run directory", "runs/finished")),
    Case("reflact export nowhere", 2, ("nowhere is no directory", "reflact status")),
    Case("reflact export runs/stopped", 73, ("runs/stopped was refused", "stopped", "run.resume=true")),
    Case("reflact export runs/finished --format zip", 2, ("--format zip", "agent-skill")),
    Case("reflact export runs/finished --name My_Skill", 2, ("My_Skill", "lower-case letters, digits")),
    Case("reflact archive nowhere", 73, ("nowhere", "no such directory", "nothing was archived")),
    Case("reflact prompts show --run nowhere", 2, ("nowhere is no training run", "config.json")),
    # data
    Case("reflact data check docvq", 2, ("docvq", "did you mean docvqa")),
    Case("reflact splits make searchq --source x", 2, ("searchq", "did you mean searchqa")),
    Case("reflact splits make searchqa --source nowhere.json", 2, ("nowhere.json", "no such file")),
    Case("reflact splits verify nowhere", 2, ("nowhere is no folder", "reflact splits make")),
    # what the parser of options says itself
    Case("reflact statsu", 2, ("statsu", "status", "reflact --help")),
    Case("reflact status --interval 0", 2, ("--interval", "0.2")),
    Case("reflact diff runs/finished", 2, ("RUN_B", "reflact diff --help")),
    Case("reflact azure-token --auth key", 2, ("--auth key", "azure_cli, managed_identity")),
]
LATE = [
    Case(
        f"reflact-train {SIMULATED} benchmark=searchqa",
        2,
        ("no split folder data/searchqa/splits/2-1-7", "reflact splits make", "env.split_dir", "env.sample=true"),
    ),
    Case(f"reflact-train {SIMULATED} env.skill_init=none.md", 2, ("'none.md'", "`default`", "`none`")),
    Case(f"reflact-eval {SIMULATED} skill=none.md", 2, ("'none.md'", "`default`", "`none`")),
    Case(f"reflact-train {SIMULATED} train.train_size=99", 2, ("train.train_size=99", "16 items", "use 0")),
    Case(
        f"reflact-train {SIMULATED} evaluation.gate_rule=paired evaluation.sel_env_num=3",
        2,
        ("gate_rule=paired", "gate_alpha=0.05", "3 selection items", "evaluation.gate_rule=strict"),
    ),
    Case(f"reflact-train {CALLS_A_MODEL}", 69, ("OPENAI_API_KEY", "model.student_base_url", "harness=rehearsal")),
    Case(
        f"reflact-train {CALLS_A_MODEL} model.student_azure_openai_endpoint=https://n.azure.com "
        "model.student_azure_openai_auth_mode=api_key model.teacher_backend=rehearsal",
        69,
        ("AZURE_OPENAI_API_KEY",),
    ),
    Case(
        f"reflact-train {SIMULATED} env.out_root=runs/finished",
        73,
        ("runs/finished was refused", "a finished run", "env.out_root=", "run.resume=true", "reflact archive"),
    ),
    Case(f"reflact-train {SIMULATED} env.out_root=runs/stopped", 73, ("runs/stopped was refused", "unfinished run")),
    Case(f"reflact-train {SIMULATED} env.out_root=notes", 73, ("notes was refused", "readme.txt", "not a run")),
    Case(f"reflact-train {SIMULATED} env.out_root=notes run.resume=true", 73, ("notes was refused", "readme.txt")),
    Case(
        f"reflact-train {SIMULATED} env.out_root=runs/stopped run.resume=true optimizer.learning_rate=8",
        73,
        ("runs/stopped", "optimizer.learning_rate: 4 -> 8", "another directory"),
    ),
    Case(
        f"reflact-train {CALLS_A_MODEL} model.student=mine model.student_base_url=http://127.0.0.1:9/v1 "
        "model.teacher_backend=rehearsal budget.max_usd=1",
        2,
        ("budget.max_usd", "mine", "pricing.models", "budget.max_tokens"),
    ),
    Case(f"reflact-train -m {SIMULATED} train.seed=1,2 env.out_root=x", 2, ("env.out_root", "hydra.sweep.dir")),
    Case(
        "reflact-train -m +sweep=tables benchmark=searchqa sweep.dry_run=true sweep.only=[LR-searchqa-3]",
        2,
        ("LR-searchqa-3",),
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, a stopped one, and a folder of something else."""
    folder = tmp_path_factory.mktemp("errors")
    common = [SIMULATED, "train.num_epochs=1"]
    reflact.train(reflact.compose([*common, f"env.out_root={folder}/runs/finished"]))
    with pytest.raises(Stopped):
        reflact.train(reflact.compose([SIMULATED, f"env.out_root={folder}/runs/stopped", "budget.max_tokens=9000"]))
    (folder / "notes").mkdir()
    (folder / "notes/readme.txt").write_text("mine", encoding="utf-8")
    return folder


@pytest.fixture
def own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Commands set up their process; that of the tests stays as it was."""
    monkeypatch.setattr("logging.raiseExceptions", True)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def as_expected(case: Case, code: int, out: str, err: str) -> None:
    assert code == case.code, err
    assert all(part in err for part in case.said), err
    assert "Traceback" not in err and "Error executing job" not in err
    assert out == "" or case.line.startswith("reflact-train -m")


@pytest.mark.parametrize("case", EARLY, ids=str)
@pytest.mark.usefixtures("own_process")
def test_what_is_seen_before_anything_begins(
    case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(folder)
    program, *words = case.line.split()
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", [program, *words])
    with pytest.raises(SystemExit) as ended:
        RUN[program]()
    code = ended.value.code
    as_expected(case, code if isinstance(code, int) else -1, *capsys.readouterr())
    assert tree(folder) == before


@pytest.mark.parametrize("case", LATE, ids=str)
def test_what_is_seen_when_a_run_starts(case: Case, folder: Path) -> None:
    before = {name: what for name, what in tree(folder).items() if name.startswith(("runs", "notes"))}
    program, *words = case.line.split()
    hidden = {name: "" for name in os.environ if name.startswith(("OPENAI_", "AZURE_"))}
    result = run(folder, program, *words, env=hidden)
    as_expected(case, result.code, result.out, result.err)
    assert {name: what for name, what in tree(folder).items() if name.startswith(("runs", "notes"))} == before
