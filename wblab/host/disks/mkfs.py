"""Makes the filesystem on the disk under test. Its options may be a stranger's, and so the tool is confined."""

import os
import resource
import select
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from fcntl import F_DUPFD, fcntl
from pathlib import Path

from wblab.core.entry import host_path
from wblab.core.errors import WblabError
from wblab.core.layout import DISK_FD
from wblab.core.units import format_bytes
from wblab.host.disks.holes import dig, taken_bytes
from wblab.host.disks.reproducible import make_reproducible
from wblab.host.sandbox import DISTRIBUTION, Sandbox
from wblab.host.sandbox.sandbox import loader
from wblab.machine.processes import end_with

DISK_PATH = host_path(DISK_FD)  # what the command calls the disk
# mkfs.btrfs asks of each loop device that is mounted, such as those of snap packages, of which file it is.
_LOOPS = "/sys/devices/virtual/block"
_LONGEST_S = 60  # of processor time
_LOOK_S = 0.05  # between two looks at how much memory it takes
# The defaults are those built into mke2fs, not a file's of this machine: it takes them where this file does not exist.
_DEFAULTS = {"MKE2FS_CONFIG": "/nonexistent/mke2fs.conf"}
# mkfs writes the time into superblock and inodes (e2fsprogs, lib/ext2fs/initialize.c); mkfs.xfs takes a time and
# generation numbers that are fixed since xfsprogs 6.18 (libxfs/util.c).
_FIXED = {"E2FSPROGS_FAKE_TIME": "1700000000", "SOURCE_DATE_EPOCH": "1700000000", "DETERMINISTIC_SEED": "1"}
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"} | _DEFAULTS | _FIXED


@dataclass(frozen=True)
class Mkfs:
    """A command that makes a filesystem on DISK_PATH, the disk's size, and where the disk stands in its spec.

    command: empty, the disk gets no filesystem.
    resident_bytes: how much memory the disk may take, as it is written; 0, it takes all now.
    longest_s: processor time that the command may take.
    filesystem, chance: which one, and in hexadecimal what takes the place of what its tool leaves to chance.
    """

    command: Sequence[str]
    size_bytes: int
    filesystem: str = ""
    chance: str = ""
    key: str = "disk"
    resident_bytes: int = 0
    longest_s: int = _LONGEST_S


def format_disk(mkfs: Mkfs, disk_fd: int) -> None:
    """Make the filesystem, and every page of the disk: none is allocated during the run. Raises WblabError.

    Of a disk that takes memory as it is written, none that holds zeros.

    The tool can write to this disk only. It is started by a fork, so this is for a process without other threads.
    """
    if mkfs.command:
        _make(mkfs, disk_fd)
    try:
        if mkfs.resident_bytes:
            dig(disk_fd)
        else:
            os.posix_fallocate(disk_fd, 0, mkfs.size_bytes)
    except OSError as error:
        raise WblabError(f"cannot make the disk in memory: {error.strerror}") from None


def _make(mkfs: Mkfs, disk_fd: int) -> None:
    said = os.memfd_create("wblab-mkfs")
    try:
        pid = os.fork()
        if not pid:
            _become(mkfs, disk_fd, said)
        status = _wait(mkfs, pid, disk_fd)
        tool = Path(mkfs.command[0]).name
        if _is_over(mkfs, disk_fd):
            most = format_bytes(mkfs.resident_bytes)
            raise WblabError(f"{tool} took more than {most} of memory for the disk: raise {mkfs.key}.resident")
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
            raise WblabError(
                f"{tool} took more than {mkfs.longest_s} s of processor time: check {mkfs.key}.mkfs_options"
            )
        if status:
            lines = os.pread(said, 4096, 0).decode(errors="replace").strip().splitlines()
            raise WblabError(f"{tool} failed on the disk: check {mkfs.key}.mkfs_options: {' / '.join(lines[-2:])}")
    finally:
        os.close(said)
    make_reproducible(mkfs.filesystem, disk_fd, bytes.fromhex(mkfs.chance))


def _wait(mkfs: Mkfs, pid: int, disk_fd: int) -> int:
    """Return the tool's wait status; one whose disk takes too much is ended."""
    ended = os.pidfd_open(pid)
    while not select.select([ended], [], [], _LOOK_S)[0]:
        if _is_over(mkfs, disk_fd):
            os.kill(pid, signal.SIGKILL)
    os.close(ended)
    return os.waitpid(pid, 0)[1]


def _is_over(mkfs: Mkfs, disk_fd: int) -> bool:
    """Whether a disk that takes memory as it is written has taken more than it may."""
    return 0 < mkfs.resident_bytes < taken_bytes(disk_fd)


def _become(mkfs: Mkfs, disk_fd: int, said: int) -> None:
    """In the child: be the tool, with the disk and nothing else open."""
    try:
        end_with(os.getppid())
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        # Not where one of them is to be: a descriptor that is put onto itself would be closed as the tool starts.
        disk, output = (fcntl(descriptor, F_DUPFD, DISK_FD + 1) for descriptor in (disk_fd, said))
        for number, descriptor in ((0, null), (1, output), (2, output), (DISK_FD, disk)):
            os.dup2(descriptor, number)
        os.closerange(3, DISK_FD)
        os.closerange(DISK_FD + 1, os.sysconf("SC_OPEN_MAX"))
        resource.setrlimit(resource.RLIMIT_CPU, (mkfs.longest_s, mkfs.longest_s + 1))  # SIGXCPU, then SIGKILL
        tool = mkfs.command[0]
        runs = [tool, *filter(None, [loader(tool)])]
        Sandbox(runs, (*DISTRIBUTION, _LOOPS), largest_file_bytes=mkfs.size_bytes, calls="tool").enter()
        os.execve(tool, list(mkfs.command), _ENVIRONMENT)
    except OSError as error:
        os.write(2, f"cannot execute {mkfs.command[0]}: {error.strerror}".encode())
    finally:
        os._exit(127)
