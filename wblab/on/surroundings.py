"""What a user's program finds around it in the guest: devices, a network, its directory on the slow disk, its home."""

import ctypes
import fcntl
import os
import socket
import struct
import tarfile
from contextlib import suppress
from pathlib import Path

from wblab.core import layout
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, libc, mount
from wblab.on.order import Order

_MS_BIND, _MS_REC, _MS_REMOUNT_RDONLY = 4096, 16384, 4096 | 32 | 1  # MS_BIND; with MS_REMOUNT, MS_RDONLY: mount(2)
_MNT_DETACH = 2  # umount(2)
_SIOCSIFFLAGS, _IFF_UP, _SIOCGIFFLAGS = 0x8914, 1, 0x8913  # netdevice(7)
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
PLACE = layout.DISK / "work"  # the program's directory on the disk


def make_world() -> None:
    """Mount and link what programs expect of a Linux system, and bring the loopback device up."""
    for name, target in _LINKS.items():
        with suppress(FileExistsError):
            os.symlink(target, f"/dev/{name}")
    for path, kind, options in (
        ("/dev/shm", "tmpfs", "mode=1777"),
        ("/dev/pts", "devpts", "ptmxmode=0666,mode=0620"),
        ("/dev/mqueue", "mqueue", ""),
        ("/var/tmp", "tmpfs", "mode=1777"),
        ("/run/lock", "tmpfs", "mode=1777"),
    ):
        with suppress(OSError):
            os.makedirs(path, exist_ok=True)
            mount(kind, path, kind, MS_NOSUID | MS_NODEV if kind != "devpts" else MS_NOSUID, options)
    if not os.path.exists("/dev/ptmx"):
        with suppress(OSError):
            os.symlink("pts/ptmx", "/dev/ptmx")
    for device in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"):
        with suppress(OSError):
            os.chmod(f"/dev/{device}", 0o666)
    os.chmod("/tmp", 0o1777)
    with suppress(OSError):
        socket.sethostname("wblab")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            asked = struct.pack("16sh14x", b"lo", 0)
            (flags,) = struct.unpack("16xh14x", fcntl.ioctl(any_socket, _SIOCGIFFLAGS, asked))
            fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def unpack(order: Order) -> None:
    """Put the directory's files onto the disk, and make the program's home."""
    PLACE.mkdir()
    if order.tree:
        with tarfile.open(layout.PACKAGES / order.tree) as archive:
            # The user's own files, made by the lab's other half.
            if hasattr(tarfile, "data_filter"):
                archive.extractall(PLACE, filter="fully_trusted")
            else:  # Python 3.11.3 and older, which have no filters
                archive.extractall(PLACE)
    for path in (PLACE, *PLACE.rglob("*")):
        os.chown(path, order.uid, order.gid, follow_symlinks=False)
    home = Path(order.environment["HOME"])
    home.mkdir(parents=True, exist_ok=True)
    os.chown(home, order.uid, order.gid)


def join(order: Order) -> None:
    """Show the disk's directory where the host has it, and in it what is the host's."""
    for name in order.linked:
        (PLACE / name).mkdir(parents=True, exist_ok=True)
        mount(f"{order.directory}/{name}", PLACE / name, "none", _MS_BIND)
        mount("none", PLACE / name, "none", _MS_REMOUNT_RDONLY)
    os.makedirs(order.directory, exist_ok=True)
    mount(str(PLACE), order.directory, "none", _MS_BIND | _MS_REC)


def part(order: Order) -> None:
    """Take the mounts of `join` away."""
    os.chdir("/")
    for path in (order.directory, *(str(PLACE / name) for name in order.linked)):
        libc.umount2(ctypes.c_char_p(os.fsencode(path)), _MNT_DETACH)
