"""What the server of a filesystem (FUSE) did at each moment: whose requests it worked on, and when it was gone.

A disk with the model `served` records the requests that its server answered. Which program wrote the pages that the
kernel's writeback sends it, the trace shows by the file.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.run import Run
from wblab.analysis.why.inodes import Inodes
from wblab.analysis.why.parties import FLUSHER, Parties, joined
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import device_number
from wblab.analysis.why.servedrecord import columns_of, read_served, served_disks
from wblab.core.rundir import server_name
from wblab.core.units import Bytes

Numbers = NDArray[np.int64]
_WRITE_BACK = 0  # the pid of a request that the kernel makes on nobody's behalf


@dataclass(frozen=True)
class Did:
    """What a server did in a span of time: time in ns and bytes by party, and for how many ns it was gone."""

    shares: Mapping[str, tuple[float, float]]
    gone_ns: int

    @property
    def whole_ns(self) -> int:
        """For how long it worked or was gone."""
        return self.gone_ns + round(sum(time_ns for time_ns, _ in self.shares.values()))

    @property
    def sizes(self) -> dict[str, Bytes]:
        """The bytes by party, the most time first."""
        ordered = sorted(self.shares.items(), key=lambda each: -each[1][0])
        return {party: Bytes(round(size)) for party, (_, size) in ordered if size >= 1}


@dataclass(frozen=True)
class Answers:
    """The requests that a server answered, in this order. disk: its name. whose: of each, the party.

    begun_ns, done_ns: when it worked on each: since the answer before, as of a server that has one at a time. gone_ns:
    for how much of that it was gone. size: the bytes that were moved.
    """

    disk: str
    begun_ns: Numbers
    done_ns: Numbers
    gone_ns: Numbers
    size: Numbers
    whose: tuple[str, ...]

    def within(self, start_ns: int, end_ns: int) -> "Did":
        """Return what it did in a span of time."""
        first = int(np.searchsorted(self.done_ns, start_ns, side="right"))
        last = int(np.searchsorted(self.begun_ns, end_ns))
        times: defaultdict[str, float] = defaultdict(float)
        sizes: defaultdict[str, float] = defaultdict(float)
        gone_ns = 0.0
        for at in range(first, last):
            begun_ns, done_ns = int(self.begun_ns[at]), int(self.done_ns[at])
            part = (min(done_ns, end_ns) - max(begun_ns, start_ns)) / max(1, done_ns - begun_ns)
            gone_ns += part * int(self.gone_ns[at])
            times[self.whose[at]] += part * (done_ns - begun_ns - int(self.gone_ns[at]))
            sizes[self.whose[at]] += part * int(self.size[at])
        return Did({party: (times[party], sizes[party]) for party in times}, round(gone_ns))


def served_disk(run: Run, name: str) -> str:
    """Return the disk that the task with this name serves, and of which there is a record; empty if none."""
    return next((disk for disk in served_disks(run) if server_name(disk) == name), "")


def answers(run: Run, recorded: Recorded, inodes: Inodes, parties: Parties, disk: str) -> Answers:
    """Return what the server of a disk did. Raises InputError for a damaged record."""
    return recorded.once(("answers", disk), lambda: _answers(run, recorded, inodes, parties, disk))


def _answers(run: Run, recorded: Recorded, inodes: Inodes, parties: Parties, disk: str) -> Answers:
    rows = read_served(run, disk)
    column = columns_of(rows[np.argsort(columns_of(rows)["answered_ns"], kind="stable")])
    done_ns = column["answered_ns"]
    begun_ns = np.minimum(np.maximum(column["read_ns"], np.append(0, done_ns)[: len(done_ns)]), done_ns)
    device = device_number(run.disks[disk].device) if disk in run.disks else -1

    def whose(pid: int, node: int, read_ns: int) -> str:
        if pid != _WRITE_BACK:
            return parties.owner(recorded.tasks.lives.key(pid, recorded.rank_at(read_ns)))
        return joined(inodes.writers.get((device, node), ())) or FLUSHER

    asked = zip(column["pid"].tolist(), column["node"].tolist(), column["read_ns"].tolist(), strict=True)
    gone_ns = np.minimum(column["gone_ns"], done_ns - begun_ns)
    return Answers(disk, begun_ns, done_ns, gone_ns, column["size"], tuple(whose(*each) for each in asked))
