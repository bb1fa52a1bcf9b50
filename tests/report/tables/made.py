"""Run directories made by hand: as real as the tables look at them, in milliseconds."""

from __future__ import annotations

import copy
import json
from pathlib import Path

from reflact.engine.stats import bootstrap_mean, mcnemar, wilson

LIMITS = {"max_empty_rate": 0.02, "max_timeout_rate": 0.05, "max_refused_rate": 0.02, "ignore": []}
IDENTITY = {
    "benchmark.name": "docvqa", "model.student": "gpt-5.5", "model.teacher": "gpt-5.5", "train.num_epochs": 4,
    "train.batch_size": 40, "train.seed": 42, "gradient.minibatch_size": 8, "optimizer.learning_rate": 4,
    "optimizer.min_learning_rate": 2, "optimizer.lr_scheduler": "cosine", "optimizer.lr_control_mode": "fixed",
    "optimizer.skill_update_mode": "patch", "optimizer.use_slow_update": True, "optimizer.use_meta_skill": True,
    "optimizer.slow_update_samples": 20, "optimizer.longitudinal_pair_policy": "mixed",
    "env.split_dir": {"sha256": "split"}, "env.skill_init": {"sha256": "skill"}, "env.sandbox": "auto",
}  # fmt: skip
LR8 = {"optimizer.learning_rate": 8, "optimizer.lr_scheduler": "constant", "optimizer.min_learning_rate": 1}
BEFORE = (1, 0, 0, 1, 0, 0, 1, 0, 0, 0)
BETTER = (1, 1, 1, 1, 1, 1, 1, 1, 0, 1)


class Made:
    """A run directory; change `summary` and `record`, then `write`."""

    def __init__(
        self,
        root: Path,
        run_id: str = "DEFAULT-docvqa-5.5",
        *,
        sets: dict | None = None,
        best=BETTER,
        before=BEFORE,
        benchmark: str = "docvqa",
        seed: int = 42,
        folder: str = "",
    ) -> None:
        self.path = root / (folder or run_id)
        self.before, self.best = list(before), list(best)
        self.events: list[dict] = [{"t": 1.0, "kind": "run_started"}]
        identity = copy.deepcopy({**IDENTITY, "benchmark.name": benchmark, "train.seed": seed, **(sets or {})})
        default = {**IDENTITY, "benchmark.name": benchmark}
        n = len(self.best)
        self.record = {
            "run_id": run_id, "benchmark": benchmark, "benchmark_version": "1", "harness": "openai_chat",
            "student": "gpt-5.5", "teacher": "gpt-5.5", "simulated": False,
            "models": {"student": {"model": identity["model.student"], "settings": {}},
                       "teacher": {"model": identity["model.teacher"], "settings": {}}},
            "config_diff": {key: [default.get(key), value] for key, value in identity.items()
                            if default.get(key) != value},
            "identity": identity,
            "config": {"train": {"seed": seed}, "validity": copy.deepcopy(LIMITS),
                       "env": {"split": "2-1-7", "sandbox": "auto", "gold_feedback": "none"},
                       "pricing": {"models": {}}},
            "split": {"fingerprint": "split", "counts": {"train": 20, "val": 5, "test": n}, "sample": False},
            "skill_init": {"sha256": "skill"}, "prompts": {"merge": "a"}, "code_version": "1+a",
        }  # fmt: skip
        rows = {"ok": n, "timeout": 0, "empty": 0, "refused": 0, "error": 0}
        delta = [b - a for a, b in zip(self.before, self.best, strict=True)]
        self.summary = {
            **{key: self.record[key] for key in ("run_id", "benchmark", "harness", "student", "teacher", "simulated")},
            "status": "completed", "config_hash": f"{run_id}-{seed}-{sets}", "code_version": "1+a",
            "started_at": folder or run_id, "finished_at": "b", "wall_time_s": 3600.0,
            "split": {"name": "2-1-7", "fingerprint": "split", "train": 20, "selection": 5, "test": n},
            "baseline": {"selection": score([1, 0, 0, 1, 0]), "test": score(self.before)},
            "best": {"step": 1, "origin": "step_0001", "skill_sha256": "c" * 64, "skill_tokens": 9,
                     "selection": score([1, 1, 0, 1, 1]), "test": score(self.best)},
            "delta_test": sum(delta) / n,
            "confidence": {"delta_test": bootstrap_mean(delta, draws=200).to_json(), "n": n,
                           "mcnemar_p": mcnemar(self.before, self.best)},
            "steps": {"total": 16, "accepted": 3, "rejected": 13, "skipped": {}},
            "rows": {"test": rows}, "usage_reused": None, "tokens_total": 1000, "cost_usd": 1.5,
            "sample": False, "validity": {"valid": True, "reasons": []},
        }  # fmt: skip

    def write(self, *, complete: bool = True) -> Path:
        (self.path / "claims").mkdir(parents=True)
        (self.path / "claims" / "0001.released").write_text("")
        (self.path / "config.json").write_text(json.dumps(self.record))
        (self.path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in self.events))
        evaluated = self.summary.get("kind") == "evaluation"
        folders = {"evaluation": self.best} if evaluated else {"baseline/test": self.before, "test/best": self.best}
        for name, scores in folders.items():
            write_rows(self.path / name, scores)
        if complete:
            (self.path / "summary.json").write_text(json.dumps(self.summary))
        return self.path

    def evaluation(self, skill: str = "none") -> Made:
        """Make it the evaluation of one skill on test."""
        for name in ("baseline", "best", "delta_test", "confidence", "steps", "teacher"):
            del self.summary[name]
        self.summary |= {
            "kind": "evaluation", "scores": score(self.best), "skill": {"name": skill, "skill_sha256": "e",
            "skill_chars": 0}, "split": {"name": "2-1-7", "fingerprint": "split", "part": "test"},
        }  # fmt: skip
        return self


def score(values) -> dict:
    n = len(values)
    interval = wilson(sum(values), n)
    mean = sum(values) / n
    return {"hard": mean, "soft": mean, "n": n, "scored": n, "ci95": interval.to_json()}


def write_rows(folder: Path, scores) -> None:
    folder.mkdir(parents=True)
    lines = [
        {"key": "k", "id": f"i{place}", "repeat": 0, "status": "error" if value is None else "ok", "hard": value}
        for place, value in enumerate(scores)
    ]
    (folder / "results.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def point(run_id: str, state: str = "run", same_as: str | None = None, why: str = "", benchmark="docvqa") -> dict:
    return {"run_id": run_id, "benchmark": benchmark, "group": run_id.split("-")[0], "state": state,
            "same_as": same_as, "why": why, "out_dir": run_id}  # fmt: skip


def write_plan(root: Path, *points: dict) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "plan.json").write_text(json.dumps({"plan": "test", "identity": {}, "points": list(points)}))
