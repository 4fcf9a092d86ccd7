"""Measure commits: build each one's kernel in a work tree, and make runs with it, several at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from wblab.analysis.runs.fileextents import LAYOUT_METRICS, layout_metrics
from wblab.analysis.runs.metrics import METRICS, UNPLUG, load_metrics
from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError, WblabError, nearest
from wblab.core.loads import Load
from wblab.core.spec import Spec
from wblab.host.request import suited
from wblab.kernels import Kernel
from wblab.lab.progress import Report
from wblab.study.cells import Cell, run_name
from wblab.study.designs.bisect.bisection import short
from wblab.study.following import Failed, JobDone, Workers
from wblab.study.run import Runner
from wblab.study.store import Store
from wblab.study.work import Order, WorkResult

# The metric that a bisection follows, of one load: LOAD.METRIC.


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


COMMIT = "commit"  # the axis


@dataclass
class Measurements:
    """Kernels built with `build`, and runs of `spec` made by `workers`; each commit is a cell of the study."""

    build: Callable[[str, Report], Kernel]
    spec: Spec
    metric: Metric
    store: Store
    workers: Workers
    kernels: dict[str, Kernel] = field(default_factory=dict)
    found: dict[tuple[str, int], float] = field(default_factory=dict)

    def executable(self, commit: str, report: Report) -> str:
        """Return the SHA-256 of a commit's kernel; build it if necessary. Raises WblabError."""
        if commit not in self.kernels:
            self.kernels[commit] = self.build(commit, report)
        return sha256(self.kernels[commit].path.read_bytes()).hexdigest()

    def values(self, commit: str, seeds: int, report: Report) -> list[float]:
        """Return the metric of the runs with the seeds 1 to `seeds`, in that order. Raises WblabError."""
        cell, wanted = self._cell(commit), range(1, seeds + 1)
        names = {seed: run_name(cell, seed) for seed in wanted if (commit, seed) not in self.found}
        if names:
            by_name = {str(kernel.path): kernel for kernel in self.kernels.values()}
            tally = Runner(self.store, _WithKernels(self.workers, by_name), report, set(names.values())).run()
            if tally.failures:
                attempt, reason = tally.failures[0]
                raise WblabError(f"seed {attempt.seed}: {reason}")
        for seed, name in names.items():
            self.found[commit, seed] = self.metric.of(read_run(self.store.runs / name))
        return [self.found[commit, seed] for seed in wanted]

    def _cell(self, commit: str) -> Cell:
        """Return the cell of a commit; add it to the study if it is new. Raises WblabError.

        The cell names the kernel by its path, so a run can be repeated from its record.
        """
        kernel, name = self.kernels[commit], short(commit)
        executable = replace(self.spec.kernel, name=str(kernel.path), config={})  # it is built with them
        spec = suited(replace(self.spec, name=name, kernel=executable), kernel).spec
        cell = next((cell for cell in self.store.plan.cells if cell.name == name), None)
        if cell is None:
            cell = Cell(name, {COMMIT: name}, spec)
            self.store.add([cell], {str(kernel.path): kernel.describe()})
        return cell


@dataclass(frozen=True)
class _WithKernels:
    """Workers that get the kernel with each order: they were forked before the kernel was built."""

    workers: Workers
    kernels: dict[str, Kernel]

    def give(self, key: str, order: Order, *, soon: bool = False) -> None:
        self.workers.give(key, replace(order, kernel=self.kernels[order.unpacked().kernel.build]), soon=soon)

    def slots(self) -> int:
        return self.workers.slots()

    def ended(self, timeout_s: float) -> Sequence[tuple[str, WorkResult | JobDone | Failed]]:
        return self.workers.ended(timeout_s)

    def cancel(self) -> None:
        self.workers.cancel()
