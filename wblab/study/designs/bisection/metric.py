"""The figure that a bisection follows: one metric of one load, as LOAD.METRIC."""

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
        """Return the figure of a run, in the metric's unit. Raises WblabError where the run has none."""
        try:
            return (load_metrics(run.load(self.load)) | layout_metrics(run.files.get(self.load, {})))[self.name]
        except (InputError, KeyError):
            raise WblabError(f"the run {run.path} has no {self}: its load did not get that far") from None


def named_metric(text: str, spec: Spec) -> Metric:
    """Return the metric that is called LOAD.METRIC. Raises InputError where the spec's runs will not have it."""
    load, _, name = text.rpartition(".")
    if not load:
        raise InputError(f"--metric: {text!r} is not of the form LOAD.METRIC: write for example mw1.longest_pause_s")
    if load not in spec.load:
        known = list(spec.load)
        raise InputError(f"--metric: {spec.name} has no load {load!r}{nearest(load, known)}: it has {', '.join(known)}")
    known = [metric for metric in METRICS if _has(spec.load[load], metric)]
    if name not in known:
        raise InputError(
            f"--metric: no metric {name!r} of {load}{nearest(name, known)}: it is one of {', '.join(known)}"
        )
    return Metric(load, name)


def _has(load: Load, metric: str) -> bool:
    if metric == UNPLUG:
        return False  # of which offender only a run can tell
    if metric in LAYOUT_METRICS:
        return load.maps_files
    if metric == "throughput_bps":
        return load.role == "offender"
    return metric != "cycle_rate_hz" or load.waits_for_disk
