"""Names of tasks: the load or agent that a task belongs to, by its parents, or the task that a thread works for.

Tasks are given by their keys, see `lives`.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

import tracecmd
from tracecmd.sequence import Sequence as Events

from wblab.analysis.why.lives import FORK, Lives, names_of_earlier

_OF_A_TASK = re.compile(
    r"iou-(?:wrk|sqp)-(\d+)"
)  # io_uring's threads carry the pid of the task that they work for (io-wq.c)
_KERNEL = re.compile(
    r"kworker/|jbd2/|xfs(?:aild|-[a-z]+)/|loop\d+$|md\d+_(?:raid|resync)|kswapd\d|kcompactd\d|dmcrypt_write|"
    r"btrfs-|f2fs_|ksoftirqd/|migration/|rcu_(?:preempt|sched|tasks)"
)
_INIT, _KTHREADD = 1, 2  # the parents of all programs, and of all kernel threads
AGENT = "the agent "  # prefix of the names of agents
_MOST_PARENTS = 100
_MOST_PROGRAMS = 4  # of a load that are named one by one


@dataclass(frozen=True)
class Tasks:
    """The tasks of a trace. names: by key; loads, agents: the names of those that are one; parents: of forked tasks.

    children: in the order of their forks, each with its place in the trace. kernel, programs: the tasks that are
    kernel threads, or not, by the functions in which they slept.
    """

    names: Mapping[int, str]
    loads: Mapping[int, str]
    parents: Mapping[int, int] = field(default_factory=dict)
    children: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    agents: Mapping[int, str] = field(default_factory=dict)
    lives: Lives = field(default_factory=Lives)
    kernel: Set[int] = frozenset()
    programs: Set[int] = frozenset()

    def load_of(self, key: int) -> str:
        """Return the load that a task is, or works for; empty if none."""
        return self.loads.get(self._first(key), "")

    def of_load(self, load: str, pid: int) -> int:
        """Return the task that is a load, which has this pid."""
        return next((key for key, name in self.loads.items() if name == load), pid)

    def agent_of(self, key: int) -> str:
        """Return the agent that a task is, or works for; empty if none."""
        return self.agents.get(self._first(key), "")

    def is_kernel(self, key: int) -> bool:
        """Whether a task is a kernel thread: by its parent, else by where it slept, and only then by its name."""
        if key in self.parents:
            return self.parents[key] == _KTHREADD
        if key in self.loads or key in self.agents or key in self.programs or key == _INIT:
            return False
        return key == _KTHREADD or key in self.kernel or is_kernel_thread(self.names.get(key, ""))

    def name(self, key: int) -> str:
        """Return a task's name, with the load's or agent's if that started it.

        A program with the name of a kernel thread or of a load is said to be a program.
        """
        own, above = self.names.get(key) or tracecmd.trace.UNKNOWN, self._above(key)
        if above:
            if own == above or key in self.loads or key in self.agents:
                return above
            return f"{above}'s {'children' if above in self._crowds else _plain(own)}"
        if self.is_kernel(key):
            return own
        return f"the program {own}" if is_kernel_thread(own) or own in self.loads.values() else own

    def whole(self, key: int) -> str:
        """Return the name of the load or agent that a task belongs to; its own if it belongs to none."""
        return self._above(key) or self.name(key)

    def owner(self, key: int) -> str:
        """Return the name that a task's bytes count for: its own, or the load's that an io_uring thread works for."""
        return self.whole(key) if _OF_A_TASK.fullmatch(self.names.get(key, "")) else self.name(key)

    def last_child(self, key: int, rank: int) -> int:
        """Return the last task that a task forked before a place in the trace; -1 if none."""
        made = [child for at, child in self.children.get(key, ()) if at < rank]
        return made[-1] if made else -1

    @cached_property
    def _crowds(self) -> frozenset[str]:
        """The loads and agents with tasks of more names than anybody wants to read."""
        found: dict[str, set[str]] = {}
        for key in self.parents:
            if above := self._above(key):
                found.setdefault(above, set()).add(self.names.get(key, ""))
        # A child that was not seen after its exec has its parent's name.
        return frozenset(above for above, names in found.items() if len(names - {"", above}) > _MOST_PROGRAMS)

    def _above(self, key: int) -> str:
        """Return the name of the load, or the words for the agent, that a task belongs to; empty if none."""
        first = self._first(key)
        return self.loads.get(first) or (AGENT + self.agents[first] if first in self.agents else "")

    def _first(self, key: int) -> int:
        """Return the task that is a load or an agent and to which a task belongs; -1 if none."""
        for _ in range(_MOST_PARENTS):
            if key in self.loads or key in self.agents:
                return key
            above = self.parents.get(key, -1)
            if above < 0 and (worker := _OF_A_TASK.fullmatch(self.names.get(key, ""))):
                above = int(worker[1])
            if above < 0 or above == key:
                return -1
            key = above
        return -1


def is_kernel_thread(name: str) -> bool:
    """Whether a name is that of a kernel thread. A program may have it too: see `Tasks.is_kernel`."""
    return bool(_KERNEL.match(name))


def read_tasks(  # noqa: PLR0913, PLR0917
    trace: tracecmd.TraceFile,
    sequence: Events,
    lives: Lives,
    names: Mapping[int, str],
    loads: Mapping[int, str],
    agents: Sequence[str] = (),
    kernel: Set[int] = frozenset(),
    programs: Set[int] = frozenset(),
) -> Tasks:
    """Read the tasks of a trace, with their parents as far as traced. names, loads: by pid.

    agents: in the order in which the guest's init started them, before the loads. kernel, programs: see `Tasks`.
    """
    names = {**names, **names_of_earlier(trace, sequence, lives)}
    if FORK not in trace.names:
        return Tasks({**names, **loads}, loads, lives=lives, kernel=kernel, programs=programs)
    events = trace.events(FORK)
    rank, parent, child = sequence.ranks(events), events["parent_pid"], events["child_pid"]
    columns = rank, lives.keys(parent, rank), child, lives.keys(child, rank)
    forks = sorted(zip(*(column.tolist() for column in columns), strict=True))
    made: dict[int, list[tuple[int, int]]] = {}
    begun: dict[int, int] = {}
    others: list[int] = []
    for at, above, pid, key in forks:
        made.setdefault(above, []).append((at, key))
        if above == _INIT:
            if pid in loads and pid not in begun:
                begun[pid] = key
            elif pid not in loads:
                others.append(key)
    parents = {key: above for above, children in made.items() for _, key in children}
    keyed = {begun.get(pid, pid): name for pid, name in loads.items()}
    return Tasks(
        names | keyed,
        keyed,
        parents,
        {above: tuple(children) for above, children in made.items()},
        dict(zip(others, agents, strict=False)),
        lives,
        kernel,
        programs,
    )


def _plain(name: str) -> str:
    return "io_uring worker" if _OF_A_TASK.fullmatch(name) else name
