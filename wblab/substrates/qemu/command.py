"""The command line of QEMU, and of the kernel in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.core import layout
from wblab.core.drivers import DRIVERS, FEWEST_REQUESTS, MOST_REQUESTS, Scheduler
from wblab.core.entry import host_path
from wblab.core.errors import InputError
from wblab.core.spec import Disk, DiskScheduler, Spec
from wblab.core.stacks import FILE, SERVED, ZRAM, images
from wblab.core.units import Bytes, format_bytes
from wblab.host.command import interpreter
from wblab.substrates.qemu.devices import check_burst, check_number, device_arguments
from wblab.substrates.qemu.initramfs import PROGRAM

LEFT_FD, INITRAMFS_FD, *IMAGE_FDS = layout.DISK_FDS
CONSOLE_FD = layout.SAMPLES_FD
# An instruction takes 2**shift ns, and a processor that sleeps takes no time of the host (qemu(1), -icount).
_SHIFT = 2
_ICOUNT = ("-icount", f"shift={_SHIFT},sleep=off", "-rtc", "base=2023-11-14T22:13:20,clock=vm")
INSTRUCTION_NS = 1 << _SHIFT
_MIB = 1 << 20
# What the guest takes until the loads start, about: a kernel for any machine, its modules, and Python.
_SET_UP_BYTES = 256 << 20
_TRACE_BYTES = 128 << 20


@dataclass(frozen=True)
class EmulatedMachine:
    """The machine that QEMU is.

    accelerator: tcg or kvm. virtual: its time is that of its own instructions. driver: its disks are QEMU's devices for
    this driver of the kernel; "": they are in the guest's memory.
    """

    processors: int = 1
    accelerator: str = "tcg"
    virtual: bool = True
    driver: str = ""


def memory_bytes(spec: Spec, machine: EmulatedMachine, initramfs_bytes: int) -> int:
    """Return the memory of the machine: the spec's, and what is taken before the loads start."""
    # The ring buffers of all processors, and the trace that is read from them meanwhile.
    trace = _TRACE_BYTES + spec.trace.buffer * machine.processors if spec.trace.events else 0
    total = spec.memory + spec.held_bytes + 2 * initramfs_bytes + trace + _SET_UP_BYTES
    return -(-total // _MIB) * _MIB


def arguments(machine: EmulatedMachine, kernel: Path, memory: int, disks: Sequence[Disk] = ()) -> list[str]:
    """Return QEMU's arguments. The descriptors of its ports, the guest's root and the disks' images are inherited.

    disks: those that are QEMU's devices.
    """
    return [
        *machine_arguments(machine, memory),
        *("-add-fd", f"fd={CONSOLE_FD},set=1", *_port("console", "/dev/fdset/1")),
        *_port("status", host_path(layout.STATUS_FD)),
        *_port("left", host_path(LEFT_FD)),
        *device_arguments(machine.driver, disks, IMAGE_FDS[: len(disks)]),
        *("-kernel", str(kernel), "-initrd", host_path(INITRAMFS_FD), "-append", " ".join(_kernel_arguments())),
    ]


def machine_arguments(machine: EmulatedMachine, memory: int) -> list[str]:
    """Return QEMU's arguments for the machine itself, without ports, disks and a kernel. memory: in bytes."""
    threads = ",thread=single" if machine.virtual else ",thread=multi"
    accelerator = f"tcg,tb-size=192{threads}" if machine.accelerator == "tcg" else machine.accelerator
    clock = _ICOUNT if machine.virtual else ()
    return [
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-machine", "q35"),
        *("-cpu", "qemu64" if machine.accelerator == "tcg" else "host", "-accel", accelerator),
        *("-m", f"{memory // _MIB}M", "-smp", str(machine.processors)),
        *clock,
        *("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"),
    ]


def _port(name: str, path: str) -> Sequence[str]:
    """Return the arguments for a serial port whose bytes are added to a file.

    Unlike standard output, a file never waits: so nothing of the host's clock reaches the guest.
    """
    return ("-chardev", f"file,id={name},path={path},append=on", "-serial", f"chardev:{name}")


def _kernel_arguments() -> Sequence[str]:
    environment = {"PYTHONPATH": PROGRAM, "PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC0"}
    return [
        *("console=ttyS0", "panic=-1", "loglevel=4", "mitigations=off", "nokaslr", "norandmaps", "no_timer_check"),
        f"rdinit={interpreter()}",
        *(f"{name}={value}" for name, value in environment.items()),
        *("--", "-S", "-s", "-B", PROGRAM),
    ]


# A spec as a stock kernel in QEMU gets it: what differs from User Mode Linux there is changed here, in the open.
#
# The disks' data lies in the guest's memory (null_blk), so the guest gets that much more, and limits in per cent, which
# are shares of the memory, become limits in bytes. With a driver of the kernel's own they are QEMU's, and their queues
# are that driver's: nothing of them is changed.

MIB = 1 << 20
PAGE_BYTES = 4096
_PORTIONS = 50  # a second: null_blk hands out its rate in portions (TICKS_PER_SEC in drivers/block/null_blk)
# Shares of the memory in per cent, the limits in bytes that take their place, and the kernel's defaults.
_LIMITS = {
    "vm.dirty_background_ratio": ("vm.dirty_background_bytes", 10),
    "vm.dirty_ratio": ("vm.dirty_bytes", 20),
}
_QUEUE_EACH = [name for name, queue in DRIVERS.items() if queue.scheduler == "none"]  # have one for each processor
# Disks that the guest makes, as far as they were tried there: with disks in memory, and with those of a driver.
_MADE, _MADE_BESIDE_DRIVER = ("crypt", "loop"), (FILE, ZRAM)
_LEAST_PAGES = 2  # dirty_bytes_min in mm/page-writeback.c
_OURS = ("max_sectors_kb", "nr_requests")  # attributes of the queue that are translated
# Of a disk's model: neither null_blk nor QEMU's throttling has anything of it.
_LACKING = ("read_bps", "seek_time", "stall_every", "cache_bytes", "erase_block", "iops", "used", "resident")


def in_bytes(spec: Spec) -> Spec:
    """Return a spec with its dirty limits in bytes: the same shares of its memory, in whole pages."""
    sysctl = {key: value for key, value in spec.sysctl.items() if key not in _LIMITS}
    for ratio, (limit, default) in _LIMITS.items():
        if not sysctl.get(limit):  # 0 is the kernel's word for none
            pages = spec.memory * int(spec.sysctl.get(ratio, default)) // 100 // PAGE_BYTES
            sysctl[limit] = max(_LEAST_PAGES, pages) * PAGE_BYTES
    return replace(spec, sysctl=sysctl)


def translated(spec: Spec, driver: str = "", processors: int = 1) -> Spec:
    """Return the spec as a stock kernel gets it. driver: of its disks. Raises InputError for what cannot run there."""
    check(spec, driver)
    if driver:
        usual: Scheduler = "none" if driver in _QUEUE_EACH and processors > 1 else "mq-deadline"
        return replace(in_bytes(spec), disk={name: _as_it_is(disk, usual) for name, disk in spec.disk.items()})
    disks = {name: _disk(disk) for name, disk in spec.disk.items()}
    stored = sum(disk.size for disk in images(spec).values())
    return replace(
        in_bytes(spec),
        memory=Bytes(spec.memory + stored),
        disk=disks,
    )


def check(spec: Spec, driver: str = "") -> None:
    """Raise InputError for a spec that a stock kernel in QEMU cannot run, naming the key. driver: of its disks."""
    if programs := [f"agent.{name}" for name in spec.agent] + [
        f"load.{name}" for name, load in spec.load.items() if load.needs_lab
    ]:
        raise InputError(f"{programs[0]}: a stock kernel in QEMU cannot run programs of this machine: leave it out")
    if spec.kernel.parameters or spec.kernel.config:
        raise InputError("kernel.parameters and kernel.config are for kernels of User Mode Linux: leave them out")
    if spec.phase:
        raise InputError(f"phase.{next(iter(spec.phase))}: it was never tried on a stock kernel in QEMU: leave it out")
    if driver:
        check_number(len(images(spec)))
    _check_swap(spec, driver)
    disks = {name: disk for name, disk in spec.disk.items() if disk.model != SERVED}  # the same program serves that
    for name, disk in disks.items():
        key = spec.disk_key(name)
        if not disk.is_hardware and disk.model not in (_MADE_BESIDE_DRIVER if driver else _MADE):
            made = ", or 'zram'" if driver else ", and without its driver 'crypt' or 'loop'"
            raise InputError(f"{key}.model={disk.model}: in QEMU a disk is 'throttle', 'device' or 'served'{made}")
        if lacking := [field for field in _LACKING if getattr(disk, field)] + ["layout"] * disk.is_aged:
            raise InputError(f"{key}.{lacking[0]}: a disk in QEMU cannot have that: leave it out")
        check_burst(disk, key, driver)
        if driver:
            continue
        for attribute in _OURS:
            if not re.fullmatch("[1-9][0-9]{0,8}", str(disk.queue.get(attribute, 1))):
                raise InputError(f"{key}.queue.{attribute}={disk.queue[attribute]}: write a number, such as 64")
        if disk.model == "device" and (disk.write_bps % MIB or not disk.write_bps):
            rate = format_bytes(disk.write_bps)
            raise InputError(f"{key}.write_bps={rate}/s: in QEMU a rate is in whole MiB/s, such as 1MiB/s")


def _check_swap(spec: Spec, driver: str) -> None:
    if spec.swaps and not driver:
        raise InputError("disk: disks lie in memory there, so there is always enough of it: name a driver, +sata")
    if sum(disk.model == ZRAM for disk in spec.disk.values()) > 1:
        raise InputError("disk: its module makes one disk of zram in QEMU: leave out the others")


def _as_it_is(disk: Disk, usual: Scheduler) -> Disk:
    """Return a disk of which nothing is set but what the spec says. usual: the scheduler that its kernel gives it."""
    if not disk.is_hardware:
        return disk
    return replace(disk, driver="ubd", scheduler=usual if disk.scheduler == "default" else disk.scheduler)


def largest_request_bytes(disk: Disk) -> int:
    """Return the largest request of a disk, in whole pages: a larger one than its portion would never be served."""
    largest = min(DRIVERS[disk.driver].request_bytes, DRIVERS["ubd"].request_bytes)
    portion = disk.write_bps // _PORTIONS if disk.model == "device" else largest
    return max(PAGE_BYTES, min(portion, largest) // PAGE_BYTES * PAGE_BYTES)


def _disk(disk: Disk) -> Disk:
    """Return a disk whose queue holds as many bytes as its driver's would, in requests that it can serve.

    Without a scheduler the queue is the device's own, which cannot be longer: so it has one unless the spec wants none.
    """
    if not disk.is_hardware:
        return disk
    queue = DRIVERS[disk.driver]
    asked = min(queue.request_bytes, int(disk.queue.get("max_sectors_kb", queue.request_bytes)) << 10)
    largest = min(largest_request_bytes(disk), asked)
    requests = int(disk.queue.get("nr_requests", queue.requests))
    own = {"max_sectors_kb": largest >> 10}
    scheduler: DiskScheduler = "mq-deadline" if disk.scheduler == "default" else disk.scheduler
    if scheduler != "none":
        own["nr_requests"] = min(max(FEWEST_REQUESTS, requests * asked // largest), MOST_REQUESTS)
    return replace(disk, queue={**disk.queue, **own}, scheduler=scheduler)
