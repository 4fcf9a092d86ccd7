"""Captures: trace everything to a ring buffer, and save only the seconds around a pause."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path

from wblab.core.child import describe_exit, fork_child
from wblab.core.errors import WblabError
from wblab.core.syscalls import set_process_name
from wblab.lab.captures import Capture, Lost, write_capture
from wblab.live.runs.pages import Processor, has_lost, page_time_ns, processors, with_lost
from wblab.machine.processes import end_with
from wblab.machine.tracefs import Instance

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

    def save(self, wanted: Capture, keep_ns: int) -> None:
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
                kept = self._save(Capture(**capture), keep_ns, sources, kept)

    def _save(
        self, wanted: Capture, keep_ns: int, sources: Sequence[Processor], kept: list[list[bytes]]
    ) -> list[list[bytes]]:
        """Save a capture. Return the pages that the next one may need, because reading removes them from the buffer."""
        held = [old + source.read() for old, source in zip(kept, sources, strict=True)]
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
        write_capture(self._directory, replace(wanted, start_ns=max([wanted.start_ns, *starts_ns]), lost=lost))
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
