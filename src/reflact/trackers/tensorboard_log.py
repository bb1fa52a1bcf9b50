"""TensorBoard: event files that `tensorboard --logdir` shows. Needs the extra `tensorboard`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.trackers.protocol import Begin, End


class TensorBoard:
    """One folder a run; a resumed run adds a file to it."""

    def begin(self, begin: Begin) -> None:
        """Open the folder."""
        from tensorboardX import SummaryWriter

        # In a folder that runs share, ids may repeat; a run directory's name is of one run.
        name = "-".join(dict.fromkeys((begin.run_id, Path(begin.tags["directory"]).name)))
        self._writer: Any = SummaryWriter(str(Path(begin.folder) / "tensorboard" / name))
        table = "\n".join(["| key | value |", "|---|---|", *(f"| {k} | {_cell(v)} |" for k, v in begin.params.items())])
        self._writer.add_text("config", table, 0)

    def metrics(self, values: Mapping[str, float], step: int, at: float) -> None:
        """Write numbers."""
        for name, value in values.items():
            self._writer.add_scalar(name, value, step, walltime=at)
        self._writer.flush()

    def end(self, end: End) -> None:
        """Write the result and close."""
        for name, value in end.summary.items():
            self._writer.add_scalar(name, value, 0)
        for file in end.files:
            self._writer.add_text(Path(file).name, "```\n" + Path(file).read_text(encoding="utf-8") + "\n```", 0)
        self._writer.add_text("ended", " ".join(part for part in (end.state, end.cause) if part), 0)
        self._writer.close()


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text.replace("|", "\\|").replace("\n", " ")
