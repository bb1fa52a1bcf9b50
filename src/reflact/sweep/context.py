"""What Hydra knows of a composition and a command line needs again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from omegaconf import DictConfig

from reflact.config.compose import CONFIG_NAME, Composer
from reflact.config.overrides import command, override

_PLACE = frozenset({"env.out_root", "run.resume"})
_TODAY = frozenset(
    {
        *("hydra.sweep.dir", "hydra.mode", "run.resume"),
        *("sweep.existing", "sweep.only", "sweep.exclude", "sweep.dry_run"),
    }
)


def config_dir(node: DictConfig) -> Path | None:
    """Return the folder of `--config-dir`, if there was one."""
    for source in node.hydra.runtime.config_sources:
        if source.provider == "command-line":
            return Path(source.path)
    return None


def composer(node: DictConfig) -> Composer:
    """Return a composer that finds what the composition of `node` found."""
    return Composer(config_dir(node), node.hydra.job.config_name)


def config_flags(node: DictConfig) -> list[str]:
    """Return the flags with which another command composes from the same files."""
    folder, name = config_dir(node), str(node.hydra.job.config_name)
    flags = [] if folder is None else ["--config-dir", str(folder.absolute())]
    return flags if name == CONFIG_NAME else [*flags, "--config-name", name]


def resume_command(program: str, node: DictConfig, root: Path) -> str:
    """Return the command that continues the run in `root`.

    Args:
        program: `reflact-train` or `reflact-eval`.
        node: The composed configuration, with the node `hydra`.
        root: The run directory.
    """
    kept = [line for line in map(str, node.hydra.overrides.task) if key_of(line) not in _PLACE]
    folder = config_dir(node)
    flags: Sequence[str] = ["--config-dir", str(folder)] if folder else []
    return command(program, [*flags, *kept, override("env.out_root", str(root)), "run.resume=true"])


def sweep_command(program: str, node: DictConfig, arguments: Sequence[str]) -> list[str]:
    """Return the words of a sweep's command line, without those that say where it is and what of it is done today.

    Args:
        program: `reflact-train` or `reflact-eval`.
        node: The sweep's configuration, with the node `hydra`.
        arguments: The overrides with their lists of values.
    """
    own = [str(line) for line in node.hydra.overrides.hydra]
    kept = [line for line in [*arguments, *own] if key_of(line) not in _TODAY]
    return [program, *config_flags(node), "-m", *kept]


def key_of(line: str) -> str:
    """Return the key of an override, without the marks for adding and deleting."""
    return line.partition("=")[0].lstrip("+~")
