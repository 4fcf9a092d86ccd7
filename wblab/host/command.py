"""The command line of the guest: the kernel's own arguments, from the spec."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from wblab.core import entry, layout
from wblab.core.drivers import DRIVERS, Queue
from wblab.core.errors import InputError
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import RAM, ZRAM, images
from wblab.core.streams import stream
from wblab.host import kernelparameters
from wblab.host.environment import ENVIRONMENT
from wblab.host.guestmemory import boot_bytes

# The model of a device as the kernel takes it: parameters of ubd, a list each with a value per disk.

# linux-uml/patches: `um: ubd: model …`. In all of them 0 is what a device without a model has.
_PARAMETERS: Mapping[str, Callable[[Disk], int]] = {
    "latency_ns": lambda disk: disk.latency,
    "bytes_per_second": lambda disk: disk.write_bps,
    "read_bytes_per_second": lambda disk: disk.read_bps,
    "depth": lambda disk: disk.depth if disk.depth > 1 else 0,
    "seek_ns": lambda disk: disk.seek_time,
    "stall_bytes": lambda disk: disk.stall_every,
    "stall_ns": lambda disk: disk.stall_time,
    "stall_random": lambda disk: int(disk.stalls == "random"),
    "cache_bytes": lambda disk: disk.cache_bytes,
    "drain_bytes_per_second": lambda disk: disk.drain_bps,
    "erase_bytes": lambda disk: disk.erase_block,
    "open_blocks": lambda disk: disk.open_blocks if disk.open_blocks > 1 else 0,
    "burst_bytes": lambda disk: disk.burst_bytes,
    "sustained_bytes_per_second": lambda disk: disk.sustained_bps,
    "iops": lambda disk: disk.iops,
}
# `um: ubd: offer the queue of another driver`. 0 is ubd's own.
_OF_QUEUES: Mapping[str, Callable[[Queue], int]] = {
    "queue_depth": lambda queue: queue.depth,
    "max_hw_sectors": lambda queue: queue.max_hw_sectors,
    "max_segments": lambda queue: queue.max_segments,
}


def model_parameters(disks: Sequence[Disk]) -> dict[str, list[int]]:
    """Return the parameters that disks need, in the order of their numbers; none for those that have no model."""
    values = {
        name: [value(disk) if disk.model == "device" else 0 for disk in disks] for name, value in _PARAMETERS.items()
    }
    values |= {
        name: [value(DRIVERS[disk.driver]) if disk.is_hardware and disk.driver != "ubd" else 0 for disk in disks]
        for name, value in _OF_QUEUES.items()
    }
    return {f"ubd.{name}": row for name, row in values.items() if any(row)}


MIN_PYTHON = (3, 11)
START_NS = 1_700_000_000 * 10**9  # the wall clock at boot, when time is virtual
_UMID = "wblab"


def kernel_arguments(spec: Spec, *, watched: bool = False, processors: int = 1) -> list[str]:
    """Return the arguments of the `linux` executable, without the executable itself; `watched`: with a way for samples.

    processors: more than one only for a kernel that was built for them (wblab.kernels.features).

    They hold nothing but what the spec says and constants: the kernel feeds them to its random numbers.
    """
    made = images(spec)
    arguments = [
        f"mem={boot_bytes(spec, processors)}",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "seccomp=auto",
        "norandmaps",
        f"umid={_UMID}",
        "con=null",
        f"um_copies_fd={layout.COPIES_FD}",
        "con0=null,fd:1",
        _console(layout.STATUS_DEVICE, layout.STATUS_FD),
        *(f"ubd{place}={entry.host_path(fd)}" for place, fd in enumerate(layout.DISK_FDS[: len(made)])),
    ]
    if processors > 1:
        arguments.append(f"ncpus={processors}")
    if watched:
        arguments.append(_console(layout.SAMPLES_DEVICE, layout.SAMPLES_FD))
    model = model_parameters(list(made.values()))
    arguments += [f"{name}={','.join(map(str, values))}" for name, values in model.items()]
    if in_memory := [disk for disk in spec.disk.values() if disk.model == RAM]:
        arguments += [f"brd.rd_nr={len(in_memory)}", f"brd.rd_size={in_memory[0].size >> 10}"]
    if compressed := sum(disk.model == ZRAM for disk in spec.disk.values()):
        arguments.append(f"zram.num_devices={compressed}")
    if spec.clock.mode == "virtual":
        arguments += [
            "time-travel=inf-cpu",
            f"time-travel-start={START_NS}",
            f"tt_syscall_ns={spec.clock.syscall_cost}",
            f"um_seed={stream(spec.seed, 'kernel').getrandbits(64)}",
        ]
    program = f"{entry.host_path(entry.SCRATCH_FD)}/{entry.PROGRAM}"  # it holds the standard library as well
    environment = [f"{name}={value}" for name, value in {"PYTHONPATH": program, **ENVIRONMENT}.items()]
    # After init=, which makes the kernel forget what it did not know before; and before the environment, which may be
    # too long for the message that names what it does not know.
    given = kernelparameters.arguments(spec.kernel.parameters)
    return [*arguments, f"init={interpreter()}", *given, *environment, "--", "-S", "-s", "-B", program]


def _console(device: Path, fd: int) -> str:
    """Return the argument that lets what is written to a terminal of the guest come out of a file descriptor."""
    return f"con{device.name.removeprefix('tty')}=null,fd:{fd}"


def interpreter(least: tuple[int, int] = MIN_PYTHON) -> str:
    """Return the Python that runs in the guest: the system's, else the one that runs this. Raises InputError."""
    for candidate in ("/usr/bin/python3", getattr(sys, "_base_executable", sys.executable)):
        path = os.path.realpath(candidate)
        version = re.fullmatch(r"python(\d+)\.(\d+)", Path(path).name)
        if version and (int(version[1]), int(version[2])) >= least and os.access(path, os.X_OK):
            return path
    raise InputError(f"no Python {'.'.join(map(str, least))} or later for the guest: install python3")
