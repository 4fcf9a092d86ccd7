"""Names of tasks: the load that a task belongs to, by its parents, and the task that a kernel thread works for."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import tracecmd
from tracecmd.sequence import Sequence

FORK = "sched_process_fork"
_OF_A_TASK = re.compile(
    r"iou-(?:wrk|sqp)-(\d+)"
)  # io_uring's threads carry the pid of the task that they work for (io-wq.c)
_KERNEL = re.compile(
    r"kworker/|jbd2/|xfs(?:aild|-[a-z]+)/|loop\d+$|md\d+_(?:raid|resync)|kswapd\d|kcompactd\d|dmcrypt_write|"
    r"btrfs-|f2fs_|ksoftirqd/|migration/|rcu_(?:preempt|sched|tasks)"
)
_MOST_PARENTS = 100


@dataclass(frozen=True)
class Tasks:
    """The tasks of a trace. names: by pid; loads: names of those that are loads; parents: of tasks forked meanwhile.

    children: in the order of their forks, each with its place in the trace.
    """

    names: Mapping[int, str]
    loads: Mapping[int, str]
    parents: Mapping[int, int] = field(default_factory=dict)
    children: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def load_of(self, pid: int) -> str:
        """Return the load that a task is, or works for; empty if none."""
        for _ in range(_MOST_PARENTS):
            if pid in self.loads:
                return self.loads[pid]
            worker = _OF_A_TASK.fullmatch(self.names.get(pid, ""))
            above = int(worker[1]) if worker else self.parents.get(pid, -1)
            if above < 0 or above == pid:
                return ""
            pid = above
        return ""

    def name(self, pid: int) -> str:
        """Return a task's name, with the load's if a load started it."""
        own, load = self.names.get(pid) or tracecmd.trace.UNKNOWN, self.load_of(pid)
        return own if load in ("", own) else f"{load}'s {_plain(own)}"

    def owner(self, pid: int) -> str:
        """Return the name that a task's bytes count for: its own, or the load's that an io_uring thread works for."""
        return self.load_of(pid) or self.name(pid) if _OF_A_TASK.fullmatch(self.names.get(pid, "")) else self.name(pid)

    def last_child(self, pid: int, rank: int) -> int:
        """Return the last task that a task forked before a place in the trace; -1 if none."""
        made = [child for at, child in self.children.get(pid, ()) if at < rank]
        return made[-1] if made else -1


def is_kernel_thread(name: str) -> bool:
    """Whether a name is that of a kernel thread. A program with such a name counts as one."""
    return bool(_KERNEL.match(name))


def read_tasks(
    trace: tracecmd.TraceFile, sequence: Sequence, names: Mapping[int, str], loads: Mapping[int, str]
) -> Tasks:
    """Read the tasks of a trace, with their parents as far as traced."""
    if FORK not in trace.names:
        return Tasks(names, loads)
    events = trace.events(FORK)
    rank, parent, child = sequence.ranks(events), events["parent_pid"], events["child_pid"]
    order = np.argsort(rank)
    made: dict[int, list[tuple[int, int]]] = {}
    for at, above, pid in zip(rank[order].tolist(), parent[order].tolist(), child[order].tolist(), strict=True):
        made.setdefault(above, []).append((at, pid))
    parents = {pid: above for above, children in made.items() for _, pid in children}
    return Tasks(names, loads, parents, {above: tuple(children) for above, children in made.items()})


def _plain(name: str) -> str:
    return "io_uring worker" if _OF_A_TASK.fullmatch(name) else name
