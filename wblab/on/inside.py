"""The guest's side: makes a world for the user's program, runs it, and says what it printed and how it ended.

It runs as the guest's root, as the command of a load; the program runs as the user who asked for it. Standard library
only, as all that runs in a guest.
"""

import fcntl
import os
import pty
import selectors
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import termios
import time
import tty
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from errno import ENOEXEC
from functools import partial
from pathlib import Path

from wblab.core import layout
from wblab.core.child import describe_code, fork_child
from wblab.core.errors import WblabError
from wblab.core.loads import Load
from wblab.core.streams import draw_stream
from wblab.core.syscalls import libc, set_process_name
from wblab.core.tables import from_table
from wblab.guest.tree import descendants
from wblab.on.faults import Faults, FaultyDisk
from wblab.on.order import (
    CANNOT_INVOKE,
    CHUNK_BYTES,
    ERR,
    EXIT,
    KEPT,
    MOST_BYTES,
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
from wblab.on.signals import Awaited
from wblab.on.surroundings import PLACE, forget, join, make_world, part, unpack, untraced

PRINTED = Path("/run/printed")  # what the program printed before a loss of power
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, prctl(2)
_LOOK_S = 0.05  # between two looks whether the program has ended
_PIPE_BYTES = 64 << 10  # that a pipe holds


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
        with untraced():
            make_world()
            unpack(order)
            join(order)
            os.sync()
        disk = _disk(order, order.faults)
        beside = _start_beside(order, layout.DISK)
        begin_ns = time.monotonic_ns()
        try:
            code = _carried_out(order, disk, said)
        finally:
            time_ns = time.monotonic_ns() - begin_ns
            _end_all(beside)
            _keep(order, said)
            part(order)
    except WblabError as error:
        _say(said, NOTE, str(error).encode())
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


def _disk(order: Order, faults: Faults) -> FaultyDisk:
    return FaultyDisk(faults, order.seed, layout.DISK, for_root=order.uid == 0)


def _carried_out(order: Order, disk: FaultyDisk, said: int) -> int:
    """Run the command; if the disk loses power, also what is to run on the disk as that left it. Return the code."""
    stdin = layout.PACKAGES / order.stdin if order.stdin else Path(os.devnull)
    code = _run(order, order.argv, stdin, disk, said)
    if missed := disk.missed():
        _say(said, NOTE, missed.encode())
    if not order.faults.crashes:
        return code
    was_killed = disk.lost_ns is not None
    if not was_killed:
        disk.lose_power()
        _lose_all(disk)
    _end_all(())
    part(order)
    lost = disk.come_back()
    forget()
    join(order)
    _say(said, NOTE, lost.encode())
    if order.faults.then:
        sound = _disk(order, Faults())
        code_then = _run(order, ("/bin/sh", "-c", order.faults.then), PRINTED, sound, said)
        return code_then if was_killed else code or code_then
    return 0 if was_killed else code


def _lose_all(disk: FaultyDisk) -> None:
    """Kill all that runs below this process: with the power, it is gone. Whoever waits for the disk can then end."""
    _kill_below(())
    disk.release()


def _run(order: Order, argv: Sequence[str], stdin: Path, disk: FaultyDisk, said: int) -> int:
    """Run a command to its end, and pass on what it prints. Return its exit code, as a shell would.

    disk: gets its faults meanwhile.
    """
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
    disk.begin(time.monotonic_ns)
    with stdin.open("rb") as source:

        def start(words: Sequence[str]) -> "subprocess.Popen[bytes]":
            return subprocess.Popen(
                words,
                stdin=source,
                stdout=out,
                stderr=err,
                cwd=order.begins,
                env=order.environment,
                user=order.uid,
                group=order.gid,
                extra_groups=[],
                start_new_session=True,
            )

        try:
            process = _started(start, argv, order)
        except OSError as error:
            name = argv[0]
            _say(said, NOTE, os.fsencode(f"cannot run {name!r}: {os.strerror(error.errno or 0)}"))
            return NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_INVOKE
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    for fd in (out, err):
        os.close(fd)
    awaited = Awaited(layout.PACKAGES)

    def turn() -> None:
        if disk.turn():
            _lose_all(disk)
        elif came := awaited.take():
            _hand_on(came, process)

    _pass_on(ends, process, said, disk, turn)
    code = process.wait()
    if code < 0 and disk.lost_ns is None:
        _say(said, NOTE, f"it was ended by {describe_code(code)}".encode())
    return code if code >= 0 else 128 - code


def _started(
    start: "Callable[[Sequence[str]], subprocess.Popen[bytes]]", argv: Sequence[str], order: Order
) -> "subprocess.Popen[bytes]":
    """Start a command; a text that names no interpreter is a shell's, as execvp(3) has it. Raises OSError."""
    try:
        return start(argv)
    except OSError as error:
        name = argv[0]
        found = name if "/" in name else shutil.which(name, path=order.environment.get("PATH"))
        # hostfs lets root execute what has no bit that permits it.
        if error.errno != ENOEXEC or not found or not os.stat(os.path.join(order.begins, found)).st_mode & 0o111:
            raise
        return start(["/bin/sh", found, *argv[1:]])


def _hand_on(came: signal.Signals, process: "subprocess.Popen[bytes]") -> None:
    """Send a signal to the command: Ctrl-C to all that it started, as a terminal does."""
    with suppress(ProcessLookupError):
        if came == signal.SIGINT:
            os.killpg(process.pid, came)
        else:
            process.send_signal(came)


def _pass_on(
    ends: Mapping[int, str],
    process: "subprocess.Popen[bytes]",
    said: int,
    disk: FaultyDisk,
    turn: Callable[[], None],
) -> None:
    """Say what comes out of pipes or terminals until the program has ended and they are empty.

    turn: is called again and again meanwhile.
    """
    left = MOST_BYTES
    with selectors.DefaultSelector() as wait, PRINTED.open("ab") as printed:
        for fd in ends:
            os.set_blocking(fd, False)
            wait.register(fd, selectors.EVENT_READ)
        while wait.get_map():
            ended = process.poll() is not None
            ready = [key.fd for key, _ in wait.select(0 if ended else disk.patience_s(_LOOK_S))]
            turn()
            if ended and not ready:  # what it left running may hold them open
                return
            for fd in ready:
                try:
                    piece = os.read(fd, _PIPE_BYTES)
                except OSError:  # EIO: nobody has the terminal any more
                    piece = b""
                if not piece:
                    wait.unregister(fd)
                elif left > 0:
                    for at in range(0, len(piece), CHUNK_BYTES):
                        _say(said, ends[fd], piece[at : at + CHUNK_BYTES])
                    if disk.keeps_output and ends[fd] == OUT:
                        printed.write(piece)
                    left -= len(piece)
                    if left <= 0:
                        _say(said, NOTE, f"what it prints after {MOST_BYTES >> 20} MiB is left out".encode())
        while process.poll() is None:  # it has closed what it could print to
            time.sleep(disk.patience_s(_LOOK_S))
            turn()
        process.wait()


def _kill_below(others: Iterable[int]) -> None:
    """Kill all that runs below this process, and others. Nothing else runs meanwhile: none can start another one."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        for pid in {*others, *descendants(os.getpid())}:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def _end_all(beside: Sequence[int]) -> None:
    """End whatever still runs below this process: it would hold the disk."""
    while True:
        _kill_below(beside)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
        beside = ()


def _keep(order: Order, said: int) -> None:
    """Put what is to come back into an archive of the run's directory."""
    if not order.keep:
        return
    left = layout.SCRATCH / layout.LEFT
    left.mkdir(exist_ok=True)
    disk = os.statvfs(layout.DISK)
    room = [disk.f_blocks * disk.f_frsize]
    with tarfile.open(left / KEPT, "w", format=tarfile.PAX_FORMAT) as archive:
        for name in order.keep:
            if os.path.lexists(PLACE / name):
                archive.add(PLACE / name, name, filter=partial(_plain, archive, said, room))
            else:
                _say(said, NOTE, os.fsencode(f"--keep {name}: it made no such file"))


def _plain(archive: tarfile.TarFile, said: int, room: list[int], item: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Return a file or directory for the archive; say what is neither, as it does not come back.

    room: the bytes that files may have in all, their holes included. It gets less.
    """
    archive.inodes.clear()  # type: ignore[attr-defined]  # else a file's second name would be a link
    if item.isfile() and item.size > room[0]:
        _say(
            said,
            NOTE,
            os.fsencode(f"--keep {item.name}: with its holes it is larger than the disk, so it does not come back"),
        )
        return None
    if item.isfile() or item.isdir():
        room[0] -= item.size
        return item
    _say(said, NOTE, os.fsencode(f"--keep {item.name}: it is no file and no directory"))
    return None


if __name__ == "__main__":
    main()
    sys.exit(0)
