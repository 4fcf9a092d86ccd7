"""The limit of dirty memory that throttled a writer: the machine's, its disk's own, or that of its control group."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import Wait
from wblab.analysis.why.devicelimits import device_name
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.recorded import Recorded
from wblab.core.spec import Cgroup, Spec
from wblab.core.stacks import SERVED
from wblab.core.units import Bytes

_OWN = ("strict_limit", "max_ratio", "max_ratio_fine", "max_bytes")
_OF_SERVED: dict[str, int | str] = {"strict_limit": 1, "max_ratio": 1}  # fuse_bdi_init() of fs/fuse/inode.c
_NO_LIMIT = ("0", "100", "1000000")  # values that set none
_MEMORY = ("memory.max", "memory.high")

Of = Literal["machine", "disk", "group"]


@dataclass(frozen=True)
class DirtyLimit:
    """A limit of dirty memory.

    size: in bytes, 0 if unknown. device: of the disk that it is for; NOBODY if it is no disk's. group: the inode of the
    control group that it is for, 0 if it is no group's; name: its name in the spec, empty if unknown. set_by: the keys
    of the spec that set it, if it has any. stops: whether it left the writer no rate at all (task_ratelimit 0) for most
    of the time: then it sleeps again and again until the disk has written enough. is_mount: the disk is a mount that a
    server serves.
    """

    of: Of = "machine"
    size: Bytes = Bytes(0)
    device: int = NOBODY
    group: int = 0
    name: str = ""
    set_by: tuple[str, ...] = ()
    stops: bool = False
    is_mount: bool = False

    @property
    def whose(self) -> str:
        """What tells limits apart, whatever their size is at the moment."""
        return f"{self.of} {self.device} {self.group}"


def limit_of(run: Run, recorded: Recorded, waits: Sequence[Wait]) -> DirtyLimit:
    """Return the limit that throttled a task for most of the time of its waits; the machine's if that is not known."""
    time_ns: Counter[tuple[Of, int, int]] = Counter()
    stopped_ns: Counter[tuple[Of, int, int]] = Counter()
    longest: dict[tuple[Of, int, int], tuple[int, int]] = {}
    for wait in waits:
        row = recorded.balances.before(int(recorded.offcpu.pid[wait.row]), int(recorded.offcpu.rank[wait.row]))
        key: tuple[Of, int, int] = _judged(run, recorded, row) if row >= 0 else ("machine", NOBODY, 0)
        time_ns[key] += wait.time_ns
        stopped_ns[key] += wait.time_ns if row >= 0 and recorded.balances.rate[row] == 0 else 0
        longest[key] = max(longest.get(key, (0, NOBODY)), (wait.time_ns, row))
    of, device, group = max(time_ns, key=lambda key: time_ns[key])
    balances, row = recorded.balances, longest[of, device, group][1]
    stops = 2 * stopped_ns[of, device, group] > time_ns[of, device, group]
    if row < 0:
        return DirtyLimit()
    size = Bytes((balances.share(row) if of == "disk" else balances.size(row)) * balances.page_bytes)
    if of == "disk":
        name, set_by = device_name(run, device), _own(run, device)
        is_mount = isinstance(run.spec, Spec) and bool(name) and run.spec.disk[name].model == SERVED
        if is_mount and isinstance(run.spec, Spec):  # the kernel's own, which is no setting to be lifted
            set_by = tuple(key for key in set_by if key.rpartition(".")[2] in run.spec.disk[name].bdi)
        return DirtyLimit(of, size, device, set_by=set_by, stops=stops, is_mount=is_mount)
    if of == "group":
        name = _group_name(run, recorded, group)
        return DirtyLimit(of, size, group=group, name=name, set_by=_of_group(run, name), stops=stops)
    return DirtyLimit(of, size, stops=stops)


def members(run: Run, recorded: Recorded, limit: DirtyLimit) -> frozenset[int]:
    """Return the keys of the tasks of a group's limit: those that it throttled most, and those of the group's loads."""
    balances, counts = recorded.balances, Counter[tuple[int, int]]()
    counts.update(zip(_keys(recorded), balances.group.tolist(), strict=True))
    most: dict[int, tuple[int, int]] = {}
    for (key, group), count in counts.items():
        most[key] = max(most.get(key, (0, 0)), (count, group))
    inside = {key for key, (_, group) in most.items() if group == limit.group}
    loads = {load for name, group in _groups(run) if name == limit.name for load in group.loads}
    dirtied = set(recorded.dirtied.pid.tolist())
    return frozenset(inside | {key for key in dirtied if recorded.tasks.load_of(key) in loads})


def _judged(run: Run, recorded: Recorded, row: int) -> tuple[Of, int, int]:
    """Return what a decision's limit is of: of what, the disk's device and the group's inode."""
    balances = recorded.balances
    device, group = int(balances.device[row]), int(balances.group[row])
    if balances.is_free(row) or ((_own(run, device) or balances.is_strict(device)) and balances.slows_more(row)):
        return "disk", device, 0
    return ("group", NOBODY, group) if balances.is_of_group(row) else ("machine", NOBODY, 0)


def _own(run: Run, device: int) -> tuple[str, ...]:
    """Return the keys by which a disk of the spec has a limit of its own, also those that the kernel sets."""
    name = device_name(run, device)
    if not isinstance(run.spec, Spec) or not name:
        return ()
    settings = (_OF_SERVED if run.spec.disk[name].model == SERVED else {}) | run.spec.disk[name].bdi
    place = f"{run.spec.disk_key(name)}.bdi"
    return tuple(f"{place}.{key}" for key in _OWN if str(settings.get(key, "0")) not in _NO_LIMIT)


def _of_group(run: Run, name: str) -> tuple[str, ...]:
    """Return the keys by which a control group of the spec has a limit of memory."""
    files = run.spec.cgroup[name].files if isinstance(run.spec, Spec) and name in run.spec.cgroup else {}
    return tuple(f"cgroup.{name}.files.{file}" for file in _MEMORY if str(files.get(file, "max")) != "max")


def _group_name(run: Run, recorded: Recorded, inode: int) -> str:
    """Return the name of the group of most of the loads that wrote to files of a control group; empty if unknown."""
    balances, found = recorded.balances, Counter[str]()
    for key, group in zip(_keys(recorded), balances.group.tolist(), strict=True):
        load = recorded.tasks.load_of(key) if group == inode else ""
        found.update({name for name, of in _groups(run) if load in of.loads})
    return found.most_common(1)[0][0] if found else ""


def _keys(recorded: Recorded) -> list[int]:
    """Return the key of the task of each decision."""
    keys: list[int] = recorded.tasks.lives.keys(recorded.balances.pid, recorded.balances.rank).tolist()
    return keys


def _groups(run: Run) -> Iterator[tuple[str, Cgroup]]:
    if isinstance(run.spec, Spec):
        yield from run.spec.cgroup.items()
        for phase in run.spec.phase.values():
            yield from phase.cgroup.items()
