"""Checks of a spec before anything boots."""

import re
from collections.abc import Mapping

from wblab.core.drivers import FEWEST_REQUESTS
from wblab.core.errors import InputError, nearest
from wblab.core.freespace import UNTOUCHED
from wblab.core.parameters import check_argv, check_iolevel
from wblab.core.spec import Cgroup, Disk, Spec, Trace
from wblab.core.stackcheck import check_memory_disks, check_stack
from wblab.core.stacks import part_of, size_bytes
from wblab.core.units import format_bytes, format_time

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CGROUP_FILE = re.compile(r"(cpu|cpuset|io|memory|pids)\.[a-z]+(\.[a-z_]+)*")
ROOT_GROUP = "root"
DISK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")  # no dots: keys contain it
DISK_NUMBER = re.compile(r"\{disk(?:\.([^{}]*))?\}")
EVENT = re.compile(r"[A-Za-z0-9_*]+(:[A-Za-z0-9_*]+)?")

MIN_MEMORY = 32 << 20  # with less, programs have no room beside what is dirty
MOST_DISKS = 8
MIN_DISK = {
    "ext2": 1 << 20,
    "ext3": 8 << 20,
    "ext4": 8 << 20,
    "xfs": 300 << 20,
    "btrfs": 128 << 20,
    "f2fs": 64 << 20,
    "vfat": 1 << 20,
    "exfat": 4 << 20,
    "none": 1 << 20,
}
MOST_SPARSE_BYTES = 64 << 30
MOST_USED = 90  # per cent: the filesystem's metadata needs the rest
MAX_KERNEL = 2**32 - 1  # tt_syscall_ns and the device model's parameters are 32 bits wide, except for rates
MAX_DEPTH = 64  # UBD_QUEUE_DEPTH in the kernel
MAX_OPEN = 16  # UBD_MOST_OPEN
LEAST_ERASE = 64 << 10  # no flash has less, and the kernel looks at each block that a request touches
MODEL_KEYS = (
    *("latency", "read_bps", "depth", "seek_time", "stall_every", "stall_time", "stalls", "cache_bytes", "drain_bps"),
    *("erase_block", "open_blocks", "burst_bytes", "sustained_bps", "iops"),
)
_PAIRS = (("stall_every", "stall_time"), ("cache_bytes", "drain_bps"), ("burst_bytes", "sustained_bps"))
DIRTY_SYSCTLS = (
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_expire_centisecs",
    "vm.dirty_ratio",
    "vm.dirty_writeback_centisecs",
    "vm.dirtytime_expire_seconds",
)


def check_spec(spec: Spec) -> None:
    """Raise InputError, naming the key and the next step, for a spec that cannot run."""
    check_name(spec.name, "name")
    if not 0 <= spec.seed < 2**63:
        raise InputError(f"seed: {spec.seed} is not between 0 and 2^63 - 1: choose another")
    if spec.memory < MIN_MEMORY:
        raise InputError(f"memory: {format_bytes(spec.memory)} is too small: give at least {format_bytes(MIN_MEMORY)}")
    _check_sysctls(spec.sysctl, "sysctl")
    _check_trace(spec.trace)
    if not spec.load:
        raise InputError("load: the spec has no load: add at least one table [load.NAME]")
    for name, load in spec.load.items():
        check_name(name, "load")
        load.check(f"load.{name}.")
        if load.role == "offender" and load.idle_ns(0) > spec.time_limit and not spec.ends_at_time_limit:
            limit = format_time(spec.time_limit)
            raise InputError(f"load.{name}.wait ends after time_limit, {limit}: lower it or raise time_limit")
    if spec.clock.syscall_cost > MAX_KERNEL:
        raise InputError(f"clock.syscall_cost: {format_time(spec.clock.syscall_cost)} is too long: give at most 4s")
    check_disks(spec)
    _check_phases(spec)
    _check_order(spec)
    _check_cgroups(spec, spec.cgroup)
    for name, agent in spec.agent.items():
        check_name(name, "agent")
        check_argv(f"agent.{name}.argv", agent.argv)


def _check_trace(trace: Trace) -> None:
    for event in trace.events:
        if not EVENT.fullmatch(event):
            raise InputError(
                f"trace.events: {event!r} is not of the form system:event: write for example block:block_rq_issue"
            )
    for key, texts in (("filters", trace.filters), ("triggers", trace.triggers)):
        for event, text in texts.items():
            if event not in trace.events:
                raise InputError(f"trace.{key}: {event!r} is not in trace.events{nearest(event, list(trace.events))}")
            if not text.isprintable() or not text.strip():
                example = "prev_state != 0" if key == "filters" else "stacktrace"
                raise InputError(
                    f"trace.{key}: {text!r} of {event} is empty or unprintable: write for example {example}"
                )


def check_name(name: str, key: str) -> None:
    """Raise InputError for a name that cannot be part of a file name."""
    if not NAME.fullmatch(name):
        raise InputError(f"{key}: {name!r} is not a valid name: use at most 64 letters, digits, '.', '_' and '-'")


def disk_number(text: str, numbers: Mapping[str, str], key: str) -> str:
    """Replace `{disk}` by the first disk's number and `{disk.NAME}` by that disk's. Raises InputError.

    numbers: major:minor by the disk's name, in the order of the spec.
    """

    def number(match: re.Match[str]) -> str:
        name = next(iter(numbers)) if match[1] is None else match[1]
        if name not in numbers:
            raise InputError(f"{key}: no disk {name!r}{nearest(name, list(numbers))}: choose from {', '.join(numbers)}")
        return numbers[name]

    return DISK_NUMBER.sub(number, text)


def check_disks(spec: Spec) -> None:
    """Raise InputError for disks that cannot be made or are too small for their loads."""
    if not 0 < len(spec.disk) <= MOST_DISKS:
        raise InputError(f"disk: the spec has {len(spec.disk)} disks: give 1 to {MOST_DISKS}")
    for name, disk in spec.disk.items():
        if not DISK_NAME.fullmatch(name):
            raise InputError(f"disk: {name!r} is not a valid name: use at most 32 letters, digits, '_' and '-'")
        _check_model(disk, spec.disk_key(name))
        _check_queue(disk, spec.disk_key(name))
        check_stack(spec, name)
        _check_size(disk, size_bytes(spec, name), spec.disk_key(name))
        _check_sparse(spec, name)
        _check_aged(disk, spec.disk_key(name))
    check_memory_disks(spec)
    for name, load in spec.load.items():
        if load.disk and load.disk not in spec.disk:
            known, wrong = list(spec.disk), f"load.{name}.disk: no disk {load.disk!r}"
            raise InputError(f"{wrong}{nearest(load.disk, known)}: choose from {', '.join(known)}")
        _check_target(spec, name)
    for name in spec.disk:
        _check_fits(spec, name)


def _check_size(disk: Disk, size: int, key: str) -> None:
    smallest = MIN_DISK[disk.filesystem]
    if size < smallest:
        what = "a disk" if disk.filesystem == "none" else disk.filesystem
        raise InputError(
            f"{key}.size: {format_bytes(size)} is too small for {what}: give at least {format_bytes(smallest)}"
        )
    if size % 4096:
        raise InputError(f"{key}.size: {size} bytes is not a multiple of 4096: round it")
    if disk.is_hardware and disk.write_bps <= 0:
        raise InputError(f"{key}.write_bps: the disk needs a rate above 0: give for example 1MiB/s")


def _check_sparse(spec: Spec, name: str) -> None:
    """Raise InputError for a disk that cannot use less memory than its size."""
    disk, key = spec.disk[name], spec.disk_key(name)
    if not disk.resident:
        return
    if disk.resident > disk.size:
        raise InputError(f"{key}.resident: {format_bytes(disk.resident)} is more than {key}.size: leave it out")
    if disk.size > MOST_SPARSE_BYTES:
        raise InputError(
            f"{key}.size: {format_bytes(disk.size)} is too large: give at most {format_bytes(MOST_SPARSE_BYTES)}"
        )
    if disk.filesystem == "btrfs" or part_of(spec, name):
        what = "btrfs" if disk.filesystem == "btrfs" else "a part of another disk"
        raise InputError(f"{key}.resident: {what} needs memory for its whole size: leave it out")


def _check_aged(disk: Disk, key: str) -> None:
    """Raise InputError for a disk that cannot be aged as the spec asks."""
    if not 0 <= disk.used <= MOST_USED:
        raise InputError(f"{key}.used: {disk.used} is not between 0 and {MOST_USED} per cent")
    if not 1 <= disk.layout <= UNTOUCHED:
        raise InputError(f"{key}.layout: {disk.layout} is not between 1 and {UNTOUCHED} (unchanged)")
    if disk.is_aged and disk.filesystem not in ("ext4", "xfs"):
        raise InputError(f"{key}.used and {key}.layout need {key}.filesystem = 'ext4' or 'xfs'")
    if disk.is_aged and disk.size > MOST_SPARSE_BYTES:
        limit = format_bytes(MOST_SPARSE_BYTES)
        raise InputError(f"{key}.size: too large with {key}.used or {key}.layout: give at most {limit}")


def _check_target(spec: Spec, name: str) -> None:
    """Raise InputError if a raw load's disk has a filesystem, or another load's disk has none."""
    load, disk = spec.load[name], spec.disk_of(name)
    if load.role == "control":
        return
    if above := part_of(spec, disk):
        raise InputError(f"load.{name}.disk: {disk!r} is a part of disk {above!r}: give {above!r} instead")
    if load.raw != (spec.disk[disk].filesystem == "none"):
        has = "a filesystem" if load.raw else "no filesystem"
        kinds = "a kind that is not raw" if load.raw else "a raw kind"
        raise InputError(f"load.{name}.disk: {disk!r} has {has}: choose {kinds}, or another disk")


def _check_fits(spec: Spec, disk: str) -> None:
    """Raise InputError if a disk is too small for the files of its loads."""
    files: dict[str, int] = {}
    for name, load in spec.load.items():
        for file, written in load.files.items() if spec.disk_of(name) == disk else ():
            files[file] = max(files.get(file, 0), written)
    size, key = size_bytes(spec, disk), spec.disk_key(disk)
    if sum(files.values()) > size:
        raise InputError(
            f"{key}.size: the loads write {format_bytes(sum(files.values()))}, which does not fit on a disk of "
            f"{format_bytes(size)}: raise it or lower the loads' size"
        )


def _check_model(disk: Disk, place: str) -> None:
    """Raise InputError for invalid parameters of the device model; `place` is the disk's key in the spec."""
    for key in MODEL_KEYS:
        if disk.model != "device" and getattr(disk, key) != getattr(Disk, key):
            raise InputError(f"{place}.{key} needs {place}.model = 'device': other models have no service time")
    for key in ("latency", "seek_time", "stall_time"):
        if not 0 <= (time_ns := getattr(disk, key)) <= MAX_KERNEL:
            raise InputError(f"{place}.{key}: {format_time(time_ns)} is too long: give at most 4s")
    for key in ("stall_every", "cache_bytes", "erase_block", "burst_bytes"):
        if not 0 <= (size := getattr(disk, key)) <= MAX_KERNEL:
            raise InputError(f"{place}.{key}: {format_bytes(size)} is too large: give less than 4 GiB")
    for key in ("read_bps", "drain_bps", "sustained_bps"):
        if getattr(disk, key) < 0:
            raise InputError(
                f"{place}.{key}: {getattr(disk, key)} is negative: give for example 1MiB/s, or leave it out"
            )
    for key, least, most in (("depth", 1, MAX_DEPTH), ("open_blocks", 1, MAX_OPEN), ("iops", 0, MAX_KERNEL)):
        if not least <= getattr(disk, key) <= most:
            raise InputError(f"{place}.{key}: {getattr(disk, key)} is not between {least} and {most}")
    _check_together(disk, place)


def _check_together(disk: Disk, place: str) -> None:
    """Raise InputError for parameters of the model of which one lacks the other."""
    if 0 < disk.erase_block < LEAST_ERASE:
        raise InputError(f"{place}.erase_block: give at least {format_bytes(LEAST_ERASE)}, or 0 for none")
    if disk.open_blocks > 1 and not disk.erase_block:
        raise InputError(f"{place}.open_blocks needs {place}.erase_block, the size of one")
    for key, other in _PAIRS:
        if bool(getattr(disk, key)) != bool(getattr(disk, other)):
            raise InputError(f"{place}.{key} and {place}.{other} belong together: give both or neither")
    if disk.stalls == "random" and not disk.stall_every:
        raise InputError(f"{place}.stalls needs {place}.stall_every and {place}.stall_time")


def _check_queue(disk: Disk, place: str) -> None:
    """Raise InputError for attributes of a queue that the kernel would take as others, or not take from this driver."""
    requests = str(disk.queue.get("nr_requests", FEWEST_REQUESTS))
    if requests.isdecimal() and int(requests) < FEWEST_REQUESTS:
        raise InputError(
            f"{place}.queue.nr_requests: the kernel makes {FEWEST_REQUESTS} of {requests}: "
            f"write {FEWEST_REQUESTS}, and lower {place}.queue.max_sectors_kb for a shorter queue"
        )


def _check_sysctls(sysctls: Mapping[str, int | str], place: str) -> None:
    for key in sysctls:
        if key.startswith("vm.dirty") and key not in DIRTY_SYSCTLS:
            raise InputError(f"{place}: unknown key {key!r}{nearest(key, DIRTY_SYSCTLS)}")
        if not re.fullmatch(r"[a-z0-9_-]+(\.[A-Za-z0-9_-]+)+", key):
            raise InputError(f"{place}: {key!r} is not a sysctl key: write for example vm.dirty_bytes")
    for stem in ("vm.dirty", "vm.dirty_background"):
        if sysctls.get(f"{stem}_bytes") and sysctls.get(f"{stem}_ratio"):
            raise InputError(f"{place}: {stem}_bytes and {stem}_ratio exclude each other: keep one")


def _check_phases(spec: Spec) -> None:
    for name, phase in spec.phase.items():
        check_name(name, "phase")
        if not 0 <= phase.at <= spec.time_limit:
            raise InputError(f"phase.{name}.at: {format_time(phase.at)} is not between 0 and time_limit: change it")
        _check_sysctls(phase.sysctl, f"phase.{name}.sysctl")
        for key, named, known in (
            ("disk", list(phase.disk), list(spec.disk)),
            ("load", list(phase.load), list(spec.load)),
        ):
            for each in named:
                if each not in known:
                    wrong = f"phase.{name}.{key}: no {key} {each!r}{nearest(each, known)}"
                    raise InputError(f"{wrong}: choose from {', '.join(known)}")
        for load, priority in phase.load.items():
            check_iolevel(f"phase.{name}.load.{load}.", priority.iolevel)
        _check_cgroups(spec, phase.cgroup, f"phase.{name}.")


def _check_cgroups(spec: Spec, groups: Mapping[str, Cgroup], place: str = "") -> None:
    """Raise InputError for invalid control groups; `place` is the prefix of their keys in messages."""
    owner: dict[str, str] = {}
    for name, group in groups.items():
        check_name(name, f"{place}cgroup")
        key = f"{place}cgroup.{name}"
        for load in group.loads:
            if load not in spec.load:
                known, wrong = list(spec.load), f"{key}.loads: no load {load!r}"
                raise InputError(f"{wrong}{nearest(load, known)}: choose from {', '.join(known)}")
            if load in owner:
                raise InputError(f"{key}.loads: {load!r} is already in cgroup.{owner[load]}: name it in one group only")
            owner[load] = name
        if name == ROOT_GROUP and group.loads:
            raise InputError(f"{key}.loads: the root group holds every load that no other group names: leave it out")
        for file in group.files:
            match = CGROUP_FILE.fullmatch(file)
            if not match:
                raise InputError(f"{key}.files: {file!r} is not a controller's file: write for example memory.max")
            if match[1] == "io":
                _check_io(spec, f"{key}.files: {file!r}")
            disk_number(str(group.files[file]), dict.fromkeys(spec.disk, ""), f"{key}.files.{file}")


def _check_io(spec: Spec, key: str) -> None:
    for name, disk in spec.disk.items():
        if disk.model == "throttle":
            raise InputError(f"{key} needs {spec.disk_key(name)}.model = 'device': the throttle uses the io controller")
    if not spec.cgroup and not spec.needs_lab:
        raise InputError(f"{key} needs a table [cgroup.NAME] outside phases: without one, groups have no io controller")


def _check_order(spec: Spec) -> None:
    if not spec.offenders:
        raise InputError(
            "load: the spec has no offender, whose end ends the run: add a load of kind 'load' or 'command'"
        )
    for key in ("stop_order", "may_fail"):
        for name in getattr(spec, key):
            if name not in spec.load:
                known, wrong = list(spec.load), f"{key}: no load {name!r}"
                raise InputError(f"{wrong}{nearest(name, known)}: choose from {', '.join(known)}")
    for name in spec.stop_order:
        if name in spec.offenders:
            raise InputError(f"stop_order: {name!r} is an offender, which ends by itself: leave it out")
