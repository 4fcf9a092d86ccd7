"""A filesystem that a process of the guest serves (FUSE), as a server in the network or another program serves one.

The server answers a request `latency` + bytes / `write_bps` after it read it, or later if it is gone meanwhile. A
request costs it up to six system calls besides, 25 µs each in virtual time. The kernel's own limits hold: fs/fuse gives
such a filesystem a strict limit of 1 % of the dirty limit, and 12 requests in the background.
"""

import errno
import mmap
import os
import select
import signal
import stat
import struct
import time
from array import array
from collections.abc import Iterable

from wblab.core import layout
from wblab.core.child import fork_child
from wblab.core.npy import head
from wblab.core.rundir import SERVED_COLUMNS, served_requests, server_name
from wblab.core.spec import Disk
from wblab.core.stacks import OF_SERVED
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, mount, set_process_name, set_timer_slack
from wblab.core.units import NS_PER_S
from wblab.guest.servedfiles import (
    INIT,
    MOST_WRITE,
    READ,
    UNANSWERED,
    WRITE,
    WRITE_IN_BYTES,
    Files,
    Refused,
    is_of_cache,
    place_of,
)

_DEVICE = "/dev/fuse"
_KEPT = 64  # requests that are recorded together: each write to the record costs a system call
_GONE = (errno.ENODEV, errno.ECONNABORTED)  # it is unmounted, or was aborted
_IN = struct.Struct("<IIQQIIII")  # fuse_in_header: length, opcode, number of the request, node, uid, gid, pid, -
_OUT = struct.Struct("<IiQ")  # fuse_out_header: length, error, number of the request


class Server:
    """The server of a filesystem, a process of its own."""

    def __init__(self, name: str, disk: Disk) -> None:
        self._name, self._disk, self._pid = name, disk, 0
        self._start = mmap.mmap(-1, mmap.PAGESIZE)  # shared with its process: when the loads start

    def serve(self, flags: int, options: str) -> None:
        """Mount the filesystem and start its process. flags, options: of mount(2), by the spec. Raises OSError."""
        fd = os.open(_DEVICE, os.O_RDWR | os.O_NONBLOCK)
        given = f"fd={fd},rootmode={stat.S_IFDIR:o},user_id=0,group_id=0,default_permissions"
        place = layout.mount_point(self._name)
        mount(self._name, place, OF_SERVED, MS_NOSUID | MS_NODEV | flags, f"{given},{options}".rstrip(","))
        self._pid = fork_child(lambda: _run(self._name, self._disk, fd, self._start))
        os.close(fd)  # so that the kernel fails all requests should the process end

    def begin(self, start_ns: int) -> None:
        """Tell it when the loads start, in ns of CLOCK_MONOTONIC: its `up` and `down` count from then."""
        self._start[:8] = start_ns.to_bytes(8, "little")

    def abandon(self) -> None:
        """End it if it is gone now: the kernel then fails all its requests, so that nobody waits for it any more."""
        now_ns = time.monotonic_ns()
        if Times(self._disk, self._start).after(now_ns, 0) > now_ns:
            os.kill(self._pid, signal.SIGTERM)

    def ended(self) -> None:
        """Wait for its end, which follows that of the mount."""
        os.waitpid(self._pid, 0)


def _run(name: str, disk: Disk, fd: int, start: mmap.mmap) -> None:
    set_process_name(server_name(name))
    set_timer_slack(1)  # ns; by default each of its sleeps may take 50 µs more
    signal.signal(signal.SIGTERM, _abandoned)
    record = os.open(layout.SCRATCH / served_requests(name), os.O_WRONLY | os.O_CREAT)
    log = _Log(record)
    try:
        _answer_all(Times(disk, start), Files(disk.size, write_cache=disk.write_cache), disk.depth, fd, log)
    except _Abandoned:
        os.close(fd)
    log.write()


class _Abandoned(BaseException):
    """PID 1 ends the server."""


def _abandoned(*_: object) -> None:
    raise _Abandoned


class _Log:
    """The requests that were answered, in the columns that the run directory has of them."""

    def __init__(self, record: int) -> None:
        self._record, self._rows, self._count = record, array("q"), 0

    def add(self, row: Iterable[int]) -> None:
        self._rows.extend(row)
        if len(self._rows) >= _KEPT * len(SERVED_COLUMNS):
            self.write()

    def write(self) -> None:
        start = head(0)
        os.pwrite(self._record, self._rows.tobytes(), len(start) + 8 * self._count)
        self._count += len(self._rows)
        self._rows = array("q")
        os.pwrite(self._record, head(self._count), 0)


class Times:
    """When a server answers: the bytes of all requests take one way to it, and nothing passes while it is gone."""

    def __init__(self, disk: Disk, start: mmap.mmap | bytes) -> None:
        self._disk, self._start, self._free_ns = disk, start, 0

    def answered(self, now_ns: int, written: int, read: int) -> int:
        """Return when a request that arrives now is answered. written, read: its bytes."""
        rate, of_reads = self._disk.write_bps, self._disk.read_bps or self._disk.write_bps
        transfer_ns = written * NS_PER_S // rate + read * NS_PER_S // of_reads
        self._free_ns = self.after(max(now_ns, self._free_ns), transfer_ns)
        return self.after(self._free_ns, self._disk.latency)

    def after(self, from_ns: int, work_ns: int) -> int:
        """Return when work that begins at a time is done, with the time for which the server is gone meanwhile."""
        up, down, since_ns = self._disk.up, self._disk.down, from_ns - self._start_ns
        if not down or not self._start_ns:
            return from_ns + work_ns
        done_ns = since_ns - self.gone_ns(from_ns) + work_ns  # of the time that it was there
        return self._start_ns + done_ns + max(0, done_ns // up) * down

    def gone_ns(self, until_ns: int) -> int:
        """Return for how long the server was gone up to a time, in ns."""
        up, down, since_ns = self._disk.up, self._disk.down, until_ns - self._start_ns
        if not down or not self._start_ns or since_ns < 0:
            return 0
        return since_ns // (up + down) * down + max(0, since_ns % (up + down) - up)

    @property
    def _start_ns(self) -> int:
        return int.from_bytes(self._start[:8], "little")


def _answer_all(times: Times, files: Files, depth: int, fd: int, log: _Log) -> None:
    """Answer requests until the filesystem is unmounted."""
    buffer = bytearray(MOST_WRITE + 4096)
    now, wall_ns = time.monotonic_ns, time.time_ns() - time.monotonic_ns()
    row: tuple[int, ...]
    waiting: list[tuple[int, int, bytes, tuple[int, ...]]] = []  # when to answer, number, answer, row of the record
    now_ns = now()
    while True:
        until_s = max(0, waiting[0][0] - now_ns) / NS_PER_S if waiting else None
        is_ready = select.select([fd] if len(waiting) < depth else [], [], [], until_s)[0]
        now_ns = now()
        try:
            if is_ready:
                size = os.readv(fd, [buffer])
                _, code, unique, node, _, _, pid, _ = _IN.unpack_from(buffer)
                body = memoryview(buffer)[_IN.size : size]
                error, answer = _answer(files, code, node, body, now_ns + wall_ns)
                written, read = (len(body) - WRITE_IN_BYTES if code == WRITE else 0), len(answer) if code == READ else 0
                if code not in UNANSWERED:
                    at_ns = now_ns if code == INIT else times.answered(now_ns, written, read)
                    whose = 0 if is_of_cache(code, body) else pid
                    row = (unique, code, node, whose, place_of(code, body), written + read, now_ns)
                    waiting.append((at_ns, unique, _OUT.pack(_OUT.size + len(answer), -error, unique) + answer, row))
                    waiting.sort()
            while waiting and waiting[0][0] <= now_ns:
                _, _, answer, row = waiting.pop(0)
                log.add((*row, now_ns, times.gone_ns(now_ns) - times.gone_ns(row[-1])))
                os.write(fd, answer)
        except OSError as error:
            if error.errno in _GONE:
                return
            if error.errno not in (errno.EAGAIN, errno.ENOENT):  # whoever asked was killed: nobody waits any more
                raise


def _answer(files: Files, code: int, node: int, body: memoryview, wall_ns: int) -> tuple[int, bytes]:
    """Return the error number of an answer, 0 for none, and what follows its header."""
    try:
        return 0, files.answer(code, node, body, wall_ns)
    except Refused as refused:
        return refused.number, b""
