"""Bytes written by each task, from taskstats over generic netlink: polled for live tasks, reported on exit.

Layout: include/uapi/linux/taskstats.h. A request by TGID has no I/O figures (fill_stats_for_tgid in
kernel/taskstats.c), so tasks are requested one by one.

pyroute2 opens the socket, finds the family and registers for exits. Messages are packed and unpacked here: through
pyroute2 one answer takes 0.4 ms of processor time, 10 % of a core for 500 processes every 2 s. pyroute2 runs in a child
process that then ends, as its modules take 14 MB of memory.
"""

import json
import logging
import os
import socket
import struct
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from wblab.core.child import fork_child
from wblab.core.errors import WblabError

_REQUEST = struct.Struct("=IHHII BBxx HHI")  # struct nlmsghdr, struct genlmsghdr, one attribute with the task's id
_NLM_F_REQUEST, _NLMSG_ERROR, _CMD_GET, _ATTR_PID, _TYPE_AGGR_PID = 1, 2, 1, 1, 4
_HEADER = struct.Struct("=IHHII 6xH")  # of an answer, up to the type of its first attribute
_STATS, _STATS_TYPE = 36, 34  # offset of struct taskstats, after message and attribute headers; and its type
_TYPE_NULL = 6  # an empty attribute before it, on processors that need alignment (nla_need_padding_for_64bit)
# comm, pid, ppid, write_bytes, cancelled_write_bytes, tgid; the last since version 12.
_FIELDS = struct.Struct("=32s16xII120xQQ96xI")
_SHORT = struct.Struct("=H")
_FIELDS_OFFSET, _TGID_SINCE = 80, 12
# Version 15 inserted fields among the old ones; version 16 moved them to the end.
_FIELDS_15 = struct.Struct("=32s16xII120xQQ144xI")
_FIELDS_15_OFFSET = 128

_BATCH = 64  # answers wait in the socket's buffer until they are read: limit how many
_BUFFER_BYTES = 8 << 20  # room for about 6000 exits between two reads; the kernel takes the memory only as needed
_SO_RCVBUFFORCE = 33  # asm-generic/socket.h


class Task(NamedTuple):
    """Bytes that a task (a thread) has written in its life. `tgid` is 0 if the kernel does not report it."""

    tid: int
    tgid: int
    parent: int
    name: str
    written_bytes: int
    cancelled_bytes: int


class Taskstats:
    """A taskstats socket. Raises WblabError if there is none, or we may not use it."""

    def __init__(self) -> None:
        self._socket, self._family = _open()
        self._socket.setblocking(False)
        with suppress(OSError):  # not privileged: keep the smaller default
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER_BYTES)
        self._sequence = 0
        self._exited: list[Task] = []
        self.lost = 0  # how often exits arrived faster than they were read, and some were dropped

    def exited(self) -> list[Task]:
        """Return the tasks that have exited since the last call."""
        for _ in self._messages():
            pass  # drop answers to an older request
        exited, self._exited = self._exited, []
        return exited

    def live(self, tids: Iterable[int]) -> Iterator[Task]:
        """Yield what these tasks have written so far; ended tasks are left out."""
        tids = list(tids)
        for start in range(0, len(tids), _BATCH):
            batch = tids[start : start + _BATCH]
            self._sequence += 1
            self._socket.send(b"".join(self._request(tid) for tid in batch))
            left = len(batch)
            for sequence, task in self._messages():
                if sequence == self._sequence:
                    if task:
                        yield task
                    left -= 1
                    if not left:
                        break

    def _request(self, tid: int) -> bytes:
        return _REQUEST.pack(28, self._family, _NLM_F_REQUEST, self._sequence, 0, _CMD_GET, 1, 8, _ATTR_PID, tid)

    def _messages(self) -> Iterator[tuple[int, Task | None]]:
        """Yield the pending answers with their sequence numbers; None for an ended task."""
        receive = self._socket.recv
        while True:
            try:
                message = receive(4096)
            except BlockingIOError:
                return
            except OSError:  # ENOBUFS
                self.lost += 1
                continue
            _, kind, _, sequence, port, attribute = _HEADER.unpack_from(message)
            if kind == self._family and attribute == _TYPE_AGGR_PID:
                task = decode(message)
                if port:
                    yield sequence, task
                else:  # unsolicited: the kernel reports an exit
                    self._exited.append(task)
            elif kind == _NLMSG_ERROR:
                yield sequence, None


def decode(message: bytes) -> Task:
    """Return the task in a kernel message: headers, AGGR_PID { PID, STATS { struct taskstats } }."""
    stats = _STATS
    if _SHORT.unpack_from(message, _STATS_TYPE) == (_TYPE_NULL,):
        stats += 4
    (version,) = _SHORT.unpack_from(message, stats)
    fields, offset = (_FIELDS_15, _FIELDS_15_OFFSET) if version == 15 else (_FIELDS, _FIELDS_OFFSET)
    if version < _TGID_SINCE:  # the struct may be shorter
        message = message.ljust(stats + offset + fields.size, b"\0")
    name, tid, parent, written, cancelled, tgid = fields.unpack_from(message, stats + offset)
    if version < _TGID_SINCE:
        tgid = 0
    return Task(tid, tgid, parent, name[: name.index(0)].decode(errors="replace"), written, cancelled)


def _open() -> tuple[socket.socket, int]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = fork_child(lambda: _send_socket(theirs))
        os.waitpid(pid, 0)
        theirs.close()
        said, descriptors, _, _ = socket.recv_fds(ours, 4096, 1)
    if not descriptors:
        raise WblabError(json.loads(said) if said else "its socket could not be opened")
    return socket.socket(fileno=descriptors[0]), json.loads(said)


def _send_socket(channel: socket.socket) -> None:
    """Open the socket, register it for exits on all processors, and send it with its family's number."""
    from pyroute2.netlink.taskstats import TaskStats

    logging.disable()
    try:
        taskstats = TaskStats()
        taskstats.bind()
        taskstats.get_pid_stat(os.getpid())  # fails at once if we lack permission
        taskstats.register_mask(_processors())
        family, descriptor = taskstats.asyncore.prid, taskstats.asyncore.socket.fileno()
    except Exception as error:  # whatever the library raises: a person reads the reason
        channel.send(json.dumps(str(error) or type(error).__name__).encode())
    else:
        socket.send_fds(channel, [json.dumps(family).encode()], [descriptor])


def _processors() -> str:
    try:
        return Path("/sys/devices/system/cpu/possible").read_text().strip()
    except OSError:  # a uniprocessor kernel
        return "0"
