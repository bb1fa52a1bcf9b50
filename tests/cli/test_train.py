"""`reflact-train`, as it is typed."""

from __future__ import annotations

import json
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.commands import C_LOCALE, line, run, tree

QUICK = ("harness=rehearsal", "train.num_epochs=1", "evaluation.eval_test=false", "display.mode=off")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one finished run in `out/李明`, made under a locale without UTF-8."""
    folder = tmp_path_factory.mktemp("finished")
    result = run(folder, "reflact-train", *QUICK, "env.out_root=out/李明", "display.mode=plain", env=C_LOCALE)
    assert result.code == 0, result.err
    return folder


def test_a_run_goes_to_its_directory_and_nowhere_else(finished: Path) -> None:
    root = finished / "out" / "李明"
    assert [path.name for path in finished.iterdir()] == ["out"]
    assert json.loads((root / "summary.json").read_text(encoding="utf-8"))["status"] == "completed"
    assert {path.name for path in (root / ".hydra").iterdir()} == {"config.yaml", "hydra.yaml", "overrides.yaml"}
    assert "李明" in (root / ".hydra" / "overrides.yaml").read_text(encoding="utf-8")


def test_a_used_directory_is_refused_and_not_touched(finished: Path) -> None:
    before = tree(finished)
    result = run(finished, "reflact-train", *QUICK, "env.out_root=out/李明", env=C_LOCALE)
    assert (result.code, result.out) == (73, "")
    assert all(words in result.err for words in ("out/李明", "finished", "env.out_root", "resume", "reflact archive"))
    assert "Traceback" not in result.err and result.err.count("\n") == 1
    assert tree(finished) == before


def test_a_foreign_directory_is_refused_also_for_a_resume(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    before = tree(tmp_path)
    for more in ([], ["run.resume=true"]):
        assert run(tmp_path, "reflact-train", *QUICK, "env.out_root=mine", *more).code == 73
    assert tree(tmp_path) == before


def test_a_place_that_can_hold_no_directory_is_refused_by_every_command(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "loop").symlink_to("loop")
    before = tree(tmp_path / "file")
    for place in ("file", "file/below", "loop", "n" * 300):
        for result in (
            run(tmp_path, "reflact-train", *QUICK, f"env.out_root={place}"),
            run(tmp_path, "reflact", "archive", place),
        ):
            assert result.code == 73, result.err
            assert place in result.err and "Traceback" not in result.err and result.err.count("\n") == 1
    assert run(tmp_path, "reflact", "doctor", *QUICK, "env.out_root=file").code == 73
    assert tree(tmp_path / "file") == before


@pytest.mark.parametrize("reader", ["gone", "full"])
def test_a_result_that_nobody_can_read_from_stdout_makes_no_failure_of_the_run(tmp_path: Path, reader: str) -> None:
    command = line("reflact-train", *QUICK, "env.out_root=out", "display.mode=plain")
    if reader == "full":
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=120)
    else:
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(command, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, timeout=120)
        os.close(writing)
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert (tmp_path / "out" / "summary.json").exists()


def test_a_resume_with_another_configuration_is_refused_with_the_difference(finished: Path) -> None:
    before = tree(finished)
    changed = ("env.out_root=out/李明", "run.resume=true", "optimizer.learning_rate=8")
    result = run(finished, "reflact-train", *QUICK, *changed)
    assert result.code == 73, result.err
    assert all(word in result.err for word in ("optimizer.learning_rate", "4", "8"))
    assert tree(finished) == before


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("optimizer.learning_rte=8", "did you mean optimizer.learning_rate"),
        ("--benchmark=searchqa", "written without dashes, as KEY=VALUE: benchmark=..."),
        ("optimizer.lr_scheduler=cosin", "did you mean cosine"),
        ("optimizer.min_learning_rate=9", "above optimizer.learning_rate"),
        ("env.data_root=a=b", "'env.data_root="),
        ("optimizer.learning_rate=2,4", "--multirun"),
        ("env.skill_init=nowhere.md", "nowhere.md"),
    ],
)
def test_what_cannot_run_ends_with_2_and_leaves_nothing(tmp_path: Path, wrong: str, said: str) -> None:
    result = run(tmp_path, "reflact-train", *QUICK, "env.out_root=out", wrong)
    assert result.code == 2
    assert said in result.err and "Traceback" not in result.err and result.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flags", [["--cfg", "job"], ["--info", "defaults"], ["--help"], ["--hydra-help"]])
def test_looking_writes_nothing(tmp_path: Path, flags: list[str]) -> None:
    result = run(tmp_path, "reflact-train", *flags)
    assert result.code == 0, result.err
    assert result.out and list(tmp_path.iterdir()) == []


def test_the_configuration_is_shown_in_utf8_whatever_the_locale(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-train", "env.data_root=数据", "--cfg", "job", env=C_LOCALE)
    assert "data_root: 数据" in result.out


def test_a_folder_of_ones_own_is_searched(tmp_path: Path) -> None:
    (tmp_path / "conf" / "benchmark").mkdir(parents=True)
    text = "# @package _global_\nbenchmark: {name: orders}\ntrain: {batch_size: 5}\n"
    (tmp_path / "conf" / "benchmark" / "mine.yaml").write_text(text, encoding="utf-8")
    result = run(tmp_path, "reflact-train", "--config-dir", "conf", "benchmark=mine", "--cfg", "job")
    assert "batch_size: 5" in result.out


def test_tab_completion_knows_the_options(tmp_path: Path) -> None:
    typed = "reflact-train benchmark="
    env = {"COMP_LINE": typed, "COMP_POINT": str(len(typed))}
    result = run(tmp_path, "reflact-train", "--shell-completion", "query=bash", env=env)
    assert "benchmark=docvqa" in result.out


def test_a_stopped_run_says_how_to_go_on_and_does(tmp_path: Path) -> None:
    root = tmp_path / "a b" / "run"
    arguments = (*QUICK, "rehearsal.latency_s=0.5", f"env.out_root='{root.relative_to(tmp_path)}'", "env.workers=2")
    with subprocess.Popen(line("reflact-train", *arguments), cwd=tmp_path, stderr=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not any(root.glob("baseline/*/results.jsonl")):
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 75
    text = err.decode("utf-8")
    assert "Traceback" not in text
    command = shlex.split(text.strip().splitlines()[-1].removeprefix("To go on: "))
    assert command[0] == "reflact-train" and "run.resume=true" in command
    first = (root / ".hydra" / "overrides.yaml").read_bytes()
    # The second line is for whoever edits the code while the tests run.
    more = ("env.workers=16", "run.allow_code_change=true")
    result = run(tmp_path, "reflact-train", *command[1:], *more)
    assert result.code == 0, result.err
    assert (root / "summary.json").exists()
    assert (root / ".hydra" / "overrides.yaml").read_bytes() == first


def test_a_spent_budget_is_to_be_raised_before_the_command_goes_on(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-train", *QUICK, "env.out_root=out", "budget.max_tokens=1000")
    last = result.err.strip().splitlines()[-1]
    assert result.code == 75 and last.startswith("To go on, with a higher budget in it: reflact-train ")
    command = shlex.split(last.partition("in it: ")[2])
    more = [word.replace("max_tokens=1000", "max_tokens=1000000") for word in command[1:]]
    again = run(tmp_path, "reflact-train", *more, "run.allow_code_change=true")
    assert again.code == 0, again.err


def wait_for_rows(process: subprocess.Popen[bytes], root: Path) -> None:
    deadline = time.monotonic() + 60
    while not any(root.glob("baseline/*/results.jsonl")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_under_nohup_outlives_its_terminal(tmp_path: Path) -> None:
    nohup = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    slow = line("reflact-train", *QUICK, "rehearsal.latency_s=0.1", "env.out_root=run")
    with subprocess.Popen([sys.executable, "-c", nohup, *slow], cwd=tmp_path, stderr=subprocess.PIPE) as process:
        wait_for_rows(process, tmp_path / "run")
        process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert (tmp_path / "run" / "summary.json").exists()


def test_an_impatient_user_gets_the_same_exit_code(tmp_path: Path) -> None:
    slow = line("reflact-train", *QUICK, "rehearsal.latency_s=0.5", "env.out_root=run", "env.workers=2")
    with subprocess.Popen(slow, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        wait_for_rows(process, tmp_path / "run")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.005)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 75, err
    assert b"Traceback" not in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_before_the_run_has_begun_ends_with_75_too(tmp_path: Path, number: signal.Signals) -> None:
    # Whoever runs the tests may ignore these signals, as background jobs do; here a user at a terminal is meant.
    early = f"""
import os, signal, time
for number in (signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
from reflact.cli import errors
errors.guarded("reflact-train", lambda: (os.kill(os.getpid(), {int(number)}), time.sleep(50)))
"""
    done = subprocess.run([sys.executable, "-c", early], capture_output=True, timeout=60, check=False)
    assert done.returncode == 75 and b"Traceback" not in done.stderr


def test_a_run_without_a_name_gets_a_directory_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        assert run(tmp_path, "reflact-train", *QUICK).code == 0
    assert len(list((tmp_path / "outputs").glob("orders-rehearsal/*/summary.json"))) == 2
    assert os.listdir(tmp_path) == ["outputs"]  # noqa: PTH208 - hidden files too


def limited(size: int) -> Callable[[], None]:
    """Return what lets a child write no file longer than `size`, as on a disk that is full."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.skipif(sys.platform != "linux", reason="limits of a child process")
@pytest.mark.parametrize("size", [100, 1000, 20_000])
def test_a_full_disk_stops_a_run_at_any_moment_and_lets_it_go_on(tmp_path: Path, size: int) -> None:
    """100: not even the claim; 1000: the record of the composition; 20,000: in the middle of the run."""
    command = line("reflact-train", *QUICK, "env.out_root=run")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, preexec_fn=limited(size))
    assert done.returncode == 75, done.stderr
    assert "Traceback" not in done.stderr and "File too large" in done.stderr
    again = ["run.resume=true"] if "run.resume=true" in done.stderr else []
    assert again or "the same command" in done.stderr
    assert run(tmp_path, "reflact-train", *QUICK, "env.out_root=run", *again).code == 0
    assert (tmp_path / "run" / ".hydra" / "overrides.yaml").exists()


def test_a_finished_run_that_cannot_be_written_is_shown_and_left_as_it_is(finished: Path) -> None:
    before = tree(finished)
    command = line("reflact-train", *QUICK, "env.out_root=out/李明", "run.resume=true", "display.mode=plain")
    done = subprocess.run(command, cwd=finished, capture_output=True, timeout=120, preexec_fn=limited(10))
    assert done.returncode == 0, done.stderr.decode()
    assert b"Traceback" not in done.stderr and b"best" in done.stdout
    assert tree(finished).keys() == before.keys()


@pytest.mark.parametrize("name", ["/dev/zero", "pipe", ".", "long.md", "bytes.md"])
def test_a_skill_that_is_no_text_file_is_named_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "long.md").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "bytes.md").write_bytes(b"\xff\xfe")
    result = run(tmp_path, "reflact-train", *QUICK, "env.out_root=run", f"env.skill_init={name}")
    assert result.code == 2 and f"the skill '{name}'" in result.err and result.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_an_interrupt_before_the_claim_says_that_nothing_was_begun(tmp_path: Path) -> None:
    waiting = tmp_path / "items.json"
    os.mkfifo(waiting)  # opening it waits until somebody writes: the run cannot get to its claim
    split = tmp_path / "split"
    for part in ("train", "val", "test"):
        (split / part).mkdir(parents=True)
        (split / part / "items.json").symlink_to(waiting)
    command = line("reflact-train", *QUICK, "benchmark=searchqa", f"env.split_dir={split}", "env.out_root=run")
    with (
        subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, preexec_fn=normal_signals) as process,
        waiting.open("wb"),  # returns when the run opens it
    ):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 75, err
    assert b"nothing was begun" in err and b"Traceback" not in err
    assert not (tmp_path / "run").exists()


def normal_signals() -> None:
    """Let a child take signals as at a terminal, whatever the tests were started with."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize(
    ("given", "said"), [("validity=default", "validity.max_empty_rate"), ("sweep=paper", "--multirun +sweep=paper")]
)
def test_a_group_of_keys_that_is_set_like_a_choice_is_explained(tmp_path: Path, given: str, said: str) -> None:
    result = run(tmp_path, "reflact-train", *QUICK, given)
    assert result.code == 2 and said in result.err
    assert "defaults list" not in result.err


def test_overrides_may_stand_on_both_sides_of_a_flag(tmp_path: Path) -> None:
    result = run(tmp_path, "reflact-train", "harness=rehearsal", "--cfg", "job", "train.num_epochs=3")
    assert result.code == 0 and "num_epochs: 3" in result.out


@pytest.mark.parametrize("name", ["config.json", "history.jsonl"])
def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path, name: str) -> None:
    stopped = run(tmp_path, "reflact-train", "harness=rehearsal", "env.out_root=out", "budget.max_tokens=9000")
    assert stopped.code == 75, stopped.err
    (tmp_path / "out" / name).unlink(missing_ok=True)
    (tmp_path / "out" / name).mkdir()
    result = run(tmp_path, "reflact-train", "harness=rehearsal", "env.out_root=out", "run.resume=true")
    assert result.code == 2 and f"out/{name}: Is a directory" in result.err, result.err
    assert "Traceback" not in result.err
