"""The experiment as data: every parameter of the environment and of the loads, with its unit."""

from dataclasses import dataclass, field
from typing import Literal

from wblab.core.freespace import UNTOUCHED
from wblab.core.loads import IoClass, Load
from wblab.core.tables import ALONE
from wblab.core.units import Bytes, BytesPerSecond, Nanoseconds

ClockMode = Literal["virtual", "real"]
DiskModel = Literal["throttle", "device", "linear", "delay", "flakey", "dust", "raid1", "loop", "ram"]
Filesystem = Literal["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "vfat", "exfat", "none"]
Errors = Literal["all", "reads", "writes", "drop"]
Stalls = Literal["even", "random"]
Scheduler = Literal["none", "mq-deadline", "kyber", "bfq"]
Blame = Literal["virtual", "always", "never"]

# In virtual time the disk is mounted and the loads start at multiples of this, so that what came before, which
# differs a little with the host's files, does not move them.
GRID_NS = 5 * 10**9
DISK = "disk"  # the name of a disk that is alone, in a spec that gives it none


@dataclass(frozen=True, kw_only=True)
class Clock:
    """mode: `virtual` is UML time travel, `real` the host's time.

    syscall_cost: what a system call takes when time is virtual; it stands for the processor.
    """

    mode: ClockMode = "virtual"
    syscall_cost: Nanoseconds = Nanoseconds(25_000)


@dataclass(frozen=True, kw_only=True)
class Disk:
    """A disk under test and its filesystem.

    resident: how much memory it may take, which it takes as it is written; 0: all its size, before the guest boots.
    filesystem: `none`, loads of the raw kinds have the device itself, or another disk is made of it.
    used, layout: what the disk is like before the run: how much of it a file has, in per cent, and how the free space
    is cut up, from 1, the most, to 5; 6, not at all (see wblab.core.freespace).
    model: `throttle` caps writes through blkio, above the scheduler; `device` is a server below it that takes
    `latency` + bytes / `write_bps` for a request. All others are no hardware: the kernel makes them of other disks, or
    of memory (see wblab.core.stacks). The keys from `read_bps` to `drain_bps` are of `device` alone:
    read_bps: the rate of reads; 0, that of writes. depth: requests served at once, over one bus.
    seek_time: what a request costs besides that does not begin where the last one ended.
    stall_every, stall_time, stalls: for how long the device stops with so many bytes written, or at random as often.
    cache_bytes, drain_bps: a volatile write cache, and the rate from it to the medium; a flush waits for that.
    on: the disks that this one is made of, in a spec that has them before it. Of single models are:
    delay: how long each request waits before it goes on to the disk below. up, down, errors: from the loads' start on,
    in turn, for so long all is well, and requests fail, or writes are lost without a word (`drop`).
    bad: where blocks of 4 KiB begin that cannot be read until they are written, from the loads' start on.
    md: attributes of /sys/block/md0/md, set once the array runs (e.g. sync_speed_max).
    scheduler: by default what the kernel gives a disk with one queue; what is no hardware has none.
    queue: attributes of /sys/block/ubda/queue, set before the mount (e.g. wbt_lat_usec, nr_requests).
    bdi: the same below /sys/block/ubda/bdi, the disk's share of the dirty limit (e.g. strict_limit, max_ratio).
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
    on: tuple[str, ...] = ()
    delay: Nanoseconds = Nanoseconds(0)
    up: Nanoseconds = Nanoseconds(0)
    down: Nanoseconds = Nanoseconds(0)
    errors: Errors = "all"
    bad: tuple[Bytes, ...] = ()
    scheduler: Scheduler = "mq-deadline"
    queue: dict[str, int | str] = field(default_factory=dict)
    bdi: dict[str, int | str] = field(default_factory=dict)
    md: dict[str, int | str] = field(default_factory=dict)

    @property
    def is_hardware(self) -> bool:
        """Whether it is a device that the host makes."""
        return self.model in ("throttle", "device")

    @property
    def is_aged(self) -> bool:
        """Whether something is done to it before the run, besides making its filesystem."""
        return bool(self.used) or self.layout != UNTOUCHED

    @property
    def resident_bytes(self) -> Bytes:
        """How much memory of the host it may take."""
        return self.resident or self.size


@dataclass(frozen=True, kw_only=True)
class Trace:
    """events: `system:event` as trace-cmd takes them; none, no trace.

    filters, triggers: of an event of these, which of it are recorded, and what is done besides, in the kernel's words:
    `prev_state != 0`, `stacktrace`.
    lead: how long the trace runs before the loads start. buffer: the ring buffer of each processor.
    blame: whether all is recorded too that `wblab why` needs, and a larger buffer taken; by default when time is
    virtual. Without events nothing is recorded.
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

    files: what is written to its files, such as memory.max or io.weight, in the kernel's own words. `{disk}` stands
    for the number of the first disk, `{disk.NAME}` for that of the one of this name. Controllers that no group names
    stay off. The group called `root` is the hierarchy's root.
    """

    loads: tuple[str, ...] = ()
    files: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Agent:
    """A program of the host that runs in the guest beside the loads, from before their start until after their end.

    argv: `wblab …` is the lab's own command; anything else as in the guest's PATH. What it prints is kept in the run.
    """

    argv: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Attributes:
    """Attributes of a disk as in Disk; its filesystem is mounted anew with `mount_options`, if there are any."""

    mount_options: tuple[str, ...] = ()
    queue: dict[str, int | str] = field(default_factory=dict)
    bdi: dict[str, int | str] = field(default_factory=dict)
    md: dict[str, int | str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Priority:
    """A load's I/O priority, as in Load."""

    ioclass: IoClass = "none"
    iolevel: int = 4


@dataclass(frozen=True, kw_only=True)
class Phase:
    """What is set anew so long after the start of the loads, in the kernel's own words: sysctls, disks' attributes.

    load: the I/O priority of running loads. cgroup: groups that are made if they are not there, whose files are set and
    which loads join; what these took before is not counted in them.
    """

    at: Nanoseconds
    sysctl: dict[str, int | str] = field(default_factory=dict)
    disk: dict[str, Attributes] = field(default_factory=dict)
    load: dict[str, Priority] = field(default_factory=dict)
    cgroup: dict[str, Cgroup] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One experiment.

    seed: decides the filesystem's and the guest kernel's randomness and small offsets of the loads' phases.
    kernel: a series that the lab knows; empty, the default; of a run by --kernel PATH, that path. memory: the guest's.
    time_limit: guest time after which loads that still run are a failure; but a run in which one has an `until` ends
    then, and well.
    disk: the disks by their names, in the order of their devices. A table [disk] without names is one disk.
    stop_order: the loads that are stopped once all offenders have ended; empty, all others as listed.
    may_fail: the loads that end at a failure without ending the run.
    """

    name: str
    seed: int = 1
    kernel: str = ""
    memory: Bytes
    time_limit: Nanoseconds = Nanoseconds(900 * 10**9)
    clock: Clock = Clock()
    disk: dict[str, Disk] = field(metadata={ALONE: DISK})
    sysctl: dict[str, int | str] = field(default_factory=dict)
    trace: Trace = Trace()
    load: dict[str, Load]
    cgroup: dict[str, Cgroup] = field(default_factory=dict)
    agent: dict[str, Agent] = field(default_factory=dict)
    phase: dict[str, Phase] = field(default_factory=dict)
    stop_order: tuple[str, ...] = ()
    may_fail: tuple[str, ...] = ()

    @property
    def first_disk(self) -> str:
        """The name of the first disk that is a part of no other, which loads write to that name none."""
        parts = {part for disk in self.disk.values() if disk.model != "loop" for part in disk.on}
        return next((name for name in self.disk if name not in parts), next(iter(self.disk)))

    def disk_key(self, name: str) -> str:
        """Return where a disk's own keys stand in a spec's file: disk, or disk.fast."""
        return DISK if list(self.disk) == [DISK] else f"disk.{name}"

    def disk_of(self, load: str) -> str:
        """Return the name of the disk that a load writes to."""
        return self.load[load].disk or self.first_disk

    @property
    def is_cut(self) -> bool:
        """Whether a load is to be stopped where it stands: then the run lasts until `time_limit`, and ends well."""
        return any(load.is_cut for load in self.load.values())

    @property
    def offenders(self) -> list[str]:
        """The names of the loads that end by themselves."""
        return [name for name, load in self.load.items() if load.role == "offender"]

    @property
    def needs_lab(self) -> bool:
        """Whether programs run in the guest that are not part of the guest's own."""
        return bool(self.agent) or any(load.needs_lab for load in self.load.values())

    @property
    def stops(self) -> list[str]:
        """The names of the other loads, in the order in which they are stopped."""
        others = [name for name in self.load if name not in self.offenders]
        return sorted(others, key=lambda name: self.stop_order.index(name) if name in self.stop_order else len(others))
