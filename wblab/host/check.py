"""What can be known to be wrong with a run on this host before anything is booted."""

import os
import resource
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from wblab.core.check import check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Disk, Spec
from wblab.core.stacks import SERVED, images
from wblab.core.units import format_bytes
from wblab.host import hostkernel
from wblab.host.command import interpreter, model_parameters
from wblab.host.disks.disk import mkfs_tool
from wblab.host.disks.options import check_options
from wblab.host.guestlab import lab
from wblab.host.guestmemory import boot_bytes
from wblab.host.kernelparameters import check_parameters, may_take
from wblab.host.machine import available_memory_bytes, free_shared_bytes, shared_memory
from wblab.kernels import Kernel, has_virtual_time
from wblab.kernels.features import options_of
from wblab.lab.kernelname import check_option
from wblab.lab.packages import OPTIONAL_PROGRAMS, PROGRAMS, advice, tool_path

# Limits that a shell or a login sets for each process, where a run needs more. See ulimit(1), getrlimit(2).

_DESCRIPTORS = 128  # what the kernel's process and the one that starts it have open, with room


def check(largest_bytes: int, limit: Callable[[int], tuple[int, int]] = resource.getrlimit) -> None:
    """Raise InputError if a run cannot have its largest file, or as many open files as it needs.

    limit: returns the soft and the hard limit of a resource.
    """
    files = limit(resource.RLIMIT_FSIZE)[0]
    if files != resource.RLIM_INFINITY and files < largest_bytes:
        raise InputError(
            f"a file may have at most {format_bytes(files)} in this shell (ulimit -f), the run needs "
            f"{format_bytes(largest_bytes)}: ulimit -f unlimited"
        )
    descriptors = limit(resource.RLIMIT_NOFILE)[0]
    if descriptors != resource.RLIM_INFINITY and descriptors < _DESCRIPTORS:
        raise InputError(
            f"a program may have only {descriptors} files open in this shell (ulimit -n), the run needs "
            f"{_DESCRIPTORS}: ulimit -n 1024"
        )


# What a spec's disks need of the kernel's configuration: without it the guest would fail after its boot.

# Any one of the options will do.
_MODELS: Mapping[str, tuple[str, ...]] = {
    "linear": ("BLK_DEV_DM",),
    "delay": ("DM_DELAY",),
    "flakey": ("DM_FLAKEY",),
    "dust": ("DM_DUST",),
    "crypt": ("DM_CRYPT",),
    "raid1": ("MD_RAID1",),
    "loop": ("BLK_DEV_LOOP",),
    "ram": ("BLK_DEV_RAM",),
    "file": ("SWAP",),
    "zram": ("ZRAM",),
}
_FILESYSTEMS: Mapping[str, tuple[str, ...]] = {
    "ext2": ("EXT4_USE_FOR_EXT2", "EXT2_FS"),
    "ext3": ("EXT4_FS",),
    "ext4": ("EXT4_FS",),
    "xfs": ("XFS_FS",),
    "btrfs": ("BTRFS_FS",),
    "f2fs": ("F2FS_FS",),
    "vfat": ("VFAT_FS",),
    "exfat": ("EXFAT_FS",),
    "swap": ("SWAP",),
    "fuse": ("FUSE_FS",),
}
_SCHEDULERS: Mapping[str, tuple[str, ...]] = {
    "mq-deadline": ("MQ_IOSCHED_DEADLINE",),
    "kyber": ("MQ_IOSCHED_KYBER",),
    "bfq": ("IOSCHED_BFQ",),
}


def lacking(spec: Spec, kernel: Kernel) -> dict[str, str]:
    """Return the options that a kernel lacks, by the key of the spec and its value; {} if its options are unknown."""
    there = options_of(kernel)
    if there is None:
        return {}
    needed = ((f"{spec.disk_key(name)}.{key}", any_of) for name, disk in spec.disk.items() for key, any_of in _of(disk))
    return {
        where: " or ".join(f"CONFIG_{option}" for option in any_of)
        for where, any_of in needed
        if not any(there.get(f"CONFIG_{option}") == "y" for option in any_of)
    }


def _of(disk: Disk) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what a disk needs: the key and its value, and the options."""
    known: list[tuple[str, str, Mapping[str, tuple[str, ...]]]] = [
        ("model", disk.model, _MODELS),
        ("filesystem", disk.filesystem, _FILESYSTEMS),
        ("scheduler", disk.elevator if disk.is_hardware else "", _SCHEDULERS),
    ]
    for key, value, options in known:
        if value in options:
            yield f"{key}={value}", options[value]


# Room for the trace while it is recorded, and for what the guest's kernel needs beside its memory.
_SPARE_BYTES = 64 << 20
# What all kernels with the lab's patches have; the model of a device has grown since.
_IN_ALL = ("tt_syscall_ns", "um_seed", "ubd.latency_ns", "ubd.bytes_per_second")
_IN_MEMORY = "uml-userspace"  # the name of a memfd with a program, in kernels that make one


def _shared_is_executable() -> bool:
    return not os.statvfs(shared_memory()).f_flag & os.ST_NOEXEC


@dataclass(frozen=True)
class Host:
    """What a machine gives to runs; by default, this one.

    program: where a program is. shared_bytes: free on the tmpfs of guests. memory_bytes: available. The others say
    whether files on that tmpfs can be executed, programs in memory can be, and addresses are the same in each run.
    """

    program: Callable[[str], str | None] = tool_path
    shared_bytes: Callable[[], int] = free_shared_bytes
    memory_bytes: Callable[[], int] = available_memory_bytes
    shared_is_executable: Callable[[], bool] = _shared_is_executable
    memory_is_executable: Callable[[], bool] = hostkernel.memory_is_executable
    addresses_are_fixed: Callable[[], bool] = hostkernel.addresses_are_fixed


_HERE = Host()


def check_run(spec: Spec, host: Host = _HERE) -> None:
    """Raise InputError for a spec that cannot run, on this host or anywhere."""
    check_spec(spec)
    check_parameters(spec)
    for option, value in spec.kernel.config.items():
        check_option(option, value, f"kernel.config.{option}")
    for name, disk in spec.disk.items():
        check_options(disk, spec.disk_key(name))
    interpreter()
    if spec.needs_lab:
        lab()
    tools = dict.fromkeys(mkfs_tool(disk) for disk in spec.disk.values() if disk.has_files and disk.model != SERVED)
    wanted = [*tools] + (["trace-cmd"] if spec.trace.events else [])
    check_programs(wanted, host)
    _check_room(spec, host)
    check(max([boot_bytes(spec), *(disk.size for disk in images(spec).values())]))


def check_kernel(spec: Spec, kernel: Kernel, host: Host = _HERE) -> None:
    """Raise InputError for a kernel of User Mode Linux that lacks what the run needs: patches, options, parameters."""
    _check_memory(host)
    if not host.memory_is_executable() and kernel.held([_IN_MEMORY]):
        raise InputError(f"{hostkernel.REFUSED}, which the kernel {kernel.release} needs: {hostkernel.REFUSED_ADVICE}")
    needed: tuple[str, ...] = ("tt_syscall_ns", "um_seed") if spec.clock.mode == "virtual" else ()
    needed += tuple(model_parameters(list(images(spec).values())))
    sure = _IN_ALL if kernel.patches else ()
    asked = [parameter for parameter in needed if parameter not in sure]
    missing = [parameter for parameter in asked if parameter not in kernel.held(asked)]
    if missing:
        raise InputError(
            f"the kernel {kernel.path} does not know {', '.join(missing)}: "
            "build its tree with 'wblab kernel build TREE', or use --clock real with the throttle disk"
        )
    if spec.clock.mode == "virtual" and not has_virtual_time(kernel):
        raise InputError(
            f"the kernel {spec.kernel.build or kernel.release} has no virtual time: run it with --set clock.mode=real"
        )
    if options := lacking(spec, kernel):
        said = ", ".join(f"{key} needs {option}" for key, option in options.items())
        raise InputError(
            f"the kernel {spec.kernel.build or kernel.release} cannot run this: {said}: take another kernel, such as "
            f"--kernel {kernel.series}; 'wblab kernel build {kernel.series}' builds it"
        )
    for name in spec.kernel.parameters:
        if not may_take(kernel, name):
            raise InputError(
                f"kernel.parameters.{name}: the kernel {kernel.release} has no such parameter: correct or remove it"
            )


def _check_memory(host: Host) -> None:
    """User Mode Linux maps the file of its memory executable, and its addresses decide how much it has."""
    if not host.shared_is_executable():
        raise InputError(
            f"{shared_memory()} is mounted noexec: remount it with exec, or set WBLAB_SHM to another tmpfs"
        )
    if not host.addresses_are_fixed():
        raise InputError(f"addresses are {hostkernel.RANDOM}: {hostkernel.RANDOM_ADVICE}")


def check_programs(wanted: Sequence[str], host: Host = _HERE) -> None:
    """Raise InputError for programs that are not on this machine, with the command that installs them."""
    missing = [name for name in wanted if host.program(name) is None]
    if missing:
        how = advice([(PROGRAMS | OPTIONAL_PROGRAMS)[name] for name in missing])
        raise InputError(f"missing on this machine: {', '.join(missing)}: {how}")


def _check_room(spec: Spec, host: Host) -> None:
    """The guest's memory and the trace lie on a tmpfs, each disk in a memfd; all of it is RAM."""
    needed = boot_bytes(spec) + _SPARE_BYTES
    try:
        room = host.shared_bytes()
    except OSError as error:
        raise InputError(f"cannot use {shared_memory()}: {error.strerror}: set WBLAB_SHM to a tmpfs") from None
    if room < needed:
        raise InputError(
            f"{shared_memory()} has {room >> 20} MiB free, the guest needs {needed >> 20} MiB: "
            "free some, lower memory, or set WBLAB_SHM to another tmpfs"
        )
    memory = host.memory_bytes()
    needed += sum(disk.resident_bytes for disk in images(spec).values())
    if memory < needed:
        sizes = " or ".join(f"{spec.disk_key(name)}.size" for name in images(spec))
        raise InputError(
            f"this machine has {memory >> 20} MiB of memory available, the run needs "
            f"{format_bytes(needed)}: lower memory or {sizes}, "
            f"or limit what a disk takes by {sizes.replace('.size', '.resident')}"
        )
