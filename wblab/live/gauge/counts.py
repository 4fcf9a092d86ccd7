"""The values of the metrics, by labels: counted in one thread, read whole by others."""

import threading
from collections.abc import Iterable

from wblab.live.gauge.catalogue import METRICS, Metric

Labels = tuple[str, ...]


class Counts:
    """Values by metric and labels. What has no value is not exported; `begin` makes a zero."""

    def __init__(self) -> None:
        self._values: dict[Metric, dict[Labels, int]] = {}
        self.lock = threading.Lock()  # held while values change, so that a reader gets those of one moment

    def begin(self, metric: Metric, *labels: str) -> None:
        """Export a zero, unless there is a value."""
        self._values.setdefault(metric, {}).setdefault(labels, 0)

    def add(self, metric: Metric, value: int, *labels: str) -> None:
        """Count more."""
        rows = self._values.setdefault(metric, {})
        rows[labels] = rows.get(labels, 0) + value

    def put(self, metric: Metric, value: int, *labels: str) -> None:
        """Set a value."""
        self._values.setdefault(metric, {})[labels] = value

    def clear(self, metric: Metric) -> None:
        """Set all values of a metric to zero."""
        rows = self._values.get(metric, {})
        rows.update(dict.fromkeys(rows, 0))

    def keep(self, metrics: Iterable[Metric], labels: Iterable[Labels]) -> None:
        """Forget the values of these metrics with other labels: of a disk that is gone."""
        wanted = set(labels)
        for metric in metrics:
            rows = self._values.get(metric, {})
            for row in rows.keys() - wanted:
                del rows[row]

    def labels(self, metric: Metric) -> set[Labels]:
        """Return the labels of a metric's values."""
        return set(self._values.get(metric, {}))

    def rows(self, metric: Metric) -> dict[Labels, int]:
        """Return a copy of a metric's values, as they are counted."""
        return dict(self._values.get(metric, {}))

    def all(self) -> dict[Metric, dict[Labels, float]]:
        """Return all values of one moment, in the units of their names."""
        with self.lock:
            return {
                metric: {labels: value / metric.divisor for labels, value in self._values[metric].items()}
                for metric in METRICS
                if metric in self._values
            }
