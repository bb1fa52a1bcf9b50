"""Which of Hydra's lines about a sweep a person is shown."""

from __future__ import annotations

import logging

_INSIDES = "Joblib.Parallel("


class WithoutInsides(logging.Filter):
    """Leaves out how the joblib launcher calls joblib; how many runs are at work at once is said before."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is shown."""
        return not record.getMessage().startswith(_INSIDES)
