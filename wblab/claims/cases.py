"""The runs that claims need: each case is a preset, with some keys changed."""

from dataclasses import dataclass, replace

from wblab.core.spec import Spec
from wblab.lab.specfile import find_spec, read_spec

_OPEN_EVENTS = ("syscalls:sys_enter_openat", "syscalls:sys_exit_openat")


@dataclass(frozen=True)
class Case:
    """events: traced besides the preset's. opens: also openat, which a run leaves out where the kernel cannot.

    most_seeds: a case that takes long has no more runs than this.
    """

    preset: str
    what: str
    settings: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    opens: bool = False
    most_seeds: int = 1000


_RELEASES = ("writeback:sb_clear_inode_writeback",)
_BFQ, _IDLE = "disk.scheduler=bfq", "load.l1.ioclass=idle"
_GROUP = ("cgroup.offenders.loads=['l1', 'l2']",)
_MEMORY = "cgroup.offenders.files.memory.max=32M"  # half as much again as the dirty threshold
_RATE = "cgroup.offenders.files.io.max='{disk} wbps=524288'"  # half of what the disk can do
_DEVICE = "size='64MiB', model='device', write_bps='4MiB/s', latency='50us'"
_BARE = f"disk={{a={{{_DEVICE}, filesystem='none'}}}}"
_EXT2 = f"disk={{a={{{_DEVICE}, filesystem='ext2', seek_time='10ms', mkfs_options=['-b', '%s']}}}}"
_COPY = "load.l1={kind='load', file='l1', wait='2s', size='40MiB', block='1MiB'}"
_MAPPED = "load.m1={kind='mapped', file='m1', size='1MiB', idle='50ms'}"

CASES = {
    "ext2": Case("base-ext2", "ext2 on the throttled disk, as the thesis ran it", opens=True),
    "ext4": Case("base", "ext4 with its journal on the throttled disk", opens=True),
    "ext4-bfq": Case("base", "the same with BFQ", (_BFQ,)),
    "sync": Case("base-sync", "ext4 mounted sync on the throttled disk", most_seeds=3),
    "device": Case("base-device", "ext4 on the device disk, mq-deadline", (), _RELEASES, opens=True),
    "device-bfq": Case("base-device", "the same with BFQ", (_BFQ,), _RELEASES),
    "device-bfq-idle": Case(
        "base-device", "the same with BFQ and l1 in the idle class", (_BFQ, _IDLE, "load.l2.ioclass=idle"), _RELEASES
    ),
    "group": Case("base-device", "the device disk, the offenders in a control group without limits", _GROUP),
    "group-memory": Case("base-device", "the same with a memory limit of 32 MiB", (*_GROUP, _MEMORY)),
    "group-io": Case("base-device", "the same with a limit of half the disk's rate", (*_GROUP, _RATE)),
    "group-all": Case(
        "base-device",
        "the same with the memory limit, BFQ and the idle class",
        (*_GROUP, _MEMORY, _BFQ, _IDLE, "load.l2.ioclass=idle"),
    ),
    "device-daemon": Case(
        "base-device",
        "the device disk with BFQ, and the daemon with its policy idle",
        (_BFQ, "agent.mitigate.argv=['wblab', 'mitigate', '--json', '--policy', 'idle']"),
        most_seeds=3,
    ),
    "mirror": Case("mirror", "a mirror of two disks that is checked, with direct writes and reads"),
    "linear": Case("linear", "a copy to a linear target, through the page cache"),
    "linear-none": Case("linear", "the same without a scheduler", ("disk.a.scheduler=none",)),
    "linear-direct": Case("linear", "the same around the page cache", ("load.l1.through=direct",)),
    "bare": Case("linear", "the same copy to the bare disk", (_BARE,)),
    "linear-ext4": Case("linear", "a copy to a file on ext4 there", ("disk.line.filesystem=ext4", _COPY)),
    "mapped": Case("base", "the base experiment beside a load that writes to a mapped file", (_MAPPED,)),
    "ext2-1k": Case("linear", "a copy to ext2 with blocks of 1 KiB, on a bare disk that seeks", (_EXT2 % 1024, _COPY)),
    "ext2-4k": Case("linear", "the same with blocks of 4 KiB", (_EXT2 % 4096, _COPY)),
}


def case_spec(name: str, seed: int, kernel_name: str = "") -> Spec:
    """Return the spec of one run of a case; `kernel_name` is how a user names the kernel, "" the default."""
    case = CASES[name]
    spec = read_spec(find_spec(case.preset), case.settings)
    opens = _OPEN_EVENTS if case.opens else ()
    trace = replace(spec.trace, events=(*spec.trace.events, *case.events, *opens))
    return replace(spec, name=name, seed=seed, kernel=kernel_name, trace=trace)
