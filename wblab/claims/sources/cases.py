"""The runs that claims need: each case is a preset with some keys changed."""

from dataclasses import replace

from wblab.claims.sources.case import Case
from wblab.claims.sources.chadd.claims import CHADD_CASES
from wblab.claims.sources.chopper.claims import CHOPPER_CASES
from wblab.claims.sources.li.cases import LI_CASES
from wblab.claims.sources.stephens.cases import STEPHENS_CASES
from wblab.core.spec import Spec
from wblab.lab.kernelname import with_variants
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec

_OPEN_EVENTS = ("syscalls:sys_enter_openat", "syscalls:sys_exit_openat")

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

_SOON = ("load.l1.wait=4s", "load.l1.size=64KiB", "trace.lead=1s")  # the offender only ends the run
_WRITTEN = ("sysctl.vm.dirty_writeback_centisecs=50", "sysctl.vm.dirty_expire_centisecs=50")
_ALONE = (*_SOON, *_WRITTEN, "load.g1.idle=60s", "load.s1.put_every=0")
_OVERLAP = (*_ALONE, "disk.depth=16", "disk.latency=20ms", "load.s1.idle=4ms", "load.s1.paradigm=aio")
_HDD = ("disk.latency=0", "disk.seek_time=8380us", "disk.write_bps=51MB/s")
_END = "l1={kind='load', file='l1', wait='4s', size='64KiB', block='64KiB'}"
_NO_JOURNAL = ("disk.filesystem=ext2",)  # a journal keeps blocks until a checkpoint
_PUTS = (*_ALONE, "load.s1.put_every=1")
_TWO_FILES = ", ".join(
    f"{name}={{kind='syncwrite', file='{name}', method='none', size='192MiB', block='1MiB', idle='1us'}}"
    for name in ("w1", "w2")
)
_CHUNKS = (
    *("memory=700MiB", "disk.size=480MiB", "disk.write_bps=100MB/s", "disk.latency=0", "disk.seek_time=10ms"),
    *("sysctl.vm.dirty_ratio=0", "sysctl.vm.dirty_background_ratio=0"),
    f"load={{{_TWO_FILES}, l1={{kind='load', file='l1', wait='10s', size='64KiB', block='64KiB'}}}}",
)
_MAP = (*_ALONE, "load.s1.paradigm=mmap", "load.s1.store=packed", "load.s1.cache=kept", "load.s1.idle=5ms")


def _ways(log: str, server: str) -> tuple[str, ...]:
    return f"load.g1.paradigm={log}", f"load.s1.paradigm={server}"


def _reads(block: str) -> tuple[str, ...]:
    load = f"r1={{kind='read', file='r1', size='32MiB', block='{block}', idle='1us', cache='direct'}}"
    return (*_HDD, f"load={{{load}, {_END}}}")


def _repeats(name: str, command: str) -> tuple[str, ...]:
    return (*_ALONE, "load.s1.idle=60s", f"load.{name}={{kind='repeat', idle='200ms', argv=['sh', '-c', '{command}']}}")


def _mapped(order: str) -> tuple[str, ...]:
    load = f"m1={{kind='mapped', file='m1', size='32MiB', idle='5ms', order='{order}'}}"
    return (*_WRITTEN, f"load={{{load}, {_END}}}")


def _dirty(limit: int) -> tuple[str, ...]:
    return f"sysctl.vm.dirty_bytes={limit}", f"sysctl.vm.dirty_background_bytes={limit // 2}"


CASES = (
    {
        "ext2": Case("base-ext2", "the base experiment on ext2 and the throttled disk, as in the thesis", opens=True),
        "ext4": Case("base", "the base experiment on ext4 with its journal and the throttled disk", opens=True),
        "ext4-bfq": Case("base", "the same with BFQ", (_BFQ,)),
        "sync": Case("base-sync", "the base experiment on ext4 mounted sync and the throttled disk"),
        "device": Case(
            "base-device", "the base experiment on ext4 and the device disk, mq-deadline", (), _RELEASES, opens=True
        ),
        "device-bfq": Case("base-device", "the same with BFQ", (_BFQ,), _RELEASES),
        "device-bfq-idle": Case(
            "base-device",
            "the same with BFQ and l1 in the idle class",
            (_BFQ, _IDLE, "load.l2.ioclass=idle"),
            _RELEASES,
        ),
        "group": Case(
            "base-device",
            "the base experiment on the device disk, the offenders in a control group without limits",
            _GROUP,
        ),
        "group-memory": Case("base-device", "the same with a memory limit of 32 MiB", (*_GROUP, _MEMORY)),
        "group-io": Case("base-device", "the same with a limit of half the disk's rate", (*_GROUP, _RATE)),
        "group-all": Case(
            "base-device",
            "the same with the memory limit, BFQ and the idle class",
            (*_GROUP, _MEMORY, _BFQ, _IDLE, "load.l2.ioclass=idle"),
        ),
        "device-daemon": Case(
            "base-device",
            "the base experiment on the device disk with BFQ, and the daemon with its policy idle",
            (_BFQ, "agent.mitigate.argv=['wblab', 'mitigate', '--json', '--policy', 'idle']"),
        ),
        "mirror": Case("mirror", "direct writes and reads on a mirror of two disks during its check"),
        "linear": Case("linear", "a copy to a linear target, through the page cache"),
        "delay-none": Case(
            "linear",
            "a copy to a delay target, through the page cache, without a scheduler",
            ("disk.line={model='delay', on=['a'], delay='5ms', filesystem='none'}", "disk.a.scheduler=none"),
        ),
        "linear-direct": Case("linear", "a copy to a linear target with direct I/O", ("load.l1.through=direct",)),
        "bare": Case("linear", "the same copy to the bare disk, through the page cache", (_BARE,)),
        "linear-ext4": Case(
            "linear", "a copy to a file on ext4 on a linear target", ("disk.line.filesystem=ext4", _COPY)
        ),
        "mapped": Case("base", "the base experiment beside a load that writes to a mapped file", (_MAPPED,)),
        "ext2-1k": Case(
            "linear", "a copy to ext2 with blocks of 1 KiB, on a bare disk that seeks", (_EXT2 % 1024, _COPY)
        ),
        "ext2-4k": Case("linear", "the same with blocks of 4 KiB", (_EXT2 % 4096, _COPY)),
        # At a time the kernel writes half a second's worth of a file, or an eighth of the dirty limit if that is less.
        "chunk-4": Case("loop", "two files overwritten, 4 MiB of each at a time", (*_CHUNKS, *_dirty(24 << 20))),
        "chunk-40": Case("loop", "the same, 40 MiB at a time", (*_CHUNKS, *_dirty(300 << 20))),
        "loop-sync": Case("loop", "loops that do their own I/O, beside an offender"),
        "loop-threads": Case("loop", "the same with threads", _ways("threads", "threads")),
        "loop-some": Case(
            "loop",
            "the same, all calls but write and close in threads",
            (*_ways("threads", "threads"), "load.s1.async_calls=['open', 'read', 'unlink']"),
        ),
        "loop-sendfile": Case("loop", "a log through a pipe, objects by sendfile", _ways("pipe", "sendfile")),
        "pipe-small": Case("loop", "a log through a pipe of 4 KiB", (*_ways("pipe", "threads"), "load.g1.room=4KiB")),
        "aio-one": Case("loop", "POSIX AIO on one descriptor", (*_OVERLAP, "load.s1.store=packed")),
        "aio-many": Case("loop", "POSIX AIO, one descriptor an object", _OVERLAP),
        "reads-512": Case("loop", "random reads of 512 B from a SATA disk", _reads("512B")),
        "reads-64k": Case("loop", "random reads of 64 KiB from a SATA disk", _reads("64KiB")),
        "cold-all": Case(
            "loop",
            "reading an object in its own file on ext2, all caches dropped before",
            _NO_JOURNAL + _repeats("r1", "echo 3 > /proc/sys/vm/drop_caches; cat s1/05/02/00000025 > /dev/null"),
        ),
        "cold-data": Case(
            "loop",
            "the same, directories and inodes cached",
            _NO_JOURNAL + _repeats("r1", "echo 1 > /proc/sys/vm/drop_caches; cat s1/05/02/00000025 > /dev/null"),
        ),
        "raw": Case("loop", "repeated passes over a raw device", _repeats("d1", "head -c 1M /dev/ubda > /dev/null")),
        "raw-direct": Case(
            "loop",
            "the same with direct I/O",
            _repeats("d1", "dd if=/dev/ubda of=/dev/null bs=64k count=16 iflag=direct status=none"),
        ),
        "put-files": Case("loop", "new objects, each in its own file", _PUTS),
        "put-cyclic": Case("loop", "new objects in a cyclic log", (*_PUTS, "load.s1.store=cyclic")),
        "gets": Case("loop", "reads of objects in files, mounted relatime", _ALONE),
        "mapped-order": Case("loop", "pages of a mapped file dirtied in order", _mapped("sequential")),
        "mapped-random": Case("loop", "pages of a mapped file dirtied at random", _mapped("random")),
        "map-ram": Case("loop", "objects in mapped memory, 1 MiB", (*_MAP, "load.s1.objects=64")),
        "map-beyond": Case(
            "loop", "objects in mapped memory, 256 MiB", (*_MAP, "load.s1.objects=16384", "disk.size=300MiB")
        ),
    }
    | CHADD_CASES
    | LI_CASES
    | STEPHENS_CASES
    | CHOPPER_CASES
)


def case_spec(name: str, seed: int, kernel_name: str = "") -> Spec:
    """Return the spec of one run of a case; kernel_name: as the user gives it.

    "" is the default kernel, without what the case needs besides: enough to look at the spec. Raises InputError for a
    kernel that cannot have what the case needs.
    """
    case = CASES[name]
    spec = read_spec(SPECS.find(case.preset), case.settings)
    opens = _OPEN_EVENTS if case.opens else ()
    trace = replace(spec.trace, events=(*spec.trace.events, *case.events, *opens))
    kernel = with_variants(kernel_name, case.kernel) if kernel_name and case.kernel else kernel_name
    return replace(spec, name=name, seed=seed, trace=trace).on(kernel)
