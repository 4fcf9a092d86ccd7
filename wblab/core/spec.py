"""The spec: every parameter of a guest and its loads, with its unit."""

from dataclasses import dataclass, field, replace
from typing import Literal

from wblab.core.drivers import DRIVERS, Driver, Scheduler
from wblab.core.freespace import UNTOUCHED
from wblab.core.loads import IoClass, Load
from wblab.core.tables import DEFAULT_NAME, PLAIN
from wblab.core.units import Bytes, BytesPerSecond, Nanoseconds

ClockMode = Literal["virtual", "real"]
_Mapper = Literal["linear", "delay", "flakey", "dust", "crypt"]
DiskModel = Literal["throttle", "device", _Mapper, "raid1", "loop", "file", "ram", "zram", "served"]
Cipher = Literal["cipher_null-ecb", "aes-xts-plain64"]
Workqueues = Literal["both", "reads", "writes", "none"]
Filesystem = Literal["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "fuse", "swap", "none"]
Errors = Literal["all", "reads", "writes", "drop"]
Stalls = Literal["even", "random"]
DiskScheduler = Literal["default", "none", "mq-deadline", "kyber", "bfq"]
Blame = Literal["virtual", "always", "never"]

# In virtual time, the disk is mounted and the loads start at multiples of this. So they do not move with the duration
# of earlier steps, which depends slightly on the host's files.
GRID_NS = 5 * 10**9
LEAST_SEEK_NS = 10**6  # of a disk that rotates: a flash disk finds a place within fractions of a millisecond
DISK = "disk"  # the default name of a single disk


@dataclass(frozen=True, kw_only=True)
class GuestKernel:
    """The guest's kernel; a plain string is its name.

    name: a series that the lab knows, also with variants; empty: the default; after --kernel PATH: that path.
    config: options of its configuration, without CONFIG_ and as Kconfig has them (y, n, a number, a text). They are
    changed after the lab's own, so the kernel is another build.
    parameters: for its command line; "" for one that takes no value.
    """

    name: str = ""
    config: dict[str, int | str] = field(default_factory=dict)
    parameters: dict[str, int | str] = field(default_factory=dict)

    @property
    def build(self) -> str:
        """The name of the build, as --kernel takes it: 7.2+PREEMPT=y."""
        return self.name + "".join(f"+{option}={self.config[option]}" for option in sorted(self.config))


@dataclass(frozen=True, kw_only=True)
class Clock:
    """mode: `virtual` is User Mode Linux's time travel, `real` the host's time.

    syscall_cost: the time that each system call takes in virtual time; it stands for the processor's work.
    """

    mode: ClockMode = "virtual"
    syscall_cost: Nanoseconds = Nanoseconds(25_000)


@dataclass(frozen=True, kw_only=True)
class Disk:
    """A disk under test and its filesystem.

    resident: the limit of the host's memory that it uses, which is allocated as it is written; 0: all its size,
    allocated before the guest boots.
    filesystem: with `none`, loads of the raw kinds use the device itself, or another disk is made of it. `swap` is none
    either: the guest writes a header, and swaps to it (swapon(8)) before the loads start.
    used, layout: the disk's state before the run. used: the share that a file takes, in per cent. layout: how
    fragmented the free space is, from 1 (most) to 5; 6: not at all (see wblab.core.freespace).
    model: `throttle` caps writes through blkio, above the scheduler. `device` is a server below the scheduler, which
    takes `latency` + bytes / `write_bps` for a request. `served` is no disk but a filesystem, `fuse`, that a program
    serves in the same way: each call of a filesystem is a request. The kernel makes all other models of other disks, or
    of memory (see wblab.core.stacks).

    Only `device` has these, `served` the first line of them:
    read_bps: the rate of reads; 0: that of writes. depth: requests served at once, over one bus.
    seek_time: the extra time of a request that does not start where the last one ended.
    stall_every, stall_time, stalls: after each `stall_every` bytes, or at random with this mean, the device stops for
    `stall_time`.
    cache_bytes, drain_bps: a volatile write cache, and its rate to the medium. A flush waits until it is empty.
    erase_block, open_blocks: flash that is written in blocks of this size, so many at a time. A write to another one
    closes the one written longest ago: the device copies what that lacks, at the rate of writes.
    burst_bytes, sustained_bps: what reads and writes may transfer faster than this rate, credits which come back at it.
    iops: reads and writes in a second; one of more than 256 KiB counts as several.

    on: the disks that this one is made of; the spec lists them before it.
    delay: how long `delay` holds each request before it passes it on.
    up, down, errors: from the loads' start on, `flakey` works for `up` and fails for `down`, in turn: requests fail, or
    writes are lost silently (`drop`). The server of `served` answers for `up` and is gone for `down`: requests wait.
    write_cache: whether `served` lets the kernel delay writes (FUSE_WRITEBACK_CACHE); otherwise each waits for it.
    bad: the offsets of 4 KiB blocks that `dust` cannot read until they are written, from the loads' start on.
    cipher: of `crypt`, as dm-crypt names it; the work of either takes no time in virtual time.
    workqueues: which I/O of `crypt` goes through its work queues. The kernel's default is both; no_read_workqueue and
    no_write_workqueue take one out each.
    direct_io: whether a `loop` reads and writes its file around the page cache of the disk below.
    md: attributes of /sys/block/md0/md, set once the array runs (e.g. sync_speed_max).

    driver: whose queue the disk has (see wblab.core.drivers); only `throttle` and `device` have one. `ubd` is User Mode
    Linux's own, without WBT, which no disk of a user has. The others have WBT, unless `queue` sets wbt_lat_usec.
    scheduler: the default is the driver's.
    queue: attributes of /sys/block/ubda/queue, set before the mount (e.g. wbt_lat_usec, nr_requests).
    bdi: attributes of /sys/block/ubda/bdi, or of btrfs's own: the share of the dirty limit (e.g. max_ratio).
    """

    size: Bytes = Bytes(0)
    resident: Bytes = Bytes(0)
    filesystem: Filesystem = "ext4"
    mkfs_options: tuple[str, ...] = ()
    mount_options: tuple[str, ...] = ()
    used: int = 0
    layout: int = UNTOUCHED
    model: DiskModel = "throttle"
    write_bps: BytesPerSecond = BytesPerSecond(0)
    latency: Nanoseconds = Nanoseconds(0)
    read_bps: BytesPerSecond = BytesPerSecond(0)
    depth: int = 1
    seek_time: Nanoseconds = Nanoseconds(0)
    stall_every: Bytes = Bytes(0)
    stall_time: Nanoseconds = Nanoseconds(0)
    stalls: Stalls = "even"
    cache_bytes: Bytes = Bytes(0)
    drain_bps: BytesPerSecond = BytesPerSecond(0)
    erase_block: Bytes = Bytes(0)
    open_blocks: int = 1
    burst_bytes: Bytes = Bytes(0)
    sustained_bps: BytesPerSecond = BytesPerSecond(0)
    iops: int = 0
    on: tuple[str, ...] = ()
    delay: Nanoseconds = Nanoseconds(0)
    up: Nanoseconds = Nanoseconds(0)
    down: Nanoseconds = Nanoseconds(0)
    errors: Errors = "all"
    write_cache: bool = False
    bad: tuple[Bytes, ...] = ()
    cipher: Cipher = "cipher_null-ecb"
    workqueues: Workqueues = "both"
    direct_io: bool = False
    driver: Driver = "ubd"
    scheduler: DiskScheduler = "default"
    queue: dict[str, int | str] = field(default_factory=dict)
    bdi: dict[str, int | str] = field(default_factory=dict)
    md: dict[str, int | str] = field(default_factory=dict)

    @property
    def is_swap(self) -> bool:
        """Whether the guest swaps to it."""
        return self.filesystem == "swap"

    @property
    def has_files(self) -> bool:
        """Whether it has a filesystem, which is mounted."""
        return self.filesystem not in ("none", "swap")

    @property
    def is_hardware(self) -> bool:
        """Whether the host makes the device."""
        return self.model in ("throttle", "device")

    @property
    def elevator(self) -> Scheduler:
        """The I/O scheduler that it has."""
        return DRIVERS[self.driver].scheduler if self.scheduler == "default" else self.scheduler

    @property
    def queue_attributes(self) -> dict[str, int | str]:
        """The attributes of its queue: what its driver sets, and what the spec sets over it."""
        if self.driver == "ubd":
            return self.queue
        queue = DRIVERS[self.driver]
        drivers: dict[str, int | str] = {"rotational": int(queue.rotational or self.seek_time >= LEAST_SEEK_NS)}
        if not queue.flushes:
            drivers["write_cache"] = "write through"
        if self.elevator != "bfq":  # which turns WBT off
            drivers["wbt_lat_usec"] = -1  # the kernel's default: 75 ms if it rotates, otherwise 2 ms
        return drivers | self.queue

    @property
    def is_aged(self) -> bool:
        """Whether it is filled or fragmented before the run."""
        return bool(self.used) or self.layout != UNTOUCHED

    @property
    def resident_bytes(self) -> Bytes:
        """How much of the host's memory it may use."""
        return self.resident or self.size


@dataclass(frozen=True, kw_only=True)
class Trace:
    """events: `system:event`, as trace-cmd takes them; empty: no trace.

    filters, triggers: by event, in the kernel's syntax: which occurrences are recorded (`prev_state != 0`), and what
    else they do (`stacktrace`).
    lead: how long the trace runs before the loads start. buffer: the size of each processor's ring buffer.
    blame: whether to record also what `wblab why` needs, with a larger buffer; by default in virtual time. It has no
    effect without events.
    """

    events: tuple[str, ...] = ()
    filters: dict[str, str] = field(default_factory=dict)
    triggers: dict[str, str] = field(default_factory=dict)
    lead: Nanoseconds = Nanoseconds(0)
    buffer: Bytes = Bytes(1408 * 1024)
    blame: Blame = "virtual"


@dataclass(frozen=True, kw_only=True)
class Cgroup:
    """A control group (version 2) for some loads.

    files: the values of its files, such as memory.max or io.weight, in the kernel's syntax. `{disk}` stands for the
    number of the first disk, `{disk.NAME}` for the number of that disk. Only controllers that a group names are on.
    The group `root` is the root of the hierarchy.
    """

    loads: tuple[str, ...] = ()
    files: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A program of the host that runs in the guest from before the loads' start until after their end.

    argv: `wblab …` is the lab's own command; other programs are found by PATH. The run directory keeps its output.
    """

    argv: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """A disk's attributes, as in Disk; its filesystem is remounted if there are `mount_options`."""

    mount_options: tuple[str, ...] = ()
    queue: dict[str, int | str] = field(default_factory=dict)
    bdi: dict[str, int | str] = field(default_factory=dict)
    md: dict[str, int | str] = field(default_factory=dict)

    @property
    def queue_attributes(self) -> dict[str, int | str]:
        """The attributes of its queue."""
        return self.queue


@dataclass(frozen=True, kw_only=True)
class Priority:
    """A load's I/O priority, as in Load."""

    ioclass: IoClass = "none"
    iolevel: int = 4


@dataclass(frozen=True, kw_only=True)
class Phase:
    """Settings that change at time `at` after the loads' start: sysctls and attributes of disks.

    load: the I/O priorities of running loads. cgroup: groups that are made if missing, with files to set and loads that
    join them. A group does not account for what its loads used before they joined.
    """

    at: Nanoseconds
    sysctl: dict[str, int | str] = field(default_factory=dict)
    disk: dict[str, Attributes] = field(default_factory=dict)
    load: dict[str, Priority] = field(default_factory=dict)
    cgroup: dict[str, Cgroup] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One experiment.

    seed: decides the randomness of the filesystem and of the guest's kernel, and small offsets of the loads' phases.
    memory: what is available when the loads start, free or page cache: limits in per cent are shares of it. What the
    kernel takes comes on top.
    time_limit: guest time after which unfinished loads fail the run. If a load has an `until`, the run ends well then.
    disk: the disks by name, in the order of their devices. A table [disk] without names is one disk.
    stop_order: the order in which loads are stopped after the last offender; loads that it does not name come last.
    may_fail: the loads whose failure does not end the run.
    """

    name: str
    seed: int = 1
    kernel: GuestKernel = field(default=GuestKernel(), metadata={PLAIN: "name"})
    memory: Bytes
    time_limit: Nanoseconds = Nanoseconds(900 * 10**9)
    clock: Clock = Clock()
    disk: dict[str, Disk] = field(metadata={DEFAULT_NAME: DISK})
    sysctl: dict[str, int | str] = field(default_factory=dict)
    trace: Trace = Trace()
    load: dict[str, Load]
    cgroup: dict[str, Cgroup] = field(default_factory=dict)
    agent: dict[str, Agent] = field(default_factory=dict)
    phase: dict[str, Phase] = field(default_factory=dict)
    stop_order: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()

    def on(self, kernel: str) -> "Spec":
        """Return the spec with another kernel by name, and its options and parameters."""
        return replace(self, kernel=replace(self.kernel, name=kernel))

    @property
    def first_disk(self) -> str:
        """The default disk of loads: the first one that is not a part of another, and not swapped to."""
        parts = {part for disk in self.disk.values() if disk.model not in ("loop", "file") for part in disk.on}
        swap = {name for name, disk in self.disk.items() if disk.is_swap}
        return next((name for name in self.disk if name not in parts | swap), next(iter(self.disk)))

    def disk_key(self, name: str) -> str:
        """Return the key of a disk in the spec: disk, or for example disk.fast."""
        return DISK if list(self.disk) == [DISK] else f"disk.{name}"

    def disk_of(self, load: str) -> str:
        """Return the name of a load's disk."""
        return self.load[load].disk or self.first_disk

    @property
    def held_bytes(self) -> Bytes:
        """The memory that loads take before they start; it comes on top of `memory`."""
        return Bytes(sum(load.held_bytes for load in self.load.values()))

    @property
    def swaps(self) -> bool:
        """Whether memory can be swapped to a disk."""
        return any(disk.is_swap for disk in self.disk.values())

    @property
    def ends_at_time_limit(self) -> bool:
        """Whether the run may last until `time_limit` and still succeed, as a load has an `until`."""
        return any(load.has_until for load in self.load.values())

    @property
    def offenders(self) -> list[str]:
        """The names of the offenders, which end by themselves."""
        return [name for name, load in self.load.items() if load.role == "offender"]

    @property
    def needs_lab(self) -> bool:
        """Whether programs of the host run in the guest."""
        return bool(self.agent) or any(load.needs_lab for load in self.load.values())

    @property
    def stops(self) -> list[str]:
        """The names of the other loads, in the order of stopping."""
        others = [name for name in self.load if name not in self.offenders]
        return sorted(others, key=lambda name: self.stop_order.index(name) if name in self.stop_order else len(others))
