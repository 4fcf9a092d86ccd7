"""System calls that the standard library lacks. Each returns its result or raises OSError."""

import ctypes
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # the guest's first stage imports almost nothing
    from pathlib import Path

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_SYNCHRONOUS, MS_REMOUNT = 1, 2, 4, 16, 32
# Mount options of every filesystem: flags of mount(2), not options that it passes to the filesystem.
MOUNT_FLAGS = {
    "sync": MS_SYNCHRONOUS,
    "async": 0,
    "noatime": 1 << 10,
    "nodiratime": 1 << 11,
    "relatime": 1 << 21,
    "strictatime": 1 << 24,
}
IOPRIO_CLASSES = {"none": 0, "realtime": 1, "best-effort": 2, "idle": 3}

_HOSTFS_MAGIC = 0x00C0FFEE  # fs/hostfs/hostfs_kern.c
_UMOUNT_NOFOLLOW = 8
_RB_POWER_OFF = 0x4321FEDC
_PR_SET_NAME = 15
_PR_SET_TIMERSLACK = 29
_SYNC_FILE_RANGE_ALL = 7  # wait for writes in flight, write, wait
_IOPRIO_WHO_PROCESS, _IOPRIO_CLASS_SHIFT = 1, 13
_SYS_IOPRIO_SET = 251  # x86-64, arch/x86/entry/syscalls/syscall_64.tbl

libc = ctypes.CDLL(None, use_errno=True)


def checked(result: int, subject: str | None = None) -> int:
    """Return the result of a system call made through `libc`, or raise its OSError for `subject`."""
    if result < 0:
        errno = ctypes.get_errno()
        raise OSError(errno, os.strerror(errno), subject)
    return result


def memory_of(buffer: bytes | bytearray) -> "ctypes.Array[ctypes.c_char]":
    """Return memory for an asynchronous system call: the buffer's own, or a copy of an immutable buffer."""
    if isinstance(buffer, bytearray):
        return (ctypes.c_char * len(buffer)).from_buffer(buffer)
    return ctypes.create_string_buffer(buffer, len(buffer))


def mount(source: str, target: "Path | str", filesystem: str, flags: int = 0, options: str = "") -> None:
    """Mount a filesystem, with the arguments of the system call."""
    arguments = (os.fsencode(item) for item in (source, target, filesystem))
    checked(libc.mount(*arguments, ctypes.c_ulong(flags), os.fsencode(options)), f"{filesystem} on {target}")


def umount(target: "Path | str") -> None:
    """Unmount a filesystem; a link is not followed, see umount2(2)."""
    checked(libc.umount2(os.fsencode(target), _UMOUNT_NOFOLLOW), str(target))


def on_hostfs(path: str) -> bool:
    """Whether a path is on hostfs, User Mode Linux's view of its host; see statfs(2)."""
    status = (ctypes.c_long * 32)()  # longer than struct statfs, whose first field is f_type
    checked(libc.statfs(os.fsencode(path), status), path)
    return status[0] == _HOSTFS_MAGIC


def set_ioprio(ioclass: str, level: int, thread: int = 0) -> None:
    """Set the I/O priority of a thread, 0 for the caller (ioprio_set(2)); `ioclass` is a key of IOPRIO_CLASSES."""
    value = IOPRIO_CLASSES[ioclass] << _IOPRIO_CLASS_SHIFT | (0 if ioclass in ("none", "idle") else level)
    checked(libc.syscall(_SYS_IOPRIO_SET, _IOPRIO_WHO_PROCESS, thread, value), "I/O priority")


def lock_memory(address: int, length: int) -> None:
    """Keep pages in memory; see mlock(2)."""
    checked(libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(length)))


def sync_file_range(fd: int) -> None:
    """Write a file's dirty pages and wait for them, but do not flush its metadata or the disk's cache."""
    checked(libc.sync_file_range(fd, ctypes.c_int64(0), ctypes.c_int64(0), _SYNC_FILE_RANGE_ALL))


def syncfs(fd: int) -> None:
    """Write all dirty data of a descriptor's filesystem, and wait until the disk has it."""
    checked(libc.syncfs(fd))


def set_process_name(name: str) -> None:
    """Set this process's name, as traces show it: its first 15 bytes. See prctl(2), PR_SET_NAME."""
    checked(libc.prctl(_PR_SET_NAME, os.fsencode(name), 0, 0, 0), name)


def swap_on(device: "Path | str") -> None:
    """Swap to a device that has a header (`swap_header`); see swapon(2)."""
    checked(libc.swapon(os.fsencode(device), 0), str(device))


def swap_off(device: "Path | str") -> None:
    """Read back what is swapped to a device, and swap to it no more; see swapoff(2)."""
    checked(libc.swapoff(os.fsencode(device)), str(device))


def swap_header(size: int, page: int = 4096) -> bytes:
    """Return the first page of a device of `size` bytes to swap to: union swap_header of include/linux/swap.h."""
    last = size // page - 1
    information = (1).to_bytes(4, sys.byteorder) + last.to_bytes(4, sys.byteorder)  # version, last_page
    return (bytes(1024) + information).ljust(page - 10, b"\0") + b"SWAPSPACE2"


def set_timer_slack(slack_ns: int) -> None:
    """Set how much later than asked this process's sleeps may end. See prctl(2), PR_SET_TIMERSLACK."""
    checked(libc.prctl(_PR_SET_TIMERSLACK, ctypes.c_ulong(slack_ns)))


def power_off() -> None:
    """Power the machine off, without a sync; see reboot(2)."""
    checked(libc.reboot(_RB_POWER_OFF))
