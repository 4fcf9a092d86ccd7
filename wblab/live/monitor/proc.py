"""Samples from /proc, for machines where we may not trace, and for what no event shows."""

import ctypes
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from wblab.core.syscalls import checked, libc
from wblab.core.units import Bytes
from wblab.live.monitor.samples import CacheState, Pressure, WrittenSample

# Memory reserved in advance: during a lock-up, an allocation may wait for the disk like everything else.

ENVIRONMENT = {"PYTHONMALLOC": "malloc"}  # Python's objects come from the C library's heap, which `reserve` keeps

_MCL_CURRENT, _MCL_FUTURE = 1, 2
_M_TRIM_THRESHOLD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -4, -8  # malloc.h of glibc


def reserve(heap_bytes: int) -> None:
    """Grow the heap by this much now, and never shrink it; later threads use it too. See mallopt(3).

    A C library without these options keeps its own behaviour.
    """
    mallopt = getattr(libc, "mallopt", None)
    if mallopt is None:
        return
    mallopt(_M_MMAP_MAX, 0)
    mallopt(_M_ARENA_MAX, 1)
    mallopt(_M_TRIM_THRESHOLD, -1)
    libc.malloc.restype = ctypes.c_void_p
    libc.free(ctypes.c_void_p(libc.malloc(ctypes.c_size_t(heap_bytes))))


def lock_all() -> None:
    """Lock all our memory, now and in future, as far as our limit allows (RLIMIT_MEMLOCK).

    See mlockall(2).
    """
    with suppress(OSError):
        checked(libc.mlockall(_MCL_CURRENT | _MCL_FUTURE))


_VMSTAT, PRESSURE = Path("/proc/vmstat"), Path("/proc/pressure/io")
_NS_PER_US = 1000
_UNKNOWN = "unknown"
_PROCESS = re.compile(rb"^Tgid:\s+(\d+)$", re.MULTILINE)


def cache_state(text: bytes, page_bytes: int, at_ns: int) -> CacheState:
    """Return the state in the text of /proc/vmstat, which counts pages; see proc_vmstat(5)."""
    pages = dict(entry.split() for entry in text.splitlines() if entry.startswith((b"nr_dirty", b"nr_writeback ")))
    sizes = {key: Bytes(int(value) * page_bytes) for key, value in pages.items()}
    return CacheState(
        at_ns,
        dirty=sizes[b"nr_dirty"],
        writeback=sizes[b"nr_writeback"],
        background=sizes[b"nr_dirty_background_threshold"],
        threshold=sizes[b"nr_dirty_threshold"],
    )


def stalls_ns(text: bytes) -> tuple[int, int]:
    """Return the totals of `some` and `full` in the text of /proc/pressure/io; Documentation/accounting/psi.rst."""
    some, full = (int(entry.rpartition(b"total=")[2]) * _NS_PER_US for entry in text.splitlines()[:2])
    return some, full


def written_bytes(text: bytes) -> int:
    """Return the bytes that a task wrote, less those cancelled before they reached a disk; /proc/PID/io, proc(5)."""
    values = dict(entry.split(b": ") for entry in text.splitlines())
    return int(values[b"write_bytes"]) - int(values[b"cancelled_write_bytes"])


def task_name(pid: int) -> str:
    """Return the name of a task; `unknown` if it is gone."""
    try:
        return _text(f"/proc/{pid}/comm").decode(errors="replace").rstrip("\n")
    except OSError:
        return _UNKNOWN


def process_of(thread: int) -> int | None:
    """Return the process of a thread; None if it is gone."""
    with suppress(OSError):
        if found := _PROCESS.search(_text(f"/proc/{thread}/status")):
            return int(found[1])
    return None


def _common(name: str) -> str:
    """Return one name for all kernel workers, such as `kworker/u8:2-flush-254:0`."""
    return "kworker" if name.startswith("kworker/") else name


class KeptOpen:
    """A file of /proc that is read repeatedly through one descriptor."""

    def __init__(self, path: Path) -> None:
        """Open it. Raises OSError."""
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """Return its present content. Raises OSError."""
        return os.pread(self._fd, 1 << 16, 0)


def vmstat() -> KeptOpen:
    """Open /proc/vmstat. Raises OSError."""
    return KeptOpen(_VMSTAT)


class IoPressure:
    """I/O pressure since the last call; nothing if the kernel does not measure it."""

    def __init__(self, now_ns: int, pressure: Path = PRESSURE) -> None:
        self._file: KeptOpen | None = None
        with suppress(OSError):
            file = KeptOpen(pressure)
            self._last_ns = (now_ns, *stalls_ns(file.read()))  # fails if pressure accounting is turned off
            self._file = file

    def since_last(self, now_ns: int) -> tuple[Pressure, ...]:
        """Return one sample, or none."""
        if self._file is None:
            return ()
        current_ns = (now_ns, *stalls_ns(self._file.read()))
        passed_ns = [new - old for new, old in zip(current_ns, self._last_ns, strict=True)]
        self._last_ns = current_ns
        return (Pressure(now_ns, *passed_ns),)


def parent_pid(text: bytes) -> int:
    """Return the parent's pid from the text of /proc/PID/stat; see proc(5). A task's name may contain brackets."""
    return int(text.rpartition(b")")[2].split()[1])


def _all_written() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError):
                yield int(name), written_bytes(_text(f"/proc/{name}/io"))


def _parents(written: dict[int, int]) -> dict[int, int]:
    """Return the parents and grandparents of all processes that wrote."""
    parents: dict[int, int] = {}
    for pid in (pid for pid, total in written.items() if total):
        with suppress(OSError):
            child = pid
            while child and child not in parents:
                parents[child] = parent_pid(_text(f"/proc/{child}/stat"))
                child = parents[child]
    return parents


def _text(path: str) -> bytes:
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.read(fd, 1024)
    finally:
        os.close(fd)


@dataclass(frozen=True)
class ProcessTable:
    """What a machine tells of its processes; by default, this one.

    written: bytes by pid, of those whose counters we may read. parents: of those that wrote. name: of a task. of: the
    process of a thread.
    """

    written: Callable[[], Iterable[tuple[int, int]]] = _all_written
    parents: Callable[[dict[int, int]], dict[int, int]] = _parents
    name: Callable[[int], str] = task_name
    of: Callable[[int], int | None] = process_of


_PROCESSES = ProcessTable()


class Writers:
    """Top writers since the last call, among the processes whose counters we may read.

    A parent's counter grows by a child's bytes when it reaps the child; that is subtracted again. The rest was written
    by children that started and exited between two samples.
    """

    def __init__(self, most: int, now_ns: int, processes: ProcessTable = _PROCESSES) -> None:
        """Return at most `most` names each time. processes: those of the machine."""
        self._most, self._processes = most, processes
        self._last_ns = now_ns
        self._written = dict(self._processes.written())
        self._parents = self._processes.parents(self._written)
        self._disks: dict[int, set[str]] = {}  # on which each process was seen to write, while it lives

    def since_last(self, now_ns: int, dirtied: Mapping[int, set[str]] | None = None) -> tuple[WrittenSample, ...]:
        """Return the writers, largest first. dirtied: disks on which threads made pages dirty."""
        current = dict(self._processes.written())
        names: dict[str, int] = {}
        pids: dict[str, list[int]] = {}
        for pid, written in grown(self._written, current, self._parents).items():
            name = _common(self._processes.name(pid))
            names[name] = names.get(name, 0) + written
            pids.setdefault(name, []).append(pid)
        span_ns = now_ns - self._last_ns
        self._last_ns, self._written, self._parents = now_ns, current, self._processes.parents(current)
        self._disks = {pid: disks for pid, disks in self._disks.items() if pid in current}
        gone = self._note(dirtied or {})
        top = sorted(names.items(), key=lambda item: -item[1])[: self._most]
        return tuple(
            WrittenSample(now_ns, span_ns, name, Bytes(written), self._disks_of(pids[name], gone))
            for name, written in top
        )

    def _note(self, dirtied: Mapping[int, set[str]]) -> set[str]:
        """Note which disks processes write to. Return those of exited ones whose bytes a visible parent inherits."""
        gone: set[str] = set()
        for thread, disks in dirtied.items():
            process = self._processes.of(thread)
            (gone if process is None else self._disks.setdefault(process, set())).update(disks)
        return gone

    def _disks_of(self, pids: list[int], gone: set[str]) -> str:
        """Return the disks that all these write to; empty if one of them may write to another."""
        known = [self._disks.get(pid, set()) for pid in pids]
        disks = set().union(*known)
        return ", ".join(sorted(disks)) if all(known) and gone <= disks else ""


def grown(before: dict[int, int], now: dict[int, int], parents: dict[int, int]) -> dict[int, int]:
    """Return how much each process wrote, from the totals by pid before and now, and the parents before."""
    growth = {pid: total - before.get(pid, 0) for pid, total in now.items()}
    for pid in before.keys() - now.keys():
        heir = parents.get(pid)
        while heir is not None and heir not in now:  # it exited too, and its parent has reaped it
            heir = parents.get(heir)
        if heir is not None:
            growth[heir] -= before[pid]
    return {pid: written for pid, written in growth.items() if written > 0}
