"""Names of inodes, as far as the trace shows: by the task that dirtied the pages, and that load's file."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import tracecmd
from numpy.typing import NDArray

from wblab.analysis.runs.names import event_name
from wblab.analysis.runs.run import Run
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import DIRTIED, device_numbers
from wblab.core.layout import mount_point
from wblab.core.loads import Load
from wblab.core.spec import Spec

WAITED, WRITTEN = "folio_wait_writeback", "writeback_single_inode_start"
NOBODY = -1

Numbers = NDArray[np.int64]
Inode = tuple[int, int]  # device number as in events, inode number


@dataclass(frozen=True)
class NamedInodes:
    """The inodes named in events of one type, sorted by task and place in the trace."""

    pid: Numbers
    rank: Numbers
    device: Numbers
    inode: Numbers

    def before(self, pid: int, rank: int, after_rank: int = NOBODY) -> int:
        """Return the row of the last inode that a task named between two places; -1 if none."""
        first, last = np.searchsorted(self.pid, [pid, pid + 1]).tolist()
        row = first + int(np.searchsorted(self.rank[first:last], rank)) - 1
        return row if row >= first and self.rank[row] >= after_rank else NOBODY


@dataclass(frozen=True)
class Inodes:
    """What is known of inodes. writers: the tasks that dirtied pages of each; paths: their paths, where certain.

    waited: the files whose pages tasks waited for. written: the files that flushers began to write.
    """

    writers: Mapping[Inode, tuple[str, ...]]
    paths: Mapping[Inode, str]
    waited: NamedInodes
    written: NamedInodes

    def said(self, inode: Inode) -> str:
        """Return an inode in words: its number and its path or, if unknown, its writers."""
        number, writers = f"inode {inode[1]}", self.writers.get(inode, ())
        if path := self.paths.get(inode):
            return f"{number}, {path}"
        return f"{number}, a file of {' and '.join(writers)}" if 0 < len(writers) <= 2 else number


def read_inodes(run: Run, recorded: Recorded) -> Inodes:
    """Read what a run's trace shows of inodes."""
    trace = recorded.trace
    name = event_name(trace, DIRTIED)
    found: dict[Inode, set[str]] = {}
    if name in trace.names:
        events = trace.events(name)
        keys = recorded.tasks.lives.keys(events.pid, recorded.sequence.ranks(events))
        columns = device_numbers(events), events["ino"].astype(np.int64), keys
        for device, inode, pid in sorted(set(zip(*(column.tolist() for column in columns), strict=True))):
            if inode != device:  # a device's own pages belong to its filesystem
                found.setdefault((device, inode), set()).add(recorded.tasks.owner(pid))
    writers = {inode: tuple(sorted(names)) for inode, names in found.items()}
    return Inodes(writers, _paths(run, writers), _named(recorded, trace, WAITED), _named(recorded, trace, WRITTEN))


def _paths(run: Run, writers: Mapping[Inode, tuple[str, ...]]) -> dict[Inode, str]:
    """Return the paths of files with exactly one writer that has no other file."""
    spec = run.spec
    if not isinstance(spec, Spec):
        return {}
    paths = {}
    for name, load in spec.load.items():
        own = [inode for inode, names in writers.items() if name in names]
        file = _only_file(load)
        if file and len(own) == 1 and writers[own[0]] == (name,):
            paths[own[0]] = str(mount_point(spec.disk_of(name)) / file)
    return paths


def own_path(spec: Spec, name: str) -> str:
    """Return the path of the only file that a load uses; empty if it has several, or if that is not known."""
    load = spec.load.get(name)
    file = _only_file(load) if load else ""
    return str(mount_point(spec.disk_of(name)) / file) if file else ""


def _only_file(load: Load) -> str:
    """Return the only file of a load; empty if it has several, or if that is not known."""
    files = list(load.files)
    if load.kind == "write":
        return str(getattr(load, "file", ""))
    return files[0] if len(files) == 1 else ""


def _named(recorded: Recorded, trace: tracecmd.TraceFile, wanted: str) -> NamedInodes:
    name = event_name(trace, wanted)
    if name not in trace.names:
        return NamedInodes(*[np.zeros(0, np.int64)] * 4)
    events = trace.events(name)
    rank, pid = recorded.sequence.ranks(events), events.pid.astype(np.int64)
    order = np.lexsort((rank, pid))
    columns = (pid, rank, device_numbers(events), events["ino"].astype(np.int64))
    return NamedInodes(*(column[order] for column in columns))
