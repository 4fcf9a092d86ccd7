"""The metric that a bisection follows, of one load: LOAD.METRIC."""

from dataclasses import dataclass

from wblab.analysis.runs.extents import LAYOUT_METRICS, layout_metrics
from wblab.analysis.runs.metrics import METRICS, UNPLUG, load_metrics
from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError, WblabError, nearest
from wblab.core.loads import Load
from wblab.core.spec import Spec


@dataclass(frozen=True)
class Metric:
    """A metric (wblab.analysis.runs.metrics) of a load."""

    load: str
    name: str

    def __str__(self) -> str:
        return f"{self.load}.{self.name}"

    def of(self, run: Run) -> float:
        """Return a run's value in the metric's unit. Raises WblabError if the run has none."""
        try:
            return (load_metrics(run.load(self.load)) | layout_metrics(run.files.get(self.load, {})))[self.name]
        except (InputError, KeyError):
            raise WblabError(f"the run {run.path} has no {self}: the load ended before it could be measured") from None


def named_metric(text: str, spec: Spec) -> Metric:
    """Return the metric LOAD.METRIC. Raises InputError if runs of the spec do not have it."""
    load, _, name = text.rpartition(".")
    if not load:
        raise InputError(f"--metric: {text!r} is not LOAD.METRIC: write for example mw1.longest_pause_s")
    if load not in spec.load:
        known = list(spec.load)
        raise InputError(f"--metric: {spec.name} has no load {load!r}{nearest(load, known)}: it has {', '.join(known)}")
    known = [metric for metric in METRICS if _has(spec.load[load], metric)]
    if name not in known:
        raise InputError(
            f"--metric: {load} has no metric {name!r}{nearest(name, known)}: choose one of {', '.join(known)}"
        )
    return Metric(load, name)


def _has(load: Load, metric: str) -> bool:
    if metric == UNPLUG:
        return False  # known only after a run
    if metric in LAYOUT_METRICS:
        return load.maps_files
    if metric == "throughput_bps":
        return load.role == "offender"
    return metric != "cycle_rate_hz" or load.waits_for_disk
