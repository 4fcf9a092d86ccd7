"""Pages of a trace instance's ring buffer as the kernel returns them, and the trace.dat made from them.

Why not `trace-cmd record` and `trace-cmd extract`? The first writes /proc/sys/kernel/ftrace_enabled, which some hosts
forbid. The second, asked for one instance, also drains the top buffer and turns off others' events there (seen with
3.1.6). `trace-cmd restore` only reads, and puts raw pages into a trace.dat with the kernel's formats.
"""

import fcntl
import os
import re
import struct
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from wblab.core.errors import WblabError
from wblab.machine.tracefs import Instance

_DATA = re.compile(r"field: char data;\s+offset:(\d+);\s+size:(\d+);")
_LOST = 1 << 31  # include/linux/ring_buffer.h, kernel/trace/ring_buffer.c: RB_MISSED_EVENTS
_COMMIT = 8  # offset of the lower half of "commit", with flags
_PIPE_BYTES = 1 << 20


class Processor:
    """The ring buffer of one processor."""

    def __init__(self, directory: Path, page_bytes: int) -> None:
        """Raises OSError."""
        self._descriptor = os.open(directory / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        self._page_bytes = page_bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self._descriptor)

    def move_full(self, pipe: tuple[int, int], to: int) -> int:
        """Move full pages to a file through a pipe. Return the number of bytes. Raises OSError."""
        try:
            moved = os.splice(self._descriptor, pipe[1], _PIPE_BYTES, flags=os.SPLICE_F_NONBLOCK)
        except BlockingIOError:
            return 0
        left = moved
        while left:
            left -= os.splice(pipe[0], to, left)
        return moved

    def read(self) -> list[bytes]:
        """Return what was traced up to now; a page that is not full ends in zeros. Raises OSError."""
        pages: list[bytes] = []
        until_ns = time.monotonic_ns()  # the instance's clock
        while not pages or page_time_ns(pages[-1]) < until_ns:  # without this it would never end on a busy processor
            try:
                page = os.read(self._descriptor, self._page_bytes)
            except BlockingIOError:
                break
            if not page:
                break
            pages.append(page.ljust(self._page_bytes, b"\0"))
        return pages


def processors(instance: Instance) -> list[Processor]:
    """Return the ring buffers of an instance, ordered by processor. Raises OSError."""
    match = _DATA.search((instance.path / "events" / "header_page").read_text())
    page_bytes = int(match[1]) + int(match[2]) if match else os.sysconf("SC_PAGE_SIZE")
    found = sorted(instance.path.glob("per_cpu/cpu*"), key=lambda path: int(path.name[3:]))
    return [Processor(path, page_bytes) for path in found]


def has_lost(page: bytes) -> bool:
    """Whether events were lost before a page: the buffer was full, and the oldest were overwritten."""
    word: int = struct.unpack_from("=I", page, _COMMIT)[0]
    return bool(word & _LOST)


def with_lost(page: bytes) -> bytes:
    """Return the page with a mark that events before it were lost."""
    word: int = struct.unpack_from("=I", page, _COMMIT)[0]
    return page[:_COMMIT] + struct.pack("=I", word | _LOST) + page[_COMMIT + 4 :]


def page_time_ns(page: bytes) -> int:
    """Return the time of a page's first event, in ns."""
    time_ns: int = struct.unpack_from("=Q", page)[0]
    return time_ns


def open_pipe() -> tuple[int, int]:
    """Return the two ends of a pipe that holds many pages, if we may have such a pipe."""
    reader, writer = os.pipe()
    with suppress(OSError):  # a user's limit
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return reader, writer


def put_together(tracecmd: str, files: Sequence[Path], output: Path, symbols: Path = Path(os.devnull)) -> None:
    """Make a trace.dat from the pages of each processor, and remove these. Raises WblabError.

    symbols: the kernel's, in the form of /proc/kallsyms; none for a trace without stacks.
    """
    partial = output.with_name(f".{output.name}.partial")
    try:
        _run(tracecmd, "restore", "-c", "-k", str(symbols), "-o", str(partial))
        _run(tracecmd, "restore", "-i", str(partial), "-o", str(output), *map(str, files))
    finally:
        for path in (partial, *files):
            path.unlink(missing_ok=True)


def _run(*command: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        said = " / ".join(done.stderr.strip().splitlines()[-2:]) or f"exit code {done.returncode}"
        raise WblabError(f"'{command[0]} {command[1]}' could not write the trace: {said}")
