"""The measures against an offender. Each notes a change in the journal before making it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import psutil

from wblab.core.units import NS_PER_S
from wblab.live.changes.journal import Journal
from wblab.live.changes.permitted import DISKS
from wblab.live.mitigate.configuration import Config
from wblab.live.mitigate.heldgroup import ControlGroup, origin_of
from wblab.live.mitigate.settings import DirtyBytes, ShortQueue, StrictLimit
from wblab.machine.block import number
from wblab.machine.cgroup import cgroup_root
from wblab.machine.changes import Change, IoPriority
from wblab.machine.processes import ProcessIdentity, get_ioprio, identify, ioprio_value, set_ioprio, threads

# The kernel keeps a level for the idle class too, though no scheduler uses it. No program sets this level, so it marks
# tasks that are idle because of the daemon. Children and their children inherit the mark.
_OUR_IDLE = ioprio_value("idle", 5)
_BEST_EFFORT_7 = ioprio_value("best-effort", 7)


class LimitMeasure(Protocol):
    """A measure against offenders. All methods but `check` raise OSError if the kernel refuses.

    lasting: started in every period, without an offender too, for each disk of known bandwidth. shared: changes what
    all disks share, so it is started for the watched disk only.
    """

    @property
    def lasting(self) -> bool:
        """Whether it also runs without an offender."""

    @property
    def shared(self) -> bool:
        """Whether it changes what all disks share."""

    def check(self, disk: str) -> None:
        """Raise WblabError if this machine cannot do it for this disk of /sys/block."""

    def start(self, disk: str, bandwidth: float) -> None:
        """Do the part that concerns all; `bandwidth` is the disk's, in bytes/s. Leaves alone what is already done."""

    def hold(self, pid: int) -> int:
        """Hold a process, or its new threads if it is already held. Return the number of changes."""


@dataclass
class IoClass:
    """Sets the I/O class and level of all threads of a process; new threads and children inherit them."""

    journal: Journal
    value: int
    lasting = False
    shared = False

    def check(self, disk: str) -> None:
        """See Measure: every kernel can."""

    def start(self, disk: str, bandwidth: float) -> None:
        """See Measure: nothing to do."""

    def hold(self, pid: int) -> int:
        """See Measure. Reads all threads before it sets the first, as some may share one priority (CLONE_IO)."""
        known = {change.tid for change in self._held() if change.pid == pid}
        count = 0
        while new := [tid for tid in threads(pid) if tid not in known]:
            known.update(new)
            changes = [change for tid in new if (change := self._change(tid, pid))]
            self.journal.note(*changes)
            for change in changes:
                with suppress(ProcessLookupError):
                    set_ioprio(change.tid, self.value)
            count += sum(change.old != change.new for change in changes)
        return count

    def strays(self, lineage: Sequence[Change]) -> Iterator[Change]:
        """Yield changes for tasks that inherited our priority but are not in the journal: nobody saw them start.

        Only the daemon sets our level of the idle class. Any other priority may be a task's own choice, so only threads
        and children of processes in `lineage` count there.
        """
        ancestors = [change for change in lineage if isinstance(change, IoPriority) and change.new == self.value]
        known = {(change.tid, change.start_ticks) for change in (*ancestors, *self._held())}
        if self.value != _OUR_IDLE and not ancestors:
            return
        for pid, tid in _all_tasks():
            with suppress(OSError):
                if get_ioprio(tid) != self.value or (identity := identify(tid)) is None:
                    continue
                old = self._inherited(pid, identity, ancestors)
                if old is not None and (tid, identity.start_ticks) not in known:
                    yield self._noted(tid, pid, old)

    def _inherited(self, pid: int, identity: ProcessIdentity, ancestors: list[IoPriority]) -> int | None:
        """Return what a thread with our priority would have without us; None if it may have chosen it itself."""
        origin = origin_of(ancestors, pid, identity)
        if self.value == _OUR_IDLE:
            return origin.old if origin else 0
        return origin.old if origin and origin.pid in (pid, identity.parent) else None

    def _change(self, tid: int, pid: int) -> IoPriority | None:
        """Return the change to make to a thread, even if it has this priority already; None if it is gone."""
        with suppress(OSError):
            old = get_ioprio(tid)
            if old == self.value and (identity := identify(tid)):
                inherited = self._inherited(pid, identity, self._held())
                old = old if inherited is None else inherited
            return self._noted(tid, pid, old)
        return None

    def _noted(self, tid: int, pid: int, old: int) -> IoPriority:
        identity = identify(tid)
        if identity is None or identity.state in "ZX":  # a zombie has no priority
            raise ProcessLookupError
        return IoPriority(
            tid=tid, pid=pid, session=identity.session, start_ticks=identity.start_ticks, old=old, new=self.value
        )

    def _held(self) -> list[IoPriority]:
        return [change for change in self.journal.changes if isinstance(change, IoPriority)]


def measures(names: Iterable[str], config: Config, journal: Journal) -> list[LimitMeasure]:
    """Return the measures of the named policies."""
    root, queue_s, limit_s = cgroup_root(), config.queue_time / NS_PER_S, config.limit_time / NS_PER_S
    makers: dict[str, Callable[[], LimitMeasure]] = {
        "idle": lambda: IoClass(journal, _OUR_IDLE),
        "best-effort-7": lambda: IoClass(journal, _BEST_EFFORT_7),
        "io.weight": lambda: ControlGroup(
            journal,
            root,
            ("io",),
            lambda *_: dict.fromkeys(("io.weight", "io.bfq.weight"), f"default {config.io_weight}"),
        ),
        "io.max": lambda: ControlGroup(
            journal,
            root,
            ("io", "memory"),  # writeback is charged to the group only if its memory is, too
            lambda disk, bandwidth: {
                "io.max": f"{number(DISKS / disk)} wbps={int(bandwidth * config.io_max_percent / 100)}"
            },
        ),
        "memory.high": lambda: ControlGroup(
            journal, root, ("memory",), lambda _, bandwidth: {"memory.high": str(_memory_high(config, bandwidth))}
        ),
        "dirty-bytes": lambda: DirtyBytes(journal, config.dirty_time / NS_PER_S),
        "dirty-bytes-always": lambda: DirtyBytes(journal, config.dirty_time / NS_PER_S, lasting=True),
        "short-queue": lambda: ShortQueue(journal, queue_s),
        "short-queue-always": lambda: ShortQueue(journal, queue_s, lasting=True),
        "strict-limit": lambda: StrictLimit(journal, limit_s),
        "strict-limit-always": lambda: StrictLimit(journal, limit_s, lasting=True),
        "strict-limit-beside": lambda: StrictLimit(journal, limit_s, lasting=True, beside=True),
    }
    return [makers[name]() for name in names]


def _memory_high(config: Config, bandwidth: float) -> int:
    return config.memory_high or max(int(5 * bandwidth * config.dirty_time / NS_PER_S), 8 << 20)


def put_back_strays(journal: Journal, lineage: Sequence[Change]) -> list[str]:
    """Restore processes that inherited a measure unseen. Return descriptions of failures.

    lineage: the journal's changes while their ancestors were held. Looks for the effects of every policy, not only the
    present one: a killed daemon may have used another.
    """
    root = cgroup_root()
    kinds = (
        IoClass(journal, _OUR_IDLE),
        IoClass(journal, _BEST_EFFORT_7),
        ControlGroup(journal, root, (), lambda *_: {}),
    )
    strays = [change for kind in kinds for change in kind.strays(lineage)]
    journal.note(*strays)
    return journal.undo(strays)


def _all_tasks() -> Iterator[tuple[int, int]]:
    """Yield the process and the thread of every task."""
    for pid in psutil.pids():
        for tid in threads(pid):
            yield pid, tid
