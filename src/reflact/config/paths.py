"""Where the configuration files are: inside an installed package, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

from reflact.core.errors import ConfigError


def conf_dir() -> Path:
    """Return the folder `conf`.

    Raises:
        ConfigError: The installation is incomplete.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "conf", package.parent.parent / "conf"):
        if (folder / "config.yaml").is_file():
            return folder
    raise ConfigError(
        f"The configuration files that belong to reflact are missing (looked beside {package}). Install it again."
    )
