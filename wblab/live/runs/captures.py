"""Captures: trace everything to a ring buffer, and save only the seconds around a pause."""

import fcntl
import json
import os
import re
import struct
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

from wblab.core.child import describe_exit, fork_child
from wblab.core.errors import WblabError
from wblab.core.syscalls import set_process_name
from wblab.lab.captures import CapturedPause, Lost, write_capture
from wblab.machine.memberships import tasks_by_group
from wblab.machine.processes import end_with
from wblab.machine.tracefs import Instance

# Pages of a trace instance's ring buffer as the kernel returns them, and the trace.dat made from them.
#
# Why not `trace-cmd record` and `trace-cmd extract`? The first writes /proc/sys/kernel/ftrace_enabled, which some hosts
# forbid. The second, asked for one instance, also drains the top buffer and turns off others' events there (seen with
# 3.1.6). `trace-cmd restore` only reads, and puts raw pages into a trace.dat with the kernel's formats.

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


# System calls that a filesystem or the page cache can delay. Tracing read(2) and its like would fill the buffer alone.
BLOCKING = (
    *("open", "openat", "openat2", "creat", "close", "write", "writev", "pwrite64", "pwritev", "pwritev2"),
    *("sendfile", "copy_file_range", "fallocate", "truncate", "ftruncate", "fsync", "fdatasync", "sync", "syncfs"),
    *("sync_file_range", "msync", "rename", "renameat", "renameat2", "link", "linkat", "symlink", "unlink"),
    *("unlinkat", "mkdir", "mkdirat", "rmdir"),
)
SYSTEMS = ("writeback", "block", "sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup_new")
# Emitted for each metadata block looked up and each page written: nine of ten events, of no use for a pause.
TOO_MANY = (
    *("block:block_touch_buffer", "block:block_dirty_buffer"),
    *("ext4:ext4_es_lookup_extent_enter", "ext4:ext4_es_lookup_extent_exit", "ext4:ext4_da_reserve_space"),
    *("ext4:ext4_es_insert_extent", "ext4:ext4_es_insert_delayed_extent", "ext4:ext4_es_insert_delayed_block"),
)
# Stacks of the sleeper and of the waker, for `wblab why`.
STACKS = {"sched:sched_switch": "stacktrace if prev_state & 255", "sched:sched_waking": "stacktrace"}
# Whether a rate limit had held what a kernel worker submits: only its stack tells. Not all kernels have the trigger.
SUBMITTED = {"block:block_bio_queue": 'stacktrace if comm ~ "kworker*"'}
_NO_MORE = b"\n"
_JOURNALS = {"ext3": ("ext4", "jbd2"), "ext4": ("ext4", "jbd2")}


def capture_events(filesystem: str) -> list[str]:
    """Return the events of a capture that the kernel may have."""
    calls = [f"syscalls:sys_{side}_{name}" for name in BLOCKING for side in ("enter", "exit")]
    return [*SYSTEMS, *_JOURNALS.get(filesystem, (filesystem,)), *calls]


Put = Callable[[Sequence[Path], Path, Path], None]  # puts files of pages into a trace, with symbols


class CaptureBuffer:
    """An instance that always traces, and a process that saves captures from its buffer."""

    def __init__(self, instance: Instance, directory: Path, put: Put, most_bytes: int, functions: str = "") -> None:
        """put: puts files of pages together. most_bytes: kept of each processor for later captures.

        functions: of the kernel, for its stacks.
        """
        self._instance, self._directory, self._put, self._most_bytes = instance, directory, put, most_bytes
        self._functions = functions
        self._taker, self._wanted = 0, -1

    def start(self) -> None:
        """Start to trace. Raises OSError."""
        reader, self._wanted = os.pipe()
        parent = os.getpid()

        def task() -> None:
            os.close(self._wanted)
            end_with(parent)
            os.setpgid(0, 0)  # the terminal's signals are for our parent
            set_process_name("wblab-captures")
            self._take(reader)

        self._taker = fork_child(task)
        os.close(reader)
        self._instance.start()

    def save(self, wanted: CapturedPause, keep_ns: int) -> None:
        """Save a capture whose span has ended. Raises OSError.

        keep_ns: keep what was traced from then on for later captures. It may lie far back: a pause in progress began
        some time ago, and is captured when it ends.
        """
        os.write(self._wanted, json.dumps([asdict(wanted), keep_ns]).encode() + b"\n")

    def stop(self) -> None:
        """Save what was requested, then stop tracing. Raises OSError, WblabError."""
        os.write(self._wanted, _NO_MORE)  # closing is not enough: loads that were forked later have this end too
        os.close(self._wanted)
        _, status = os.waitpid(self._taker, 0)
        self._instance.stop()
        if status:
            raise WblabError(f"the process that saves pauses died with {describe_exit(status)}")

    def _take(self, wanted: int) -> None:
        with ExitStack() as stack:
            sources = [stack.enter_context(source) for source in processors(self._instance)]
            kept: list[list[bytes]] = [[] for _ in sources]
            for line in iter(stack.enter_context(os.fdopen(wanted)).readline, _NO_MORE.decode()):
                capture, keep_ns = json.loads(line)
                kept = self._save(CapturedPause(**capture), keep_ns, sources, kept)

    def _save(
        self, wanted: CapturedPause, keep_ns: int, sources: Sequence[Processor], kept: list[list[bytes]]
    ) -> list[list[bytes]]:
        """Save a capture. Return the pages that the next one may need, because reading removes them from the buffer."""
        held = [old + source.read() for old, source in zip(kept, sources, strict=True)]
        groups = tasks_by_group()  # after the buffers, which overwrite their oldest; before all else, as tasks end
        chosen = [between(pages, wanted.start_ns, wanted.end_ns) for pages in held]
        starts_ns = [page_time_ns(pages[0]) for pages in chosen if pages and has_lost(pages[0])]
        files = [self._directory / f".{wanted.stem}.{number}" for number in range(len(chosen))]
        for file, pages in zip(files, chosen, strict=True):
            file.write_bytes(b"".join(pages))
        symbols = self._directory / f".{wanted.stem}.functions"
        symbols.write_text(self._functions)
        try:
            self._put(files, self._directory / wanted.trace, symbols)
        finally:
            symbols.unlink()
        lost = tuple(sorted(span for pages in chosen for span in lost_between(pages)))
        start_ns = max([wanted.start_ns, *starts_ns])
        write_capture(self._directory, replace(wanted, start_ns=start_ns, lost=lost, groups=groups))
        return [late(pages, keep_ns, self._most_bytes) for pages in held]


def between(pages: Sequence[bytes], start_ns: int, end_ns: int) -> list[bytes]:
    """Return the pages with events of a span. A page's span ends where the next page begins."""
    times_ns = [page_time_ns(page) for page in pages]
    nexts_ns = [*times_ns[1:], end_ns][: len(pages)]
    return [page for page, at, then in zip(pages, times_ns, nexts_ns, strict=True) if at <= end_ns and then >= start_ns]


def late(pages: Sequence[bytes], keep_ns: int, most_bytes: int) -> list[bytes]:
    """Return the pages with events since `keep_ns`, or only the last ones if they exceed `most_bytes`.

    The first page then carries the kernel's mark of lost events.
    """
    kept = between(pages, keep_ns, page_time_ns(pages[-1])) if pages else []
    if not kept or len(kept) <= (most := max(1, most_bytes // len(kept[0]))):
        return kept
    return [with_lost(kept[-most]), *kept[len(kept) - most + 1 :]]


def lost_between(pages: Sequence[bytes]) -> list[Lost]:
    """Return the longest possible spans in which events of a processor were lost: from page to page."""
    return [Lost(page_time_ns(one), page_time_ns(next_)) for one, next_ in pairwise(pages) if has_lost(next_)]
