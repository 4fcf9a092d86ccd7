"""A run directory read back: the spec, the record, and the cycles of every load."""

import io
import os
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.fileextents import read_extents
from wblab.core.check import check_name
from wblab.core.diskcheck import check_disks
from wblab.core.errors import InputError, WblabError, nearest
from wblab.core.files import read_bytes
from wblab.core.loads import MAX_CYCLES, Load
from wblab.core.rundir import DISKS, DiskRecord, FileRecord, load_record, load_times
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.lab.formats import EXPERIMENT, LIVE, RUN, read_object
from wblab.lab.layouts import Layout, read_layouts
from wblab.lab.printable import printable
from wblab.lab.results import STAGED
from wblab.lab.specfile import LiveSpec

Times = NDArray[np.int64]

SUCCEEDED = "succeeded"

# Types of a record's parts, if present.
_PARTS: dict[str, Any] = {
    **dict.fromkeys(("kernel", "guest", "host", "live"), dict),
    **dict.fromkeys(("outcome", "reason"), str),
    "left_out": list,
}
_MOST_LOADS = 200  # limits a picture's height
_MOST_ROW_BYTES = 8 * (MAX_CYCLES + 1) + (1 << 16)
_LAST_NS = 1 << 62
_DEVICE = re.compile(r"\d{1,4}:\d{1,8}")


@dataclass(frozen=True)
class LoadCycles:
    """The measurements of one load. Times are int64 ns of CLOCK_MONOTONIC; arrays have one item for each cycle."""

    name: str
    load: Load
    pid: int
    end: str
    error: str
    boundaries_ns: Times  # n + 1 for n cycles
    dropped: int = 0  # number of cycles that dropped their work

    @cached_property
    def starts_ns(self) -> Times:
        """The start of each cycle."""
        return self.boundaries_ns[:-1]

    @cached_property
    def durations_ns(self) -> Times:
        """The duration of each cycle."""
        return np.diff(self.boundaries_ns)

    @cached_property
    def idle_ns(self) -> Times:
        """The intended sleep in each cycle; for an offender also the wait before its first work."""
        idle = np.full(len(self.durations_ns), self.load.idle_ns(1), dtype=np.int64)
        idle[:1] = self.load.idle_ns(0)
        return idle

    @cached_property
    def pauses_ns(self) -> Times:
        """The time by which each cycle exceeds its intended sleep, at least 0; all 0 for a load without pauses."""
        if not self.load.has_pauses:
            return np.zeros_like(self.durations_ns)
        return cast(Times, np.maximum(self.durations_ns - self.idle_ns, 0))


class NothingMeasuredError(InputError):
    """A run that ended before any of its loads completed a cycle."""


@dataclass(frozen=True)
class Run:
    """One run: its directory, its record (experiment.json), its spec and its loads in the spec's order.

    disks: the guest's record of its disks, by name; empty for a live run, a failed one, or one of an older version.
    """

    path: Path
    record: dict[str, Any]
    spec: Spec | LiveSpec
    loads: tuple[LoadCycles, ...]
    disks: dict[str, DiskRecord] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of its directory, printable."""
        return printable(self.path.name)

    @property
    def failure(self) -> str:
        """Why the run failed; empty if it succeeded."""
        outcome = str(self.record.get("outcome") or "unknown")
        return "" if outcome == SUCCEEDED else str(self.record.get("reason") or outcome)

    @cached_property
    def device_names(self) -> dict[str, str]:
        """The kernel's names of a live run's block devices by number, major:minor; empty if it did not record them."""
        found = (self.record.get("live") or {}).get("device_names")
        names = found if isinstance(found, dict) else {}
        return {key: name for key, name in names.items() if _DEVICE.fullmatch(key) and isinstance(name, str) and name}

    def load(self, name: str) -> LoadCycles:
        """Return the load with this name. Raises InputError."""
        for load in self.loads:
            if load.name == name:
                return load
        names = [load.name for load in self.loads]
        raise InputError(f"no load {name!r} in {self.path}{nearest(name, names)}: it has {', '.join(names)}")

    @cached_property
    def zero_ns(self) -> int:
        """The zero of the run's time axis: the first boundary of any load."""
        return min(int(load.boundaries_ns[0]) for load in self.loads)

    @cached_property
    def layouts(self) -> dict[str, Layout]:
        """The layouts of filesystems when they were made, by disk. Raises InputError for a damaged file."""
        return read_layouts(self.path, self.spec)

    @cached_property
    def files(self) -> dict[str, dict[str, FileRecord]]:
        """The final places of files, by load and name. Raises InputError for a damaged file."""
        return read_extents(self.path, self.spec)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each load, by its name."""
        return {item.name: item.load.kind for item in self.loads}

    def offender_starts_ns(self) -> dict[str, int]:
        """Return when each offender began to write, by name, in ns."""
        return {
            item.name: int(item.boundaries_ns[0]) + item.load.idle_ns(0) - item.load.idle_ns(1)
            for item in self.loads
            if item.load.role == "offender"
        }


def guest_spec(run: Run) -> Spec:
    """Return the spec of a guest's run. Raises InputError for a live run, which a guest cannot repeat."""
    if isinstance(run.spec, LiveSpec):
        raise InputError(f"{run.path} is a live run, which cannot be repeated: 'wblab study' makes a similar guest")
    return run.spec


def own_machine(run: Run) -> dict[str, Any] | None:
    """Return what a run on a machine itself recorded of it (wblab.live.runs.ofspec); None for a run elsewhere."""
    machine = run.record.get("machine")
    return machine if isinstance(machine, dict) and "limits_set" in machine else None


def find_run(text: str, results: Path) -> Path:
    """Return a run's directory from a path, `latest`, or the beginning or end of one name in the results directory.

    Raises InputError if none or several match.
    """
    if not text:
        raise InputError("a run's name is empty: give a run directory, the begin or end of its name, or 'latest'")
    if text == "latest":
        finished = _there(results, "[!_.]*")
        if not finished:
            raise InputError(f"no finished run in {results}: make one with 'wblab run'")
        return max(finished, key=lambda path: (finished[path], path.name))
    for path in (Path(text), results / text):
        if os.path.isfile(path / EXPERIMENT):  # unlike Path.is_file, False for a name that is too long
            return path
    known = sorted(path.name for path in _there(results, "*"))
    matches = [name for name in known if name.startswith(text) or name.endswith(text)]
    if len(matches) > 1:
        raise InputError(
            f"{len(matches)} runs begin or end with {text!r}: give more of the name; the last is {matches[-1]!r}"
        )
    if matches:
        return results / matches[0]
    if os.path.isfile(text):
        raise InputError(
            f"{text!r} is a file, not the directory of a run: 'wblab run' makes a run of a spec, "
            "and 'wblab why' explains files of other machines"
        )
    if os.path.isdir(text):
        raise InputError(f"the directory {text!r} has no {EXPERIMENT}, so it is no run: 'wblab runs' lists them")
    raise InputError(f"no run {text!r}{nearest(text, known)}: give a run directory, or 'latest'")


def failed_since(path: Path) -> Path | None:
    """Return the latest run in the same directory that failed after this one; None if none did."""
    since = (path / EXPERIMENT).stat().st_mtime_ns
    found = _there(path.parent, f"{STAGED}*")
    latest = max(found, key=lambda item: found[item], default=None)
    return latest if latest and found[latest] > since else None


def _there(results: Path, pattern: str) -> dict[Path, int]:
    """Return the runs in a directory that we may read, with the time of each one's last change."""
    found = {}
    for path in results.glob(pattern):
        file = path / EXPERIMENT
        # Unlike Path.is_file, False for what others have closed.
        if os.path.isfile(file) and os.access(file, os.R_OK, effective_ids=True):
            with suppress(OSError):  # removed in the meantime
                found[path] = file.stat().st_mtime_ns
    return found


def read_run(path: Path) -> Run:
    """Return the run in a directory, also if it is incomplete. Raises InputError for missing or damaged files.

    Raises NothingMeasuredError, an InputError, if it ended before any load completed a cycle.

    The directory is untrusted: files must be regular and of limited size, numbers must fit into arrays, and the texts
    of the record, except the spec's, are made printable.
    """
    file = path / EXPERIMENT
    record = _record(file)
    try:
        kind: type[Spec | LiveSpec] = LiveSpec if record["kind"] == LIVE else Spec
        spec = from_table(kind, record["spec"], exact=True)
        _check_spec(spec)
    except (KeyError, WblabError) as error:
        raise InputError(f"{file} has no usable spec: {error}") from None
    complete = record.get("outcome") == SUCCEEDED  # if so, a missing file is damage
    present = [name for name in spec.load if complete or os.path.lexists(path / load_times(name))]
    loads = tuple(_load(path, name, _with_disk(spec, name)) for name in present)
    measured = tuple(load for load in loads if len(load.boundaries_ns) > 1)
    if not measured:
        reason = _line(record.get("reason") or record.get("outcome") or "no reason recorded")
        raise NothingMeasuredError(f"the run {path} measured nothing: {reason}")
    return Run(path, record, spec, measured, _disks(path, spec))


def _record(file: Path) -> dict[str, Any]:
    """Return an experiment.json after checking the types of its parts."""
    record = {key: value if key == "spec" else _printable(value) for key, value in RUN.read(file).items()}
    for key, kinds in _PARTS.items():
        if not isinstance(record.get(key), kinds | None):
            raise InputError(f"{file} is damaged: its {key!r} has the wrong type")
    return record


def _check_spec(spec: Spec | LiveSpec) -> None:
    """Raise InputError for a spec that no run can have: numbers used for drawing or as divisors have limits."""
    if len(spec.load) > _MOST_LOADS:
        raise InputError(f"{len(spec.load)} loads are more than the limit of {_MOST_LOADS}")
    for name, load in spec.load.items():
        check_name(name, "load")
        load.check(f"load.{name}.")
    if isinstance(spec, Spec):
        check_disks(spec)


def _with_disk(spec: Spec | LiveSpec, name: str) -> Load:
    """Return a load with the disk that it writes to, if there are several."""
    load = spec.load[name]
    return replace(load, disk=spec.disk_of(name)) if isinstance(spec, Spec) and len(spec.disk) > 1 else load


def _disks(path: Path, spec: Spec | LiveSpec) -> dict[str, DiskRecord]:
    """Return the contents of disks.json. Raises InputError if it does not fit the spec."""
    file = path / DISKS
    if not os.path.lexists(file):
        return {}
    content = read_object(file, RUN.where)
    try:
        disks = {name: DiskRecord(**disk) for name, disk in content.items()}
    except TypeError:
        raise InputError(f"{file} is damaged: it is not a table of disks") from None
    known = list(spec.disk) if isinstance(spec, Spec) else []
    for name, disk in disks.items():
        if name not in known or type(disk.written_ns) is not int or not 0 <= disk.written_ns <= _LAST_NS:
            raise InputError(f"{file} is damaged: it does not fit the spec")
        if type(disk.device) is not str or not _DEVICE.fullmatch(disk.device):
            raise InputError(f"{file} is damaged: {disk.device!r} is not a device number")
    return disks


def _load(path: Path, name: str, load: Load) -> LoadCycles:
    record = read_object(path / load_record(name), RUN.where)
    file = path / load_times(name)
    try:
        boundaries = int64_row(read_bytes(file, _MOST_ROW_BYTES))
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror or error}") from None
    except Exception as error:  # a parser may raise anything for a damaged header
        raise InputError(f"{file} is damaged: {_line(error)}") from None
    if (boundaries[1:] < boundaries[:-1]).any() or record.get("cycles") != max(0, len(boundaries) - 1):
        raise InputError(f"{file} does not fit its {load_record(name)}: one of the two is damaged")
    if len(boundaries) and not 0 <= boundaries[0] <= boundaries[-1] <= _LAST_NS:
        raise InputError(f"{file} is damaged: its times, {boundaries[0]} to {boundaries[-1]} ns, are impossible")
    pid = record.get("pid")
    if record.get("kind") != load.kind or record.get("unit") != "ns" or type(pid) is not int:
        raise InputError(f"{path / load_record(name)} does not fit the spec of {name!r}: it is damaged")
    end, reason = (printable(str(record.get(key, ""))) for key in ("end", "error"))
    dropped = record.get("dropped")  # older versions recorded none
    return LoadCycles(name, load, pid, end, reason, boundaries, dropped if isinstance(dropped, int) else 0)


def int64_row(content: bytes) -> Times:
    """Return the row of int64 in an .npy file of the lab's, whose size must match its header. Raises ValueError."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version != (1, 0):
        raise ValueError(f"format {version}, the lab writes 1.0")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    at = stream.tell()
    if dtype != np.int64 or len(shape) != 1 or shape[0] * dtype.itemsize != len(content) - at:
        raise ValueError("it does not hold a row of int64 times: it was not written by the lab")
    return np.frombuffer(content, np.int64, offset=at)


def _line(message: object) -> str:
    return " ".join(str(message).split()) or type(message).__name__


def _printable(value: Any) -> Any:
    """Return a JSON value with all its texts made printable."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_printable(item) for item in value]
    if isinstance(value, dict):
        return {printable(key): _printable(item) for key, item in value.items()}
    return value
