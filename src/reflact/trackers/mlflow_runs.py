"""MLflow: one of its runs a run, in a database or on a server. Needs the extra `mlflow`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reflact.trackers.protocol import Begin, End, remember, remembered

_LONGEST = 6000  # characters of a parameter's value
_MOST = 100  # parameters in one request
_STATES = {"done": "FINISHED", "stopped": "KILLED"}


class MLflow:
    """Writes with the client alone: nothing of MLflow's global state is used."""

    def begin(self, begin: Begin) -> None:
        """Make a run, or go on with the one that an earlier process made."""
        from mlflow.entities import Param
        from mlflow.tracking import MlflowClient

        folder = Path(begin.folder)
        folder.mkdir(parents=True, exist_ok=True)
        uri = str(begin.settings["mlflow_uri"])
        self._client: Any = MlflowClient(tracking_uri=uri or f"sqlite:///{folder / 'mlflow.db'}")
        self._run = remembered(begin, "mlflow_run")
        if self._run:
            self._client.update_run(self._run, status="RUNNING")
            return
        # A server knows where artifacts go; beside a database of ours they lie in the same folder.
        place = None if uri else (folder / "mlflow-artifacts").as_uri()
        made = self._client.create_run(self._experiment(begin.project, place), run_name=begin.run_id)
        self._run = str(made.info.run_id)
        remember(begin, "mlflow_run", self._run)
        for name, value in begin.tags.items():
            self._client.set_tag(self._run, f"reflact.{name}", value)
        params = [Param(name, str(value)[:_LONGEST]) for name, value in begin.params.items()]
        for first in range(0, len(params), _MOST):
            self._client.log_batch(self._run, params=params[first : first + _MOST])

    def metrics(self, values: Mapping[str, float], step: int, at: float) -> None:
        """Log numbers."""
        from mlflow.entities import Metric

        points = [Metric(name, value, int(at * 1000), step) for name, value in values.items()]
        self._client.log_batch(self._run, metrics=points)

    def end(self, end: End) -> None:
        """Close the run."""
        for name, value in end.summary.items():
            self._client.log_metric(self._run, name, value)
        for file in end.files:
            self._client.log_artifact(self._run, file)
        if end.cause:
            self._client.set_tag(self._run, "reflact.ended", end.cause)
        self._client.set_terminated(self._run, _STATES.get(end.state, "FAILED"))

    def _experiment(self, name: str, place: str | None) -> str:
        from mlflow.exceptions import MlflowException

        found = self._client.get_experiment_by_name(name)
        if found is None:
            try:
                return str(self._client.create_experiment(name, artifact_location=place))
            except MlflowException:  # another run made it at the same moment
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        return str(found.experiment_id)
