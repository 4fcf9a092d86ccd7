"""A run directory read back: the spec, the record, and the cycles of every load."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wblab.core import rundir
from wblab.core.errors import InputError, WblabError, nearest
from wblab.core.loads import Load
from wblab.core.spec import Spec
from wblab.core.tables import from_table

Times = NDArray[np.int64]


@dataclass(frozen=True)
class LoadCycles:
    """What one load measured. All times are int64 ns of the guest's CLOCK_MONOTONIC; arrays have one item a cycle."""

    name: str
    load: Load
    pid: int
    end: str
    error: str
    boundaries_ns: Times  # of n cycles, n + 1 of them

    @cached_property
    def starts_ns(self) -> Times:
        """When each cycle began."""
        return self.boundaries_ns[:-1]

    @cached_property
    def durations_ns(self) -> Times:
        """How long each cycle took."""
        return np.diff(self.boundaries_ns)

    @cached_property
    def idle_ns(self) -> Times:
        """How long the load meant to sleep in each cycle; an offender only in its first."""
        idle = np.full(len(self.durations_ns), self.load.idle_ns(1), dtype=np.int64)
        idle[:1] = self.load.idle_ns(0)
        return idle

    @cached_property
    def pauses_ns(self) -> Times:
        """How much longer each cycle took than the load meant to sleep; never below 0."""
        return cast(Times, np.maximum(self.durations_ns - self.idle_ns, 0))


@dataclass(frozen=True)
class Run:
    """One run: its directory, its record (experiment.json), its spec and its loads in the spec's order."""

    path: Path
    record: dict[str, Any]
    spec: Spec
    loads: tuple[LoadCycles, ...]

    def load(self, name: str) -> LoadCycles:
        """Return the load of this name. Raises InputError."""
        for load in self.loads:
            if load.name == name:
                return load
        names = [load.name for load in self.loads]
        raise InputError(f"no load {name!r} in {self.path}{nearest(name, names)}: it has {', '.join(names)}")

    @cached_property
    def zero_ns(self) -> int:
        """The zero of the run's time axis: the first boundary of any load."""
        return min(int(load.boundaries_ns[0]) for load in self.loads)

    def offender_starts_ns(self) -> dict[str, int]:
        """Return when each offender began to write, by its name."""
        return {
            item.name: int(item.boundaries_ns[0]) + item.load.idle_ns(0)
            for item in self.loads
            if not item.load.innocent
        }


def find_run(text: str, results: Path) -> Path:
    """Return a run's directory: a path, a name in the results directory, or `latest` there. Raises InputError."""
    if text == "latest":
        finished = [path for path in results.glob("[!_.]*") if (path / rundir.EXPERIMENT).is_file()]
        if not finished:
            raise InputError(f"no finished run in {results}: make one with 'wblab run'")
        return max(finished, key=lambda path: ((path / rundir.EXPERIMENT).stat().st_mtime_ns, path.name))
    for path in (Path(text), results / text):
        if (path / rundir.EXPERIMENT).is_file():
            return path
    known = sorted(path.name for path in results.glob("*") if (path / rundir.EXPERIMENT).is_file())
    raise InputError(f"no run {text!r}{nearest(text, known)}: give a run directory, or 'latest'")


def read_run(path: Path) -> Run:
    """Return the run in a directory, as far as it went. Raises InputError for what is missing or damaged."""
    record = _json(path / rundir.EXPERIMENT)
    try:
        spec = from_table(Spec, record["spec"], exact=True)
    except (KeyError, WblabError) as error:
        raise InputError(f"{path / rundir.EXPERIMENT} has no usable spec: {error}") from None
    present = [name for name in spec.load if (path / f"load.{name}.npy").exists()]
    loads = tuple(_load(path, name, spec.load[name]) for name in present)
    measured = tuple(load for load in loads if len(load.boundaries_ns) > 1)
    if not measured:
        reason = record.get("reason") or record.get("outcome") or "no reason recorded"
        raise InputError(f"the run {path} measured nothing: {reason}")
    return Run(path, record, spec, measured)


def _load(path: Path, name: str, load: Load) -> LoadCycles:
    record = _json(path / f"load.{name}.json")
    file = path / f"load.{name}.npy"
    try:
        boundaries = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"cannot read {file}: {error}") from None
    if not isinstance(boundaries, np.ndarray) or boundaries.dtype != np.int64 or boundaries.ndim != 1:
        raise InputError(f"{file} does not hold a row of int64 times: it was not written by the lab")
    if (np.diff(boundaries) < 0).any() or record.get("cycles") != max(0, len(boundaries) - 1):
        raise InputError(f"{file} does not fit its load.{name}.json: one of the two is damaged")
    return LoadCycles(
        name, load, int(record.get("pid", 0)), str(record.get("end")), str(record.get("error", "")), boundaries
    )


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: is this a run directory?") from None
    except ValueError as error:
        raise InputError(f"{path} is damaged: {error}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: it holds no JSON object")
    return value
