"""An open trace.dat: its metadata, and its events by type."""

import errno
import os
import re
import stat
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tracecmd import options, ring
from tracecmd.buffers import LostEvents, Walked, walk_buffer
from tracecmd.catalogue import Catalogue
from tracecmd.container import read_contents
from tracecmd.contents import Contents
from tracecmd.errors import TraceError
from tracecmd.events import Events
from tracecmd.formats import EventFormat, parse_fields
from tracecmd.sequence import Sequence as EventSequence
from tracecmd.sequence import in_order
from tracecmd.symbols import Symbols

# Largest ratio of unpacked to compressed size; beyond it a file is taken for hostile.
_UNPACKED_PER_BYTE = 64
_UNPACKED_ALWAYS_BYTES = 64 << 20
# Clocks of kernel/trace/trace.c that count ns.
_NS_CLOCKS = {"local", "global", "perf", "mono", "mono_raw", "boot", "tai", "tsc2nsec"}
UNKNOWN = "<...>"  # name of a task that the kernel no longer knew; trace-cmd writes the same
_PID_LIMIT = 1 << 22  # include/linux/threads.h: PID_MAX_LIMIT
_COMM = re.compile(r"^ *([0-9]{1,9}) (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Info:
    """Metadata of a trace."""

    version: int  # of the file's format
    trace_cmd: str  # the version of trace-cmd that wrote it
    byte_order: str  # "little" or "big"
    long_bytes: int  # of the traced kernel
    page_bytes: int  # of the traced machine's memory
    compression: str
    uname: str
    clock: str  # of the first buffer
    clock_is_ns: bool  # False: `ts_ns` holds the clock's own units
    buffers: tuple[str, ...]
    cpus: int
    options: dict[str, object]


class TraceFile:
    """A trace.dat. Pages are decoded, and columns read, on first use. Raises TraceError for a damaged one."""

    def __init__(self, path: str | os.PathLike[str], limit_bytes: int | None = None) -> None:
        self.path = Path(path)
        # without it, opening a FIFO waits for a writer
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self._close = weakref.finalize(self, os.close, self._descriptor)
        try:
            if not stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is not a regular file", str(self.path))
            size_bytes = os.fstat(self._descriptor).st_size
            limit_bytes = limit_bytes or _UNPACKED_ALWAYS_BYTES + _UNPACKED_PER_BYTE * size_bytes
            self._contents: Contents = read_contents(self._descriptor, str(self.path), limit_bytes)
            header = parse_fields(self._contents.header_page, self._contents.long_bytes)
            layout = ring.PageLayout.of(header, self._contents.order, self._contents.page_bytes)
        except BaseException:
            self.close()
            raise
        self._header = header
        self._long_bytes = layout.used.size  # of the kernel; the file's first header has that of user space
        self._buffers = {buffer.name: buffer for buffer in self._contents.buffers}
        self._walks: dict[str, Walked] = {}
        self._texts: dict[str, str] = {}

    def close(self) -> None:
        """Close the file; columns already read stay valid."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @cached_property
    def info(self) -> Info:
        """Metadata of the trace."""
        contents, said = self._contents, self._contents.options
        clock = next((buffer.clock for buffer in contents.buffers if buffer.clock), said.clock)
        return Info(
            version=contents.version,
            trace_cmd=said.text(options.VERSION),
            byte_order="little" if contents.order == "<" else "big",
            long_bytes=self._long_bytes,
            page_bytes=contents.page_bytes,
            compression=contents.codec.algorithm,
            uname=said.text(options.UNAME),
            clock=clock,
            clock_is_ns=clock in _NS_CLOCKS or said.tsc[0] > 0,
            buffers=tuple(self._buffers),
            cpus=max((len(buffer.cpus) for buffer in contents.buffers), default=0),
            options=said.readable(),
        )

    @cached_property
    def formats(self) -> Catalogue:
        """The formats of all events that the traced kernel knew, as "system:name"."""
        return Catalogue(self._contents.event_formats, self._long_bytes)

    @cached_property
    def comms(self) -> dict[int, str]:
        """Names of tasks by pid, as the kernel remembered them at the end of the trace."""
        found = {0: "<idle>"}
        for pid, name in _COMM.findall(self._contents.cmdlines):
            if 0 < int(pid) <= _PID_LIMIT:
                found[int(pid)] = name
        return found

    def text(self, part: str) -> str:
        """Return "kallsyms" or "printk" (formats of trace_printk()) as recorded; empty if they were not."""
        if part not in self._texts:
            self._check_open()
            self._texts[part] = self._contents.texts[part]()
        return self._texts[part]

    @cached_property
    def symbols(self) -> Symbols:
        """The functions of the traced kernel; none if trace-cmd could not read them."""
        return Symbols(self.text("kallsyms"))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the events that occur in any buffer, sorted."""
        with_events = [name for name, buffer in self._buffers.items() if not buffer.is_text]
        return tuple(sorted(set().union(*(self.counts(name) for name in with_events))))

    def counts(self, buffer: str = "") -> dict[str, int]:
        """Return how often each event occurs in a buffer; an ambiguous name is prefixed by its system."""
        by_type = self._walk(buffer).by_type
        return {self.formats.short(self._occurring(number).key): len(where) for number, where in by_type.items()}

    @cached_property
    def lost(self) -> tuple[LostEvents, ...]:
        """The spans in which events were lost, of all buffers."""
        return tuple(
            item for buffer in self._buffers.values() if not buffer.is_text for item in self._walk(buffer.name).lost
        )

    def events(self, name: str, columns: Sequence[str] = (), buffer: str = "") -> Events:
        """Return the events of one type, "name" or "system:name".

        There may be none. Raises KeyError for a name, column or buffer that the trace does not know.
        """
        format_ = self._format(name)
        walked = self._walk(buffer)
        where = walked.by_type.get(format_.id, np.zeros(0, np.int64))
        entries = walked.entries
        return Events(
            format_,
            walked.data,
            self._contents.order,
            entries.places[where],
            entries.sizes[where],
            walked.ts_ns[where],
            walked.cpu[where],
            self._names_of,
            tuple(columns),
        )

    def sequence(self, buffer: str = "") -> EventSequence:
        """Return all events of a buffer in time order."""
        self.counts(buffer)  # every type that occurs has a format
        return in_order(self._walk(buffer), lambda number: self.events(self._occurring(number).key, buffer=buffer))

    def _format(self, name: str) -> EventFormat:
        found = self.formats.called(name)
        if len(found) == 1:
            return self.formats[found[0]]
        if found:
            raise KeyError(f"several systems have an event {name!r}: use {' or '.join(found)}")
        raise KeyError(f"no event {name!r} in {self.path}: its kernel did not have it, or trace-cmd did not record it")

    def _occurring(self, number: int) -> EventFormat:
        """Return the format of a type that occurs."""
        if number not in self.formats.keys_by_id:
            raise TraceError(f"{self.path} is damaged: an event has type {number}, which has no format")
        return self.formats[self.formats.keys_by_id[number]]

    @cached_property
    def _tasks(self) -> NDArray[np.object_]:
        """Task names by pid, up to the largest pid in `comms`, then one unknown task."""
        names = np.full(max(self.comms) + 2, UNKNOWN, object)
        names[list(self.comms)] = list(self.comms.values())
        return names

    def _names_of(self, pids: NDArray[np.int32]) -> NDArray[np.object_]:
        return self._tasks.take(pids.view(np.uint32), mode="clip")  # any other task: the last, which is unknown

    def _check_open(self) -> None:
        if not self._close.alive:
            raise TraceError(f"{self.path} was closed before this was read")

    def _walk(self, name: str) -> Walked:
        if name not in self._buffers:
            raise KeyError(f"no buffer {name!r} in {self.path}: it has {', '.join(map(repr, self._buffers))}")
        if name not in self._walks:
            self._check_open()
            self._walks[name] = walk_buffer(self._contents, self._buffers[name], self._header)
        return self._walks[name]
