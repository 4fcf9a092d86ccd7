"""What can be known to be wrong with a spec before anything is booted."""

import re

from wblab.core.errors import InputError, nearest
from wblab.core.parameters import check_argv
from wblab.core.spec import Disk, Spec
from wblab.core.units import format_bytes, format_time

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
CGROUP_FILE = re.compile(r"(cpu|cpuset|io|memory|pids)\.[a-z]+(\.[a-z_]+)*")
ROOT_GROUP = "root"
EVENT = re.compile(r"[A-Za-z0-9_*]+(:[A-Za-z0-9_*]+)?")

MIN_MEMORY = 64 << 20  # below this Python does not come up beside the loads
MIN_DISK = {
    "ext2": 1 << 20,
    "ext3": 8 << 20,
    "ext4": 8 << 20,
    "xfs": 300 << 20,
    "btrfs": 128 << 20,
    "f2fs": 64 << 20,
    "vfat": 1 << 20,
    "exfat": 4 << 20,
}
MAX_KERNEL = 2**32 - 1  # tt_syscall_ns and all but the rates of the device's model are 32 bits wide
MAX_DEPTH = 64  # UBD_QUEUE_DEPTH in the kernel
MODEL_KEYS = (
    *("latency", "read_bps", "depth", "seek_time", "stall_every", "stall_time", "stalls", "cache_bytes", "drain_bps"),
)
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
        raise InputError(f"seed: {spec.seed} is not between 0 and 2^63 - 1")
    if spec.memory < MIN_MEMORY:
        raise InputError(f"memory: {format_bytes(spec.memory)} is too small: give at least {format_bytes(MIN_MEMORY)}")
    _check_sysctls(spec)
    for event in spec.trace.events:
        if not EVENT.fullmatch(event):
            raise InputError(f"trace.events: {event!r} is not of the form system:event")
    if not spec.load:
        raise InputError("no load: give at least one table [load.<name>]")
    for name, load in spec.load.items():
        check_name(name, "load")
        load.check(f"load.{name}.")
        if load.role == "offender" and load.idle_ns(0) > spec.time_limit:
            raise InputError(f"load.{name} waits past time_limit, {format_time(spec.time_limit)}: raise time_limit")
    if spec.clock.syscall_cost > MAX_KERNEL:
        raise InputError(f"clock.syscall_cost: {format_time(spec.clock.syscall_cost)} is too long: give at most 4s")
    _check_disk(spec)
    _check_order(spec)
    _check_cgroups(spec)
    for name, agent in spec.agent.items():
        check_name(name, "agent")
        check_argv(f"agent.{name}.argv", agent.argv)


def check_name(name: str, key: str) -> None:
    """Raise InputError for a name that cannot be part of a file's."""
    if not NAME.fullmatch(name):
        raise InputError(f"{key}: {name!r} is no usable name: letters, digits, '.', '_' and '-', at most 64")


def _check_disk(spec: Spec) -> None:
    disk, smallest = spec.disk, MIN_DISK[spec.disk.filesystem]
    if disk.size < smallest:
        raise InputError(
            f"disk.size: {format_bytes(disk.size)} is too small for {disk.filesystem}: "
            f"give at least {format_bytes(smallest)}"
        )
    if disk.size % 4096:
        raise InputError(f"disk.size: {disk.size} bytes is not a multiple of 4096")
    if disk.write_bps <= 0:
        raise InputError("disk.write_bps: a disk that writes nothing never ends: give for example 1MiB/s")
    check_model(disk)
    files: dict[str, int] = {}
    for load in spec.load.values():
        for file, written in load.files.items():
            files[file] = max(files.get(file, 0), written)
    if sum(files.values()) > disk.size:
        raise InputError(
            f"the loads write {format_bytes(sum(files.values()))}, which does not fit on a disk of "
            f"{format_bytes(disk.size)}: raise disk.size or lower their size"
        )


def check_model(disk: Disk) -> None:
    """Raise InputError for a model of a device that does not work."""
    for key in MODEL_KEYS:
        if disk.model != "device" and getattr(disk, key) != getattr(Disk, key):
            raise InputError(f"disk.{key} needs disk.model = 'device': the throttle has no service time")
    for key in ("latency", "seek_time", "stall_time"):
        if not 0 <= (time_ns := getattr(disk, key)) <= MAX_KERNEL:
            raise InputError(f"disk.{key}: {format_time(time_ns)} is too long: give at most 4s")
    for key in ("stall_every", "cache_bytes"):
        if not 0 <= (size := getattr(disk, key)) <= MAX_KERNEL:
            raise InputError(f"disk.{key}: {format_bytes(size)} is too much: give less than 4 GiB")
    for key in ("read_bps", "drain_bps"):
        if getattr(disk, key) < 0:
            raise InputError(f"disk.{key}: {getattr(disk, key)} is no rate: give for example 1MiB/s, or leave it out")
    if not 1 <= disk.depth <= MAX_DEPTH:
        raise InputError(f"disk.depth: {disk.depth} is not between 1 and {MAX_DEPTH}")
    for key, other in (("stall_every", "stall_time"), ("cache_bytes", "drain_bps")):
        if bool(getattr(disk, key)) != bool(getattr(disk, other)):
            raise InputError(f"disk.{key} and disk.{other} belong together: give both or none")
    if disk.stalls == "random" and not disk.stall_every:
        raise InputError("disk.stalls needs disk.stall_every and disk.stall_time")


def _check_sysctls(spec: Spec) -> None:
    for key in spec.sysctl:
        if key.startswith("vm.dirty") and key not in DIRTY_SYSCTLS:
            raise InputError(f"sysctl: unknown key {key!r}{nearest(key, DIRTY_SYSCTLS)}")
        if not re.fullmatch(r"[a-z0-9_-]+(\.[A-Za-z0-9_-]+)+", key):
            raise InputError(f"sysctl: {key!r} is not a key such as vm.dirty_bytes")
    for stem in ("vm.dirty", "vm.dirty_background"):
        if spec.sysctl.get(f"{stem}_bytes") and spec.sysctl.get(f"{stem}_ratio"):
            raise InputError(f"sysctl: {stem}_bytes and {stem}_ratio exclude each other: keep one")


def _check_cgroups(spec: Spec) -> None:
    owner: dict[str, str] = {}
    for name, group in spec.cgroup.items():
        check_name(name, "cgroup")
        for load in group.loads:
            if load not in spec.load:
                raise InputError(f"cgroup.{name}.loads: no load {load!r}{nearest(load, list(spec.load))}")
            if load in owner:
                raise InputError(f"cgroup.{name}.loads: {load!r} is in cgroup.{owner[load]} already: keep one")
            owner[load] = name
        if name == ROOT_GROUP and group.loads:
            raise InputError(f"cgroup.{name}.loads: all loads are there that no other group has: leave it out")
        for file in group.files:
            match = CGROUP_FILE.fullmatch(file)
            if not match:
                raise InputError(f"cgroup.{name}.files: {file!r} is no file of a controller such as memory.max")
            if match[1] == "io" and spec.disk.model == "throttle":
                raise InputError(f"cgroup.{name}.files: {file!r} needs disk.model = 'device': the throttle has io")


def _check_order(spec: Spec) -> None:
    if not spec.offenders:
        raise InputError("no offender: a load of kind 'load' or 'command' must end the experiment")
    for name in spec.stop_order:
        if name not in spec.load:
            raise InputError(f"stop_order: no load {name!r}{nearest(name, list(spec.load))}")
        if name in spec.offenders:
            raise InputError(f"stop_order: {name!r} is an offender, it ends by itself")
