"""A guest that stands still at a moment of virtual time, and copies of it that go on.

The guest's kernel makes a copy of itself when it is told to (linux-uml/patches: `um: copy a running guest`): its
memory, its disks, and the host's processes that it consists of. So what comes before the moment is run once, however
many runs go on from there. A copy has a directory, a status channel and a console of its own.
"""

import os
import select
import shutil
import signal
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path

from wblab.core import layout
from wblab.core.copied import Course
from wblab.core.entry import SCRATCH_FD
from wblab.core.errors import WblabError
from wblab.core.status import FAILED, Message
from wblab.host.process.boot import Boot, Ended, end, last_words, let_go, start, waited_s
from wblab.host.process.channel import Channel, Silence
from wblab.host.process.collect import take_over
from wblab.host.process.limits import check_files, check_said, check_wall
from wblab.host.process.usage import descendants, reclaim
from wblab.lab.formats import CONSOLE
from wblab.lab.printable import printable

_STATUS = "status"
_LOOK_S = 0.1
# arch/um/include/shared/copies.h: the moment; what the guest says, the pid of the last copy or 0; an order.
_MOMENT, _SAID, _FILE = struct.Struct("<Q"), struct.Struct("<Q"), struct.Struct("<ii248s")
_FILES = 4
_CONSOLE_FDS = (1, 2)


@dataclass(frozen=True)
class _Copy:
    """ended: a descriptor of its process. status: our end of its status channel. place: its directory."""

    pid: int
    ended: int
    status: int
    place: Path


@dataclass
class Standing:
    """A guest that stands still. moment_ns: at which time of its clock."""

    request: Boot
    moment_ns: int
    _socket: socket.socket
    _numbers: Iterator[int] = field(default_factory=count)

    def copy(
        self,
        course: Course,
        texts: Mapping[str, str],
        run: Path,
        heard: Callable[[Message], None],
        look: Callable[[], None] = lambda: None,
    ) -> Ended:
        """Let a copy run to its end, and keep what it leaves in a run's directory. Raises WblabError.

        course: what it does from now on. texts: files that it finds in its scratch directory. heard, look: as in boot.
        """
        started_s = time.monotonic()
        place = self.request.of_copies / str(next(self._numbers))
        own = place / "guest"
        with ExitStack() as stack:
            stack.callback(shutil.rmtree, place, ignore_errors=True)
            self._provide(own, texts)
            (place / CONSOLE).touch(0o600)
            os.mkfifo(place / _STATUS, 0o600)
            status = os.open(place / _STATUS, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            stack.callback(os.close, status)
            pid = self._ordered(place, course)
            ended = os.pidfd_open(pid)  # nobody waits for it before the guest ends: its number stays its own
            stack.callback(os.close, ended)
            try:
                last = self._watch(_Copy(pid, ended, status, place), heard, look)
            finally:
                with suppress(ProcessLookupError):
                    signal.pidfd_send_signal(ended, signal.SIGKILL)
                with suppress(OSError), (run / CONSOLE).open("ab") as console:
                    console.write((place / CONSOLE).read_bytes())
                take_over(own, run)
            return Ended(last, time.monotonic() - started_s)

    def _provide(self, own: Path, texts: Mapping[str, str]) -> None:
        """Make a copy's scratch directory: with what the guest has written to its own, and these files."""
        (own / layout.LEFT).mkdir(parents=True, mode=0o700)
        with os.scandir(self.request.shared) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    shutil.copyfile(entry.path, own / entry.name, follow_symlinks=False)
        for name, text in texts.items():
            (own / name).write_text(text)

    def _ordered(self, place: Path, course: Course) -> int:
        """Order a copy, and return its pid. Raises WblabError."""
        console = os.O_WRONLY | os.O_APPEND
        files = [
            (SCRATCH_FD, os.O_RDONLY | os.O_DIRECTORY, place / "guest"),
            (layout.STATUS_FD, os.O_WRONLY, place / _STATUS),
            (1, console, place / CONSOLE),
        ]
        order = [_FILE.pack(fd, flags, os.fsencode(path)) for fd, flags, path in files]
        order += [_FILE.pack(-1, 0, b"")] * (_FILES - len(order))
        try:
            self._socket.send(b"".join(order) + course.page())
            pid = _heard(self._socket, self.request.limits.silence_s)
        except OSError as error:
            raise WblabError(f"the guest made no copy: {error.strerror}") from None
        if not pid:
            raise WblabError("the guest could not be copied: too little memory, or too many processes")
        return pid

    def _watch(self, copy: "_Copy", heard: Callable[[Message], None], look: Callable[[], None]) -> Message:
        """Return what a copy said last. Raises WblabError with why it failed."""
        limits, started_s = self.request.limits, time.monotonic()
        silence = Silence(limits.silence_s, lambda: waited_s(descendants(copy.pid)))
        channel, last, reason = Channel(), None, ""
        while True:
            ready, _, _ = select.select([copy.ended, copy.status], [], [], _LOOK_S)
            check_files(limits, copy.place / "guest", copy.place / CONSOLE)
            check_wall(limits, started_s)
            look()
            chunk = _read(copy.status) if copy.status in ready else b""
            for message in channel.feed(chunk):
                silence.broken()
                last = message
                if message.phase == FAILED:
                    reason = reason or printable(message.detail.get("reason", "the guest failed and gave no reason"))
                heard(message)
            check_said(limits, channel.said_bytes)
            if last and last.phase == "power off":
                if reason:
                    raise WblabError(reason)
                return last
            if copy.ended in ready and not chunk:
                raise WblabError(reason or f"the copy of a guest ended early: {last_words(copy.place / CONSOLE)}")
            if silence.is_over():
                raise WblabError(reason or f"the copy of a guest hangs: no message for {silence.limit_s:g} s")


def _read(status: int) -> bytes:
    try:
        return os.read(status, 65536)
    except BlockingIOError:
        return b""


def _heard(from_guest: socket.socket, limit_s: float) -> int:
    from_guest.settimeout(limit_s)
    said = from_guest.recv(_SAID.size)
    if len(said) != _SAID.size:
        raise OSError(0, "it has ended")
    return int(_SAID.unpack(said)[0])


@contextmanager
def standing(request: Boot, moment_ns: int, look: Callable[[], None] = lambda: None) -> Iterator[Standing]:
    """Run a guest up to a moment of its clock, and yield it; it ends with the block. Raises WblabError.

    look: as in boot. What the guest itself leaves is not kept.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    status_read, status_write = os.pipe()
    control, control_far = socket.socketpair()
    with ours, theirs, open(status_read, "rb", buffering=0) as status, control, ExitStack() as afterwards:
        afterwards.callback(reclaim, request.scratch)
        reaper = start(replace(request, copies=theirs), control_far, status_write)
        theirs.close()
        ours.send(_MOMENT.pack(moment_ns))
        with reaper, control:
            try:
                _await(request, ours, status.fileno(), look)
                yield Standing(request, moment_ns, ours)
            finally:
                end(reaper, control, 0)
                let_go(control)


def _await(request: Boot, ours: socket.socket, status: int, look: Callable[[], None]) -> None:
    """Wait until the guest stands still. Raises WblabError."""
    started_s, channel, console = time.monotonic(), Channel(), request.run / CONSOLE
    while True:
        ready, _, _ = select.select([ours.fileno(), status], [], [], _LOOK_S)
        check_wall(request.limits, started_s)
        look()
        if time.monotonic() - started_s > request.limits.silence_s:
            raise WblabError(f"the guest did not come to where it is copied: {last_words(console)}")
        if status in ready:
            chunk = os.read(status, 65536)
            for message in channel.feed(chunk):
                if message.phase == FAILED:
                    raise WblabError(printable(message.detail.get("reason", "the guest failed and gave no reason")))
            if not chunk:
                raise WblabError(f"the guest ended before it was copied: {last_words(console)}")
        if ours.fileno() in ready:
            try:
                _heard(ours, request.limits.silence_s)
                return
            except OSError:
                raise WblabError(f"the guest ended before it was copied: {last_words(console)}") from None
