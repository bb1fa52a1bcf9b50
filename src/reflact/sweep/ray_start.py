"""Starting Ray, or joining the one that runs, before the launcher would."""

from __future__ import annotations

import os
from typing import Any

from omegaconf import OmegaConf

_OBJECT_STORE_BYTES = 78_643_200
"""The least that Ray takes. Its store stays empty: runs hand nothing to each other but files."""


def start_ray(launcher: object) -> None:
    """Start Ray if this launcher wants one.

    The launcher finds it running, and does the rest. Its own way to start it has two faults: Ray takes over signals
    when it starts, so that a sweep could not be stopped any more (whoever wants signals must ask for them after this);
    and it gives an option that a cluster which runs already refuses.
    """
    settings = getattr(launcher, "ray_cfg", None)
    if settings is None:
        return
    import ray

    if ray.is_initialized():
        return
    options: Any = OmegaConf.to_container(OmegaConf.create(settings.init), resolve=True)
    if options.get("address") in (None, "local") and "RAY_ADDRESS" not in os.environ:
        options.setdefault("object_store_memory", _OBJECT_STORE_BYTES)
    ray.init(**options)
