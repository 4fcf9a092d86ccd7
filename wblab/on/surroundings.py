"""What a user's program finds around it in the guest: devices, a network, its directory on the slow disk, its home."""

import ctypes
import fcntl
import os
import resource
import socket
import struct
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path

from wblab.core import layout
from wblab.core.errors import WblabError
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, libc, mount
from wblab.guest.mounts import TRACEFS
from wblab.on.order import Order

_MS_BIND, _MS_REC, _MS_REMOUNT_RDONLY = 4096, 16384, 4096 | 32 | 1  # MS_BIND; with MS_REMOUNT, MS_RDONLY: mount(2)
_MNT_DETACH = 2  # umount(2)
_SIOCSIFFLAGS, _IFF_UP, _SIOCGIFFLAGS = 0x8914, 1, 0x8913  # netdevice(7)
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
PLACE = layout.DISK / "work"  # the program's directory on the disk
_TEMPORARY = layout.DISK / "tmp"  # what is at _ON_DISK, where programs put temporary files that last
_ON_DISK = "/var/tmp"
_OPEN_FILES = (1024, 1 << 19)  # the soft and the hard limit, as distributions have them
_QUEUES = "/dev/mqueue"
_IPC_RMID = 0  # shmctl(2)
_IN_MEMORY = (
    ("/tmp", "tmpfs", "mode=1777"),
    ("/dev/shm", "tmpfs", "mode=1777"),
    ("/dev/pts", "devpts", "ptmxmode=0666,mode=0620"),
    (_QUEUES, "mqueue", ""),
    ("/run/lock", "tmpfs", "mode=1777"),
)


@contextmanager
def untraced() -> Iterator[None]:
    """Record no events meanwhile: of what is no part of the program, there may be more than fit into the buffer."""
    switch = TRACEFS / "tracing_on"
    with suppress(OSError):  # a guest whose kernel or distribution does not trace
        switch.write_text("0")
    yield
    with suppress(OSError):
        switch.write_text("1")


def make_world() -> None:
    """Mount and link what programs expect of a Linux system, and bring the loopback device up."""
    for name, target in _LINKS.items():
        with suppress(FileExistsError):
            os.symlink(target, f"/dev/{name}")
    _make_memory()
    if not os.path.exists("/dev/ptmx"):
        with suppress(OSError):
            os.symlink("pts/ptmx", "/dev/ptmx")
    for device in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"):
        with suppress(OSError):
            os.chmod(f"/dev/{device}", 0o666)
    resource.setrlimit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    with suppress(OSError):
        socket.sethostname("wblab")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            asked = struct.pack("16sh14x", b"lo", 0)
            (flags,) = struct.unpack("16xh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked))
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def _make_memory() -> None:
    """Mount what programs have in memory, empty, over what they had."""
    for path, kind, options in _IN_MEMORY:
        with suppress(OSError):
            os.makedirs(path, exist_ok=True)
            mount(kind, path, kind, MS_NOSUID | MS_NODEV if kind != "devpts" else MS_NOSUID, options)


def forget() -> None:
    """Lose what is in memory, as a machine without power does."""
    for kind, words in (("shm", (_IPC_RMID,)), ("msg", (_IPC_RMID,)), ("sem", (0, _IPC_RMID))):
        with suppress(OSError):  # a kernel without System V IPC
            for line in Path("/proc/sysvipc", kind).read_text().splitlines()[1:]:
                getattr(libc, f"{kind}ctl")(int(line.split()[1]), *words, None)
    with suppress(OSError):
        for name in os.listdir(_QUEUES):
            os.unlink(f"{_QUEUES}/{name}")
    for path, *_ in _IN_MEMORY:
        libc.umount2(ctypes.c_char_p(os.fsencode(path)), _MNT_DETACH)
    _make_memory()


def unpack(order: Order) -> None:
    """Put the directory's files onto the disk, and make the program's home. Raises WblabError where they do not fit."""
    if order.clock_s:  # else what a program makes would be older than the files that it makes it from
        with suppress(OSError):
            time.clock_settime(time.CLOCK_REALTIME, order.clock_s)
    try:
        _unpack(order)
    except OSError as error:
        if error.errno not in (ENOSPC, EDQUOT):
            raise
        raise WblabError("the directory does not fit on the disk: raise --size, or use --tracked, --dir") from None


def _unpack(order: Order) -> None:
    if PLACE.exists():
        raise WblabError("the program restarted the guest: that ends a run")
    _TEMPORARY.mkdir()
    _TEMPORARY.chmod(0o1777)
    PLACE.mkdir()
    if order.tree:
        with tarfile.open(layout.PACKAGES / order.tree) as archive:
            # The user's own files, made by the lab's other half.
            if hasattr(tarfile, "data_filter"):
                archive.extractall(PLACE, filter="fully_trusted")
            else:  # Python 3.11.3 and older, which have no filters
                archive.extractall(PLACE)
    PLACE.joinpath(os.path.relpath(order.begins, order.directory)).mkdir(parents=True, exist_ok=True)
    for path in (PLACE, *PLACE.rglob("*")):
        os.chown(path, order.uid, order.gid, follow_symlinks=False)
    home = _TEMPORARY / "home"
    home.mkdir()
    os.chown(home, order.uid, order.gid)


def join(order: Order) -> None:
    """Show the disk's directory where the host has it, and in it what is the host's; and where programs have others."""
    with suppress(OSError):  # a host without it
        mount(str(_TEMPORARY), _ON_DISK, "none", _MS_BIND)
    for name in order.linked:
        (PLACE / name).mkdir(parents=True, exist_ok=True)
        mount(f"{order.directory}/{name}", PLACE / name, "none", _MS_BIND)
        mount("none", PLACE / name, "none", _MS_REMOUNT_RDONLY)
    os.makedirs(order.directory, exist_ok=True)
    mount(str(PLACE), order.directory, "none", _MS_BIND | _MS_REC)


def part(order: Order) -> None:
    """Take the mounts of `join` away."""
    os.chdir("/")
    for path in (order.directory, *(str(PLACE / name) for name in order.linked), _ON_DISK):
        libc.umount2(ctypes.c_char_p(os.fsencode(path)), _MNT_DETACH)
