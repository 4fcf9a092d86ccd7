"""The guest's side: makes a world for the user's program, runs it, and says what it printed and how it ended.

It runs as the guest's root, as the command of a load; the program runs as the user who asked for it. Standard library
only, as all that runs in a guest.
"""

import ctypes
import fcntl
import os
import pty
import selectors
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import termios
import time
import tty
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from wblab.core import layout
from wblab.core.child import fork_child
from wblab.core.loads import Load
from wblab.core.streams import draw_stream
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, libc, mount, set_process_name
from wblab.core.tables import from_table
from wblab.on.order import (
    CANNOT_INVOKE,
    CHUNK_BYTES,
    ERR,
    EXIT,
    KEPT,
    NAME,
    NOT_FOUND,
    NOTE,
    ORDER,
    OURS,
    OUT,
    Order,
    frame,
    read_order,
)

_MS_BIND, _MS_REC, _MS_REMOUNT_RDONLY = 4096, 16384, 4096 | 32 | 1  # MS_BIND; with MS_REMOUNT, MS_RDONLY: mount(2)
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, prctl(2)
_SIOCSIFFLAGS, _IFF_UP, _SIOCGIFFLAGS = 0x8914, 1, 0x8913  # netdevice(7)
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
_MOST_BYTES = 64 << 20  # of output that is passed on


def main() -> None:
    """Carry the order out. Whatever happens, the last frame has an exit code."""
    said = os.open(layout.SAMPLES_DEVICE, os.O_WRONLY | os.O_NOCTTY)
    with suppress(termios.error):
        tty.setraw(said)
    code, time_ns = OURS, 0
    try:
        order = read_order((layout.PACKAGES / ORDER).read_text())
        set_process_name(NAME)
        libc.prctl(_SUBREAPER, 1, 0, 0, 0)
        _make_world()
        place = _unpack(order)
        beside = _start_beside(order, layout.DISK)
        begin_ns = time.monotonic_ns()
        try:
            code = _run(order, said)
        finally:
            time_ns = time.monotonic_ns() - begin_ns
            _end_all(beside)
            _keep(order, place, said)
    except Exception as error:
        _say(said, NOTE, f"{type(error).__name__}: {error}".encode())
    finally:
        with suppress(OSError):
            os.chdir("/")
        _say(said, EXIT, f"{code} {time_ns}".encode())
        os.sync()


def _say(said: int, kind: str, content: bytes) -> None:
    line = frame(kind, content)
    while line:
        line = line[os.write(said, line) :]


def _make_world() -> None:
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


def _unpack(order: Order) -> Path:
    """Put the directory's files onto the disk, and the disk's directory where the host has it."""
    place = layout.DISK / "work"
    place.mkdir()
    if order.tree:
        with tarfile.open(layout.PACKAGES / order.tree) as archive:
            archive.extractall(place, filter="fully_trusted")  # the user's own files, made by the lab's other half
    for path in (place, *place.rglob("*")):
        os.chown(path, order.uid, order.gid, follow_symlinks=False)
    home = Path(order.environment["HOME"])
    home.mkdir(parents=True, exist_ok=True)
    os.chown(home, order.uid, order.gid)
    for name in order.linked:
        (place / name).mkdir(parents=True, exist_ok=True)
        mount(f"{order.directory}/{name}", place / name, "none", _MS_BIND)
        mount("none", place / name, "none", _MS_REMOUNT_RDONLY)
    os.makedirs(order.directory, exist_ok=True)
    mount(str(place), order.directory, "none", _MS_BIND | _MS_REC)
    os.sync()
    return place


def _start_beside(order: Order, disk: Path) -> list[int]:
    """Start the loads that write beside the program, each a process of its own."""
    return [fork_child(partial(_write, order, disk, name, table)) for name, table in order.beside.items()]


def _write(order: Order, disk: Path, name: str, table: Mapping[str, object]) -> None:
    """Carry out all cycles of a load that writes."""
    set_process_name(name)
    load = from_table(Load, table, f"load.{name}", exact=True)
    cycle = load.prepare(disk, draw_stream(order.seed, name))
    for number in range(load.capacity):
        cycle(number)


def _run(order: Order, said: int) -> int:
    """Run the command to its end, and pass on what it prints. Return its exit code, as a shell would."""
    ends: Mapping[int, str]
    if order.columns:
        pairs = {pty.openpty(): kind for kind in (OUT, ERR)}
        for pair in pairs:
            fcntl.ioctl(pair[1], termios.TIOCSWINSZ, struct.pack("HHHH", order.lines, order.columns, 0, 0))
            mode = termios.tcgetattr(pair[1])
            mode[1] &= ~termios.OPOST  # a line ends as the program ended it
            termios.tcsetattr(pair[1], termios.TCSANOW, mode)
            os.fchown(pair[1], order.uid, order.gid)
    else:
        pairs = {os.pipe(): kind for kind in (OUT, ERR)}
    ends = {pair[0]: kind for pair, kind in pairs.items()}
    out, err = (pair[1] for pair in pairs)
    stdin = open(layout.PACKAGES / order.stdin, "rb") if order.stdin else open(os.devnull, "rb")  # noqa: SIM115
    with stdin:
        try:
            process = subprocess.Popen(
                order.argv,
                stdin=stdin,
                stdout=out,
                stderr=err,
                cwd=order.directory,
                env=order.environment,
                user=order.uid,
                group=order.gid,
                extra_groups=[],
                start_new_session=True,
            )
        except OSError as error:
            name = order.argv[0]
            _say(said, NOTE, f"cannot run {name!r}: {os.strerror(error.errno or 0)}".encode())
            return NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_INVOKE
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    for fd in (out, err):
        os.close(fd)
    _pass_on(ends, process, said)
    code = process.wait()
    return code if code >= 0 else 128 - code


def _pass_on(ends: Mapping[int, str], process: "subprocess.Popen[bytes]", said: int) -> None:
    """Say what comes out of pipes or terminals until the program has ended and they are empty."""
    left = _MOST_BYTES
    with selectors.DefaultSelector() as wait:
        for fd in ends:
            os.set_blocking(fd, False)
            wait.register(fd, selectors.EVENT_READ)
        while wait.get_map():
            ended = process.poll() is not None
            ready = [key.fd for key, _ in wait.select(0 if ended else 0.05)]
            if ended and not ready:  # what it left running may hold them open
                return
            for fd in ready:
                try:
                    piece = os.read(fd, CHUNK_BYTES)
                except OSError:  # EIO: nobody has the terminal any more
                    piece = b""
                if not piece:
                    wait.unregister(fd)
                elif left > 0:
                    _say(said, ends[fd], piece)
                    left -= len(piece)
                    if left <= 0:
                        _say(said, NOTE, f"what it prints after {_MOST_BYTES >> 20} MiB is left out".encode())
        process.wait()


def _end_all(beside: Sequence[int]) -> None:
    """End whatever still runs below this process: it would hold the disk."""
    while True:
        for pid in {*beside, *_children()}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
        beside = ()


def _children() -> list[int]:
    own = str(os.getpid())
    found = []
    for entry in os.listdir("/proc"):
        with suppress(OSError, IndexError):
            if entry.isdecimal() and Path("/proc", entry, "stat").read_text().rpartition(")")[2].split()[1] == own:
                found.append(int(entry))
    return found


def _keep(order: Order, place: Path, said: int) -> None:
    """Put what is to come back into an archive of the run's directory, then take the directory's mounts away."""
    if order.keep:
        left = layout.SCRATCH / layout.LEFT
        left.mkdir(exist_ok=True)
        with tarfile.open(left / KEPT, "w") as archive:
            for name in order.keep:
                if os.path.lexists(place / name):
                    archive.add(place / name, name)
                else:
                    _say(said, NOTE, f"--keep {name}: it made no such file".encode())
    os.chdir("/")
    detach = 2  # MNT_DETACH, umount(2)
    for path in (order.directory, *(str(place / name) for name in order.linked)):
        libc.umount2(ctypes.c_char_p(os.fsencode(path)), detach)


if __name__ == "__main__":
    main()
    sys.exit(0)
