"""Synthetic traces that explain why a task was blocked, event by event: tasks, stacks and a disk."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from .tracewriter import Ring, TraceWriter, event_format

DEVICE = 98 << 20  # ubda, 98:0
_SWITCH, _WAKING, _STACK, _SUBMIT, _COMPLETE, _DIRTY, _WAIT, _WAIT_FOLIO, _WRITE_INODE = range(300, 309)
_QUEUE, _STATE, _COMMIT, _ENDED, _FORK, _ISSUE, _REMAP, _WROTE_INODE, _BALANCE, _BEGIN = range(309, 319)
_FOLIO_CAME, _FOLIO_LEFT, _REQUEUE = range(319, 322)
_FOLIO = (
    "u64 i_ino 8 8 0\nunsigned long pfn 16 8 0\nunsigned long index 24 8 0\ndev_t s_dev 32 4 0\n"
    "unsigned char order 36 1 0"
)
_FIRST, _APART = 0x60000000, 0x1000  # address of the first function, and the distance between functions
_UNINTERRUPTIBLE, _PREEMPTED = 2, 0x100
_INTERRUPTIBLE = 1  # include/linux/sched.h: TASK_INTERRUPTIBLE
_NOWHERE = (1 << 64) - 1  # the sector at which flushes complete
FORMATS = {
    "sched": [
        event_format(
            "sched_switch",
            _SWITCH,
            "char prev_comm[16] 8 16 1\npid_t prev_pid 24 4 1\nlong prev_state 32 8 1\nchar next_comm[16] 40 16 1\n"
            "pid_t next_pid 56 4 1",
        ),
        event_format("sched_waking", _WAKING, "char comm[16] 8 16 1\npid_t pid 24 4 1"),
        event_format("sched_process_fork", _FORK, "pid_t parent_pid 8 4 1\npid_t child_pid 12 4 1"),
    ],
    "ftrace": [event_format("kernel_stack", _STACK, "int size 8 4 1\nunsigned long caller[8] 16 64 0")],
    "block": [
        event_format(
            "block_bio_submit",
            _SUBMIT,
            "dev_t dev 8 4 0\nunsigned int nr_sector 12 4 0\nsector_t sector 16 8 0\nu64 ino 24 8 0\n"
            "unsigned long index 32 8 0\nchar rwbs[10] 40 10 0",
        ),
        event_format(
            "block_bio_queue",
            _QUEUE,
            "dev_t dev 8 4 0\nsector_t sector 16 8 0\nunsigned int nr_sector 24 4 0\nchar rwbs[8] 28 8 0\n"
            "char comm[16] 36 16 1",
        ),
        event_format(
            "block_rq_complete",
            _COMPLETE,
            "dev_t dev 8 4 0\nunsigned int nr_sector 12 4 0\nsector_t sector 16 8 0\nchar rwbs[8] 24 8 0",
        ),
        event_format(
            "block_rq_issue",
            _ISSUE,
            "dev_t dev 8 4 0\nunsigned int nr_sector 12 4 0\nsector_t sector 16 8 0\nchar rwbs[8] 24 8 0",
        ),
        event_format(
            "block_rq_requeue",
            _REQUEUE,
            "dev_t dev 8 4 0\nunsigned int nr_sector 12 4 0\nsector_t sector 16 8 0\nchar rwbs[8] 24 8 0",
        ),
        event_format(
            "block_bio_remap",
            _REMAP,
            "dev_t dev 8 4 0\nunsigned int nr_sector 12 4 0\nsector_t sector 16 8 0\n"
            "dev_t old_dev 24 4 0\nsector_t old_sector 32 8 0",
        ),
        event_format("block_io_done", _ENDED, "dev_t dev 8 4 0\nsector_t sector 16 8 0"),
        event_format(
            "block_buffer_wait",
            _WAIT,
            "dev_t dev 8 4 0\nint bit 12 4 1\nsector_t block 16 8 0\nsize_t size 24 8 0\nunsigned long state 32 8 0",
        ),
    ],
    "writeback": [
        event_format(
            "writeback_dirty_folio", _DIRTY, "char name[32] 8 32 1\nu64 ino 40 8 0\nunsigned long index 48 8 0"
        ),
        event_format(
            "global_dirty_state",
            _STATE,
            "unsigned long nr_dirty 8 8 0\nunsigned long nr_writeback 16 8 0\nunsigned long background_thresh 24 8 0\n"
            "unsigned long dirty_thresh 32 8 0\nunsigned long dirty_limit 40 8 0",
        ),
        event_format(
            "balance_dirty_pages",
            _BALANCE,
            "char bdi[32] 8 32 1\nu64 cgroup_ino 40 8 0\nunsigned long limit 48 8 0\nunsigned long setpoint 56 8 0\n"
            "unsigned long dirty 64 8 0\nunsigned long wb_setpoint 72 8 0\nunsigned long wb_dirty 80 8 0\n"
            "unsigned long dirty_ratelimit 88 8 0\nunsigned long task_ratelimit 96 8 0\nlong pause 104 8 1\n"
            "unsigned long paused 112 8 0",
        ),
        event_format(
            "folio_wait_writeback", _WAIT_FOLIO, "char name[32] 8 32 1\nino_t ino 40 8 0\nunsigned long index 48 8 0"
        ),
        event_format(
            "writeback_start", _BEGIN, "char name[32] 8 32 1\nint sync_mode 40 4 1\nint for_background 44 4 1"
        ),
        event_format("writeback_single_inode_start", _WRITE_INODE, "char name[32] 8 32 1\nino_t ino 40 8 0"),
        event_format("writeback_single_inode", _WROTE_INODE, "char name[32] 8 32 1\nino_t ino 40 8 0"),
    ],
    "filemap": [
        event_format("mm_filemap_add_to_page_cache", _FOLIO_CAME, _FOLIO),
        event_format("mm_filemap_delete_from_page_cache", _FOLIO_LEFT, _FOLIO),
    ],
    "jbd2": [event_format("jbd2_start_commit", _COMMIT, "dev_t dev 8 4 0\nint transaction 12 4 1")],
}


@dataclass
class Story:
    """Events of one processor, in order. Times are ns and must not decrease."""

    formats: ClassVar[Mapping[str, list[str]]] = FORMATS

    comms: dict[int, str] = field(default_factory=dict)
    start_ns: int = 1_000_000_000
    functions: dict[str, int] = field(default_factory=dict)
    _events: list[tuple[int, bytes]] = field(default_factory=list)
    _ring: Ring = field(default_factory=Ring)
    _losses: set[int] = field(default_factory=set)

    def switch(
        self, ns: int, out: int, into: int, *, stack: Sequence[str] = (), preempted: bool = False, light: bool = False
    ) -> None:
        """Switch a task out (asleep with a stack, preempted, or without a reason), and another one in.

        light: signals would wake it.
        """
        state = _PREEMPTED if preempted else _INTERRUPTIBLE if light else _UNINTERRUPTIBLE if stack else 0
        body = struct.pack("<16si4xq16si", self._comm(out), out, state, self._comm(into), into)
        self._add(ns, _SWITCH, out, body)
        if stack:
            self._stack(ns, out, stack)

    def wake(self, ns: int, by: int, pid: int, stack: Sequence[str] = ()) -> None:
        """Wake a task; `stack` is the waker's."""
        self._add(ns, _WAKING, by, struct.pack("<16si", self._comm(pid), pid))
        if stack:
            self._stack(ns, by, stack)

    def hand_over(self, ns: int, by: int, pid: int, stack: Sequence[str] = (), *, sleep: Sequence[str] = ()) -> None:
        """Wake a task and switch to it at once; with `sleep`, the waker sleeps there."""
        self.wake(ns, by, pid, stack)
        self.switch(ns, by, pid, stack=sleep)

    def fork(self, ns: int, by: int, child: int) -> None:
        """Let a task fork a child."""
        self._add(ns, _FORK, by, struct.pack("<ii", by, child))

    def submit(
        self,
        ns: int,
        by: int,
        sector: int,
        sectors: int,
        *,
        inode: int = 0,
        index: int = 0,
        rwbs: str = "W",
        device: int = DEVICE,
    ) -> None:
        """Submit a bio to the block layer."""
        body = struct.pack("<IIQQQ10s", device, sectors, sector, inode, index, rwbs.encode())
        self._add(ns, _SUBMIT, by, body)

    def queue(self, ns: int, by: int, sector: int, sectors: int, *, rwbs: str = "W", stack: Sequence[str] = ()) -> None:
        """Submit a bio on a kernel that does not report its file."""
        body = struct.pack("<I4xQI8s16s", DEVICE, sector, sectors, rwbs.encode(), self._comm(by))
        self._add(ns, _QUEUE, by, body)
        if stack:
            self._stack(ns, by, stack)

    def issue(self, ns: int, sector: int, sectors: int, by: int = 0, *, rwbs: str = "W") -> None:
        """Issue a request to the disk."""
        self._add(ns, _ISSUE, by, struct.pack("<IIQ8s", DEVICE, sectors, sector, rwbs.encode()))

    def hand_back(self, ns: int, sector: int, sectors: int, by: int = 0) -> None:
        """Have the driver, which can take no more now, hand a request back."""
        self._add(ns, _REQUEUE, by, struct.pack("<IIQ8s", DEVICE, sectors, sector, b"W"))

    def remap(self, ns: int, by: int, device: int, sector: int, *, sectors: int, to: int, below: int = DEVICE) -> None:
        """Let a device remap a bio to a disk, at another sector."""
        self._add(ns, _REMAP, by, struct.pack("<IIQI4xQ", below, sectors, to, device, sector))

    def complete(
        self, ns: int, sector: int, sectors: int, by: int = 0, *, device: int = DEVICE, rwbs: str = ""
    ) -> None:
        """Complete a request."""
        self._add(ns, _COMPLETE, by, struct.pack("<IIQ8s", device, sectors, sector, rwbs.encode()))

    def flush(self, start_ns: int, end_ns: int, by: int) -> None:
        """Let the disk flush its cache, on behalf of a kernel worker."""
        self.issue(start_ns, 0, 0, by, rwbs="FF")
        self.complete(end_ns, _NOWHERE, 0, rwbs="FF")

    def ended(self, ns: int, sector: int, by: int = 0) -> None:
        """Let the kernel finish handling a completed request."""
        self._add(ns, _ENDED, by, struct.pack("<I4xQ", DEVICE, sector))

    def dirty(self, ns: int, by: int, inode: int, index: int, *, bdi: str = "98:0") -> None:
        """Dirty a page of a file."""
        self._add(ns, _DIRTY, by, struct.pack("<32sQQ", bdi.encode(), inode, index))

    def folio(
        self, ns: int, by: int, inode: int, index: int, *, order: int, device: int = DEVICE, is_gone: bool = False
    ) -> None:
        """Let a folio of several pages, two to the power of `order`, come into the page cache or leave it."""
        body = struct.pack("<QQQIB", inode, 0, index, device, order)
        self._add(ns, _FOLIO_LEFT if is_gone else _FOLIO_CAME, by, body)

    def dirty_state(self, ns: int, by: int, dirty: int, written: int, *, thresholds: tuple[int, int]) -> None:
        """Record dirty pages, pages under writeback and both thresholds, in pages; the limit is the second one."""
        self._add(ns, _STATE, by, struct.pack("<5Q", dirty, written, *thresholds, thresholds[1]))

    def balance(
        self,
        ns: int,
        by: int,
        *,
        limit: int,
        setpoint: int,
        dirty: int,
        share: tuple[int, int],
        rates: tuple[int, int] = (0, 100),
        group: int = 1,
        bdi: str = "98:0",
    ) -> None:
        """Throttle a task. share: the device's setpoint and dirty pages; rates: the task's and the device's."""
        body = struct.pack("<32s10Q", bdi.encode(), group, limit, setpoint, dirty, *share, *reversed(rates), 0, 0)
        self._add(ns, _BALANCE, by, body)

    def commit(self, ns: int, by: int, transaction: int) -> None:
        """Let the journal begin to commit."""
        self._add(ns, _COMMIT, by, struct.pack("<Ii", DEVICE, transaction))

    def wait_for_block(self, ns: int, pid: int, block: int) -> None:
        """Record which block a task is about to wait for."""
        self._add(ns, _WAIT, pid, struct.pack("<IiQQQ", DEVICE, 2, block, 1024, 0))

    def wait_for_page(self, ns: int, pid: int, inode: int, index: int) -> None:
        """Record which page of a file a task is about to wait for."""
        self._add(ns, _WAIT_FOLIO, pid, struct.pack("<32sQQ", b"98:0", inode, index))

    def begin_writing(
        self, ns: int, by: int, *, bdi: str = "98:0", is_sync: bool = False, is_background: bool = True
    ) -> None:
        """Let a flusher begin a work, for the background limit or for another reason."""
        self._add(ns, _BEGIN, by, struct.pack("<32sii", bdi.encode(), is_sync, is_background))

    def write_inode(self, ns: int, by: int, inode: int) -> None:
        """Let a flusher begin to write a file."""
        self._add(ns, _WRITE_INODE, by, struct.pack("<32sQ", b"98:0", inode))

    def wrote_inode(self, ns: int, by: int, inode: int) -> None:
        """Let a flusher finish writing a file."""
        self._add(ns, _WROTE_INODE, by, struct.pack("<32sQ", b"98:0", inode))

    def lose(self) -> None:
        """Lose an unknown number of events between the last one and the next."""
        self._losses.add(len(self._events))

    def encode(self) -> bytes:
        """Return the trace."""
        pages, entries, at, length, begin = [], [], self.start_ns, 0, 0
        lost: int | None = None
        for number, (ns, record) in enumerate(self._events):
            entry = self._ring.extend(self.start_ns + ns - at) + self._ring.data(0, record)
            is_loss = number in self._losses
            if is_loss or length + len(entry) > self._ring.page_bytes - self._ring.data_at:
                pages.append(self._ring.page(self.start_ns + begin, entries, lost))
                entries, length, lost = [], 0, -1 if is_loss else None
            if not entries:
                begin = ns
                entry = self._ring.extend(0) + self._ring.data(0, record)
            entries.append(entry)
            length, at = length + len(entry), self.start_ns + ns
        if entries:
            pages.append(self._ring.page(self.start_ns + begin, entries, lost))
        symbols = "".join(f"{address:016x} t {name}\n" for name, address in self.functions.items())
        comms = "".join(f"{pid} {name}\n" for pid, name in self.comms.items())
        return TraceWriter(
            self._ring, formats=dict(self.formats), cmdlines=comms, kallsyms=symbols, buffers={"": [pages]}
        ).encode()

    def _add(self, ns: int, number: int, pid: int, body: bytes) -> None:
        self._events.append((ns, self._ring.record(number, pid, body)))

    def _stack(self, ns: int, pid: int, stack: Sequence[str]) -> None:
        addresses = [self._address(name) + 4 for name in stack]
        self._add(ns, _STACK, pid, struct.pack(f"<i4x{len(stack)}Q", len(stack), *addresses))

    def _address(self, name: str) -> int:
        return self.functions.setdefault(name, _FIRST + _APART * len(self.functions))

    def _comm(self, pid: int) -> bytes:
        return self.comms.get(pid, "").encode()
