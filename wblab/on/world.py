"""The guest of a user's program as a spec: its disk, its memory, what writes beside it, and what is traced."""

from dataclasses import dataclass, replace
from errno import ENOSYS
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError, nearest
from wblab.core.loads import Command, Load, Offender
from wblab.core.spec import Disk, GuestKernel, Spec
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds
from wblab.lab.disks import disk_settings
from wblab.lab.results import DISKS, SPECS
from wblab.lab.specfile import read_setting, read_spec, set_key, spec_of
from wblab.on.order import LOAD, NAME

KERNEL = "7.2+programs"
_ARGV = ("python3", "-m", "wblab.on.inside")
_LONGEST = Nanoseconds(6 * 3600 * NS_PER_S)
_APART = "apart"  # where the lab's own process stands if not on the disk
_COPY = "copy"  # what --beside names: a copy in large blocks
# Calls whose length is traced, by their numbers on x86-64 (arch/x86/entry/syscalls/syscall_64.tbl).
CALLS = {
    0: "read",
    1: "write",
    2: "open",
    3: "close",
    17: "pread64",
    18: "pwrite64",
    19: "readv",
    20: "writev",
    26: "msync",
    40: "sendfile",
    74: "fsync",
    75: "fdatasync",
    76: "truncate",
    77: "ftruncate",
    82: "rename",
    83: "mkdir",
    84: "rmdir",
    85: "creat",
    86: "link",
    87: "unlink",
    88: "symlink",
    162: "sync",
    257: "openat",
    258: "mkdirat",
    263: "unlinkat",
    264: "renameat",
    265: "linkat",
    266: "symlinkat",
    277: "sync_file_range",
    285: "fallocate",
    295: "preadv",
    296: "pwritev",
    306: "syncfs",
    316: "renameat2",
    326: "copy_file_range",
    328: "pwritev2",
    437: "openat2",
}
_RAW = ("raw_syscalls:sys_enter", "raw_syscalls:sys_exit")
_EVENTS = ("writeback:balance_dirty_pages", "writeback:global_dirty_state")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the verb's options ask for.

    disk: a kind of disk, a file of `wblab disk measure`, or a preset, of which disk, limits and offenders are taken.
    beside: "copy", or a preset whose offenders write beside it; "" for nothing.
    unmounts: whether the disk is unmounted while the guest runs: nothing of the lab's own may stand there then.
    is_real: whether the guest's clock is the host's.
    """

    disk: str
    size: Bytes = Bytes(512 << 20)
    filesystem: str = "ext4"
    memory: Bytes = Bytes(512 << 20)
    beside: str = ""
    settings: tuple[str, ...] = ()
    seed: int = 0
    kernel: str = KERNEL
    unmounts: bool = False
    is_real: bool = False


def world(wanted: Wanted) -> tuple[Spec, dict[str, Any]]:
    """Return the spec of a guest, and the loads that write beside the program, as tables by name. Raises InputError."""
    if SPECS.has(wanted.disk) and not DISKS.has(wanted.disk):
        whole = read_spec(SPECS.find(wanted.disk), wanted.settings)
        if len(whole.disk) > 1:
            raise InputError(f"{wanted.disk} has {len(whole.disk)} disks: a program is run on a preset with one")
        loads = _offenders(whole)
    else:
        whole, loads = spec_of(_table(wanted), exact=False), {}
    if wanted.beside:
        loads = {_COPY: _copy(whole)} if wanted.beside == _COPY else _offenders(_preset(wanted.beside))
    return _of_program(whole, wanted), {name: to_table(load) for name, load in loads.items()}


def _table(wanted: Wanted) -> dict[str, Any]:
    table: dict[str, Any] = {"name": "on", "load": {LOAD: {"kind": "command", "wait": "0s", "argv": list(_ARGV)}}}
    size = f"{wanted.size}B"
    own = [f'memory="{wanted.memory}B"', f'disk.size="{size}"']
    if wanted.filesystem != "btrfs":  # which has all of its disk's memory anyway
        own.append(f'disk.resident="{size}"')
    try:
        of_disk = disk_settings(wanted.disk)
    except InputError:
        known = [*DISKS.names(), *SPECS.names()]
        said = f"no disk {wanted.disk!r}{nearest(wanted.disk, known)}: give one of {', '.join(DISKS.names())}"
        raise InputError(f"{said}, a file of 'wblab disk measure', or a preset such as base-device") from None
    for setting in (*own, f'disk.filesystem="{wanted.filesystem}"', *of_disk, *wanted.settings):
        set_key(table, *read_setting(setting, "disk.write_bps=2M"))
    return table


def _of_program(whole: Spec, wanted: Wanted) -> Spec:
    """Return a spec with the program as its only load, and its calls traced."""
    numbers = " || ".join(f"id == {number}" for number in CALLS)
    others = f'COMM != "trace-cmd" && COMM != "{NAME}"'
    enter, leave = _RAW
    filters = {enter: f"{others} && ({numbers})", leave: f"{others} && ({numbers} || ret == -{ENOSYS})"}
    apart = {_APART: Disk(model="ram", size=Bytes(4 << 20), filesystem="ext2")} if wanted.unmounts else {}
    return replace(
        whole,
        name=f"on-{Path(wanted.disk).stem}",
        disk={**whole.disk, **apart},
        kernel=GuestKernel(name=wanted.kernel),
        seed=_swapped(wanted.seed, whole.seed),
        clock=replace(whole.clock, mode="real") if wanted.is_real else whole.clock,
        time_limit=_LONGEST,
        load={LOAD: Command(argv=_ARGV, wait=Nanoseconds(0), disk=next(iter(apart), ""))},
        stop_order=(),
        may_fail=(),
        trace=replace(whole.trace, events=(*_EVENTS, *_RAW), filters=filters, blame="always"),
    )


def _swapped(seed: int, of_spec: int) -> int:
    """Return a guest's seed: 0 stands for that of the spec, which stands for 0, so that no two are the same guest."""
    return {0: of_spec, of_spec: 0}.get(seed, seed)


def _preset(name: str) -> Spec:
    if not SPECS.has(name):
        choice = f"{_COPY}, or a preset such as base-device"
        raise InputError(f"--beside {name}: no preset has this name{nearest(name, SPECS.names())}: give {choice}")
    return read_spec(SPECS.find(name))


def _offenders(spec: Spec) -> dict[str, Load]:
    """Return what writes in a spec beside others, from its start on."""
    found = {name: spec.load[name] for name in spec.offenders if isinstance(spec.load[name], Offender)}
    if not found:
        raise InputError(f"{spec.name} has no load that writes beside others: give another preset, or {_COPY}")
    return dict(found)


def _copy(spec: Spec) -> Load:
    """Return a copy in blocks of 1 MiB, of a quarter of the disk."""
    size = Bytes(next(iter(spec.disk.values())).size // 4)
    return Offender(file=_COPY, wait=Nanoseconds(0), size=size, block=Bytes(1 << 20))
