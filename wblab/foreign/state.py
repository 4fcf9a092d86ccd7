"""The state of a machine as stacks of its tasks tell it: who waits behind whom, down to the disk.

A link between two tasks is named only where one task alone can be meant. Which of two journals or disks a program
waits for, a stack does not say.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wblab.analysis.why.onestack import UNKNOWN
from wblab.foreign.judge import SERVED_FILESYSTEMS, Judged, Role

JOURNAL_KINDS = (
    *("journal writes block", "transaction locked", "transaction switching", "open handles", "journal full"),
    *("transaction full", "fast commit", "commit"),
)
WRITEBACK_KINDS = ("throttled", "folio under writeback", "inode under writeback", "flusher")
QUEUE_KINDS = ("request", "write-back throttling")
_XFS_KINDS = ("log space", "log write", "log buffer", "pinned inode", "XFS block locked", "XFS block", "busy extent")
_BTRFS_KINDS = ("btrfs block", "btrfs transaction", "btrfs space", "btrfs extent")
_LAYER_KINDS = ("buffer", "folio under writeback", "folio locked", "direct write", "direct read", "flush", "log write")
_FOR_OTHERS = ("task", "io_uring")  # for a child, a thread, a message: the rule for programs that have nothing to do
_LOCK_KINDS = ("lock", "file lock")
_SCSI_DISKS, _MINORS = ("8",), 16  # Documentation/admin-guide/devices.txt: sda is 8:0, sdb 8:16
_SCSI = re.compile(r"sd(?P<letter>[a-p])\d{0,3}")


@dataclass(frozen=True)
class State:
    """A kind of state, and what the lab has on it.

    what: in words. presets: commands that show it. measured: what ended it in the lab's studies, in a sentence; empty
    if nothing did.
    """

    name: str
    what: str
    presets: tuple[str, ...] = ()
    measured: str = ""


SHORT_QUEUE = (
    "In the lab a queue of 512 KiB for the disk ended most of it: the longest wait of a program that appends became "
    "0.65 s instead of 23.8 s on a slow SD card, the longest commit on a SATA disk 0.49 s instead of 3.4 s."
)
STATES = (
    State(
        "served",
        "the server or program behind a filesystem is slow or gone: this is no disk of this machine",
        ("wblab run served",),
        "In the lab nothing that was set shortened the freezes while a server is gone.",
    ),
    State("frozen", "a filesystem is frozen: whoever froze it, for a snapshot as a rule, must thaw it"),
    State(
        "journal",
        "programs wait for the journal of their filesystem: what holds it up stops all who change files there or sync",
        ("wblab run base-device", "wblab run commit"),
        SHORT_QUEUE,
    ),
    State(
        "dirty limit",
        "dirty memory is at a limit, so all who write are slowed to the rate at which it is written",
        ("wblab run base-device", "wblab run two-disks"),
        "In the lab a strict limit for the slow disk ended it for writers to other disks: 0.04 s instead of 10.2 s. "
        "On one disk a strict limit left 1.6 s instead of 23.7 s, a queue of 512 KiB 3.4 s.",
    ),
    State(
        "XFS log",
        "XFS waits for the disk to write its log, or for room in it",
        ("wblab run commit --set disk.size=400MiB --set disk.filesystem=xfs",),
    ),
    State(
        "btrfs",
        "btrfs waits for its own writes, for a commit or for room",
        ("wblab run base --set disk.size=400MiB --set disk.filesystem=btrfs",),
    ),
    State(
        "sync",
        "sync waits until all data are written that were dirty when it began: as long as that takes",
        (),
        "No setting of the lab shortened it, but less dirty memory does: lower limits, or a limit for the slow disk.",
    ),
    State(
        "pages under writeback",
        "programs wait until pages are written that the disk has not yet done with",
        ("wblab run commit",),
        SHORT_QUEUE,
    ),
    State(
        "queue full",
        "the disk's queue is full",
        ("wblab run commit",),
        SHORT_QUEUE,
    ),
    State("group", "a control group has used up its share of the disk, as it was told to"),
    State("array", "an array of disks does not accept I/O: it resyncs, checks or reshapes", ("wblab run mirror",)),
    State("memory", "memory is short: programs wait for some to become free, which may be writeback's fault or not"),
    State(
        "swap",
        "memory of programs is in swap, and they wait until it is read back, or until other memory is written there",
        ("wblab run swap",),
        "In the lab swap on a fast disk of its own ended it: 0.08 s instead of 5.5 s. So did zram, and a program less.",
    ),
    State("disk", "tasks wait for the disk, or for who has the same page; whose I/O comes first, stacks do not say"),
    State("locks", "tasks wait for locks; who holds them does not wait for a disk in these stacks"),
    State("unknown", "these stacks do not say what the machine waits for"),
)
_BY_NAME = {state.name: state for state in STATES}


@dataclass(frozen=True)
class Told:
    """A state with the links that lead to it, from a program down: each a task, and what it waits for.

    is_end: the last link ends at the disk.
    """

    state: State
    links: tuple[Judged, ...]


def is_held_up(item: Judged) -> bool:
    """Whether a task waits for what it did not choose to wait for, unlike a server for its next request."""
    return item.wait.nature == "waits" and item.wait.kind not in _FOR_OTHERS


def told(tasks: Sequence[Judged]) -> Told:
    """Return the state that tasks are in, with the longest chain of holders that they show."""
    waiting = [item for item in tasks if is_held_up(item)]
    chains = [_chain(item, waiting) for item in waiting if item.wait.kind != UNKNOWN]
    weights = Counter(chain[0].wait.kind for chain in chains if chain[0].role == "program")
    best = max(
        chains,
        key=lambda chain: (
            *(chain[0].role == "program", chain[-1].wait.kind not in _LOCK_KINDS, len(chain)),
            *(weights[chain[0].wait.kind], -chain[0].task.line),
        ),
        default=(),
    )
    return Told(_BY_NAME[_state(waiting, best)], best)


def _state(waiting: Sequence[Judged], chain: Sequence[Judged]) -> str:
    programs = [item for item in waiting if item.role == "program" and item.wait.kind != UNKNOWN] or [
        item for item in waiting if item.wait.kind != UNKNOWN
    ]
    if not programs:
        return "unknown"
    kinds = Counter(item.wait.kind for item in programs)
    everything = {item.wait.kind for item in waiting}
    elsewhere = sum(item.wait.kind == "served" or item.filesystem in SERVED_FILESYSTEMS for item in programs)
    if 2 * elsewhere > len(programs):
        return "served"
    most = _most(kinds, chain)
    of_kinds = (
        (("frozen",), "frozen"),
        (JOURNAL_KINDS, "journal"),
        (("throttled",), "dirty limit"),
        (_XFS_KINDS, "XFS log"),
        (_BTRFS_KINDS, "btrfs"),
        (("flusher",), "sync"),
        (("folio under writeback", "inode under writeback"), "pages under writeback"),
        (("array",), "array"),
        (("group throttled",), "group"),
        (QUEUE_KINDS, "queue full"),
        (("swap-in", "swap-out"), "swap"),
        (("reclaim", "pool"), "memory"),
        (("direct write", "direct read", "flush", "buffer", "folio locked", "direct writes of others"), "disk"),
        (_LOCK_KINDS, "locks"),
    )
    name = next((name for some, name in of_kinds if most in some), "unknown")
    if name == "locks" and (below := [item for some, item in of_kinds[:-1] if everything.intersection(some)]):
        return below[0]
    if name == "pages under writeback" and everything.intersection(JOURNAL_KINDS):
        return "journal"
    return name


def _most(kinds: Counter[str], chain: Sequence[Judged]) -> str:
    """Return the kind that says most of the state: that of most programs but for locks, whose holders say more."""
    known = Counter({kind: count for kind, count in kinds.items() if kind not in _LOCK_KINDS})
    if not known:
        return next(iter(kinds))
    top = max(known.values())
    first = chain[0].wait.kind if chain else ""
    return first if known.get(first) == top else next(kind for kind, count in known.items() if count == top)


def _chain(item: Judged, waiting: Sequence[Judged]) -> tuple[Judged, ...]:
    chain = [item]
    while (following := _holder(chain[-1], waiting)) and following not in chain:
        chain.append(following)
    return tuple(chain)


def _holder(item: Judged, waiting: Sequence[Judged]) -> Judged | None:
    """Return the task that another one waits for, if it is among those that wait and no other can be meant."""
    if item.task.owner:
        return _one(other for other in waiting if other.task.pid == item.task.owner[1])
    if item.filesystem in SERVED_FILESYSTEMS:
        return None
    if item.role != "journal" and item.wait.kind in JOURNAL_KINDS:
        return _one(_of_role(waiting, "journal", item.disk))
    if item.role != "flusher" and item.wait.kind in WRITEBACK_KINDS:
        found = _one(_of_role(waiting, "flusher", item.disk))
        if found or not item.disk:
            return found
    if item.role != "disk" and item.wait.kind in _LAYER_KINDS:  # a device that the kernel makes of another, by a task
        return _one(other for other in waiting if other.role == "disk" and _is_layer(item.disk, other))
    return None


def _is_layer(disk: str, other: Judged) -> bool:
    """Whether a task does the work of a device: of loop0 that of its name, of dm-0 dm-crypt's thread for 253:0.

    That thread's name may be cut after the first digit of its number: then any of dm-crypt may be meant.
    """
    if disk.startswith("loop"):
        return disk == other.disk
    number = other.disk.partition(":")[2]
    is_crypt = other.task.comm.startswith("dmcrypt_write")
    return disk.startswith("dm-") and is_crypt and number in ("", disk.removeprefix("dm-"))


def _of_role(waiting: Iterable[Judged], role: Role, disk: str) -> list[Judged]:
    return [item for item in waiting if item.role == role and not _differ(disk, item.disk)]


def _differ(one: str, other: str) -> bool:
    """Whether two names of disks cannot be of the same disk."""
    first, second = _number(one), _number(other)
    return bool(first and second and first != second)


def _number(disk: str) -> str:
    """Return the number of a SCSI disk, such as 8:16, of its name or of that of its partition; "" if not known."""
    if found := _SCSI.fullmatch(disk):
        return f"8:{_MINORS * (ord(found['letter']) - ord('a'))}"
    major, _, minor = disk.partition(":")
    if major in _SCSI_DISKS and minor.isdecimal() and len(minor) < 4:
        return f"8:{int(minor) // _MINORS * _MINORS}"
    return ""


def _one(found: Iterable[Judged]) -> Judged | None:
    """Return the only task; also of several that are one: the same task, seen more than once."""
    items = list(found)
    return items[-1] if items and len({(item.task.comm, item.task.pid) for item in items}) == 1 else None
