"""A run directory read back: the spec, the record, and the cycles of every load."""

import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wblab.core import rundir
from wblab.core.errors import InputError, WblabError, nearest
from wblab.core.livespec import LiveSpec
from wblab.core.loads import Command, Load
from wblab.core.spec import Spec
from wblab.core.tables import from_table

Times = NDArray[np.int64]

SUCCEEDED = "succeeded"
LIVE = "live"  # the kind of a run on a machine itself


@dataclass(frozen=True)
class LoadCycles:
    """What one load measured. All times are int64 ns of CLOCK_MONOTONIC; arrays have one item a cycle."""

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
        """How much longer each cycle took than the load meant to sleep; never below 0, and 0 of a command."""
        if isinstance(self.load, Command):
            return np.zeros_like(self.durations_ns)
        return cast(Times, np.maximum(self.durations_ns - self.idle_ns, 0))


@dataclass(frozen=True)
class Run:
    """One run: its directory, its record (experiment.json), its spec and its loads in the spec's order."""

    path: Path
    record: dict[str, Any]
    spec: Spec | LiveSpec
    loads: tuple[LoadCycles, ...]

    @property
    def failure(self) -> str:
        """Why the run failed; empty where it succeeded."""
        outcome = str(self.record.get("outcome") or "unknown")
        return "" if outcome == SUCCEEDED else str(self.record.get("reason") or outcome)

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


def guest_spec(run: Run) -> Spec:
    """Return the spec of a guest's run. Raises InputError for a live run, which no guest can repeat."""
    if isinstance(run.spec, LiveSpec):
        raise InputError(
            f"{run.path} is a live run, which cannot be repeated: 'wblab twin' makes a guest that is like it"
        )
    return run.spec


def find_run(text: str, results: Path) -> Path:
    """Return a run's directory: a path, `latest`, or how one name in the results directory begins or ends.

    Raises InputError where there is none, or more than one.
    """
    if text == "latest":
        finished = [path for path in results.glob("[!_.]*") if (path / rundir.EXPERIMENT).is_file()]
        if not finished:
            raise InputError(f"no finished run in {results}: make one with 'wblab run'")
        return max(finished, key=lambda path: ((path / rundir.EXPERIMENT).stat().st_mtime_ns, path.name))
    for path in (Path(text), results / text):
        if os.path.isfile(path / rundir.EXPERIMENT):  # unlike Path.is_file, False for a name that is too long
            return path
    known = sorted(path.name for path in results.glob("*") if (path / rundir.EXPERIMENT).is_file())
    matches = [name for name in known if name.startswith(text) or name.endswith(text)]
    if len(matches) > 1:
        raise InputError(f"{len(matches)} runs begin or end with {text!r}: say more, the last is {matches[-1]!r}")
    if matches:
        return results / matches[0]
    raise InputError(f"no run {text!r}{nearest(text, known)}: give a run directory, or 'latest'")


def read_run(path: Path) -> Run:
    """Return the run in a directory, as far as it went. Raises InputError for what is missing or damaged."""
    record = _json(path / rundir.EXPERIMENT)
    if (form := record.get("format")) != rundir.FORMAT:
        file = path / rundir.EXPERIMENT
        raise InputError(f"{file} has format {form!r}, this lab reads {rundir.FORMAT}: use the lab that wrote it")
    try:
        kind: type[Spec | LiveSpec] = LiveSpec if record.get("kind") == LIVE else Spec
        spec = from_table(kind, record["spec"], exact=True)
    except (KeyError, WblabError) as error:
        raise InputError(f"{path / rundir.EXPERIMENT} has no usable spec: {error}") from None
    complete = record.get("outcome") == SUCCEEDED  # then a file that is missing was lost
    present = [name for name in spec.load if complete or os.path.isfile(path / f"load.{name}.npy")]
    loads = tuple(_load(path, name, spec.load[name]) for name in present)
    measured = tuple(load for load in loads if len(load.boundaries_ns) > 1)
    if not measured:
        reason = _line(record.get("reason") or record.get("outcome") or "no reason recorded")
        raise InputError(f"the run {path} measured nothing: {reason}")
    return Run(path, record, spec, measured)


def _load(path: Path, name: str, load: Load) -> LoadCycles:
    record = _json(path / f"load.{name}.json")
    file = path / f"load.{name}.npy"
    try:
        with open(file, "rb") as stream:
            boundaries = np.load(stream, allow_pickle=False)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None
    except Exception as error:  # a damaged header ends in whatever its parser stumbles over
        raise InputError(f"{file} is damaged: {_line(error)}") from None
    if not isinstance(boundaries, np.ndarray) or boundaries.dtype != np.int64 or boundaries.ndim != 1:
        raise InputError(f"{file} does not hold a row of int64 times: it was not written by the lab")
    if (np.diff(boundaries) < 0).any() or record.get("cycles") != max(0, len(boundaries) - 1):
        raise InputError(f"{file} does not fit its load.{name}.json: one of the two is damaged")
    if not 0 <= load.idle_ns(0) <= np.iinfo(np.int64).max:
        raise InputError(f"{path / rundir.EXPERIMENT} has no usable spec: {name!r} cannot sleep for that time")
    pid = record.get("pid")
    if record.get("kind") != load.kind or record.get("unit") != "ns" or not isinstance(pid, int):
        raise InputError(f"{path / f'load.{name}.json'} does not fit the spec of {name!r}: it is damaged")
    return LoadCycles(name, load, pid, str(record.get("end")), str(record.get("error", "")), boundaries)


def _line(message: object) -> str:
    return " ".join(str(message).split()) or type(message).__name__


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}: is this a run directory?") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {_line(error)}") from None
    if not isinstance(value, dict):
        raise InputError(f"{path} is damaged: it holds no JSON object")
    return value
