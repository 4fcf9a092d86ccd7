"""Synthetic traces of synchronous writes, showing where their time went: system calls, a queue and a journal."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from .blametraces import DEVICE, FORMATS, Story
from .tracewriter import event_format

WRITE, FSYNC = 18, 74
_ENTER, _EXIT, _INSERT, _ISSUE, _COMPLETE, _PHASE = range(320, 326)
_JBD2 = ("start_commit", "commit_locking", "commit_flushing", "commit_logging", "end_commit")
_SYNC_ENTER, _SYNC_EXIT = 340, 341
_REQUEST = "dev_t dev 8 4 0\nunsigned int nr_sector 12 4 0\nsector_t sector 16 8 0\nchar rwbs[10] 24 10 0"
_BLOCK = [text for text in FORMATS["block"] if "block_rq_complete" not in text]


@dataclass
class WriteStory(Story):
    """A story of a task that writes and waits, with each of its system calls."""

    formats: ClassVar[Mapping[str, list[str]]] = {
        **FORMATS,
        "raw_syscalls": [
            event_format("sys_enter", _ENTER, "long id 8 8 1"),
            event_format("sys_exit", _EXIT, "long id 8 8 1\nlong ret 16 8 1"),
        ],
        "block": [
            *_BLOCK,
            event_format("block_rq_insert", _INSERT, _REQUEST),
            event_format("block_rq_issue", _ISSUE, _REQUEST),
            event_format("block_rq_complete", _COMPLETE, _REQUEST),
        ],
        "jbd2": [event_format(f"jbd2_{name}", _PHASE + place, "dev_t dev 8 4 0") for place, name in enumerate(_JBD2)],
        "ext4": [
            event_format("ext4_sync_file_enter", _SYNC_ENTER, "dev_t dev 8 4 0"),
            event_format("ext4_sync_file_exit", _SYNC_EXIT, "dev_t dev 8 4 0"),
        ],
    }

    def enter(self, ns: int, pid: int, number: int) -> None:
        """Begin a system call."""
        self._add(ns, _ENTER, pid, struct.pack("<q", number))

    def leave(self, ns: int, pid: int, number: int) -> None:
        """End a system call."""
        self._add(ns, _EXIT, pid, struct.pack("<qq", number, 0))

    def insert(self, ns: int, by: int, sector: int, sectors: int, rwbs: str = "W") -> None:
        """Insert a request into the queue."""
        self._add(ns, _INSERT, by, _request(sector, sectors, rwbs))

    def issue(self, ns: int, by: int, sector: int, sectors: int, rwbs: str = "W") -> None:
        """Issue a request to the device; "FF" is a flush without data."""
        self._add(ns, _ISSUE, by, _request(sector, sectors, rwbs))

    def complete(self, ns: int, sector: int, sectors: int, by: int = 0, rwbs: str = "W") -> None:
        """Complete a request."""
        self._add(ns, _COMPLETE, by, _request(sector, sectors, rwbs))

    def flush(self, start_ns: int, end_ns: int, by: int) -> None:
        """Record a flush of the device."""
        self.issue(start_ns, by, 0, 0, "FF")
        self.complete(end_ns, (1 << 64) - 1, 0, rwbs="FF")

    def phase(self, ns: int, by: int, name: str) -> None:
        """Begin a phase of the journal task's commit."""
        self._add(ns, _PHASE + _JBD2.index(name), by, struct.pack("<I", DEVICE))

    def sync_file(self, ns: int, pid: int, *, end: bool = False) -> None:
        """Begin or end ext4_sync_file()."""
        self._add(ns, _SYNC_EXIT if end else _SYNC_ENTER, pid, struct.pack("<I", DEVICE))


def _request(sector: int, sectors: int, rwbs: str) -> bytes:
    return struct.pack("<IIQ10s", DEVICE, sectors, sector, rwbs.encode())
