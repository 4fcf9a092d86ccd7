"""Boot a guest, watch it over its status channel, and see to its end."""

import os
import select
import shlex
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from wblab.core import layout
from wblab.core.child import describe_exit
from wblab.core.errors import WblabError
from wblab.core.status import FAILED, PHASES, Message
from wblab.core.units import NS_PER_S
from wblab.host.disks.mkfs import Mkfs
from wblab.host.guestlab import GuestLab
from wblab.host.kernelparameters import check_taken
from wblab.host.process.channel import Channel, Silence
from wblab.host.process.collect import take_over
from wblab.host.process.limits import Limits, check_disks, check_files, check_own, check_said, check_wall
from wblab.host.process.reaper import ConfinedCommand
from wblab.host.process.reaping import Reaper, start_reaper
from wblab.host.process.usage import COPIES, KERNEL, descendants, reclaim, waited_ns
from wblab.host.sandbox import Sandbox
from wblab.host.sandbox.sandbox import loader
from wblab.lab.formats import CONSOLE
from wblab.lab.held import descriptor_in
from wblab.lab.oomkills import oom_kills, said
from wblab.lab.printable import printable

_END = b"x"
_WATCHERS = 2  # the guard and the reaper, of which a guest descends
_BUS_ERROR = "Kernel mode signal 7"  # SIGBUS: a page of the guest's memory file could not be had
_LOOK_S = 0.1  # host time between two looks at what it has written
_LAST_WORDS_BYTES = 256 << 10
_LONGEST_REASON = 1000
_SEE_CONSOLE = ": see the console"  # ends a reason of the guest's that the console explains
_MEMORY = ("reserved_bytes", "available_bytes")


@dataclass(frozen=True)
class Boot:
    """What a guest needs: its command, the directories and the disks that are handed in, and its bounds.

    run: what it leaves is copied here when it has ended; it never sees this directory.
    scratch: a directory on tmpfs, made for the run, with `kernel` in it for the kernel's own files, and `guest`, which
    the guest sees and leaves its results in.
    program: the guest's main program. texts: what it needs to know, by the names of files.
    sandbox: what the guest's kernel may do beside writing to these two and executing itself.
    memory_bytes: the guest's own memory.
    mkfs: what makes the filesystem of each disk; none, they have one.
    one_processor: keep the guest on one processor (see wblab.host.machine). shared_processor: also where another
    guest has it.
    lab: for a guest in which programs of the lab run.
    samples_fd: a pipe that gets what the guest writes to its SAMPLES_DEVICE.
    console_fd: a number by which the command gets its console too; 0: only as its standard output.
    parameters: those of the arguments that a guest fails for if its kernel does not take them.
    copies: our end of a socket, for a guest that is copied (wblab.host.process.copies).
    """

    linux: Path
    arguments: Sequence[str]
    run: Path
    scratch: Path
    disk_fds: Sequence[int]
    limits: Limits = field(default_factory=Limits)
    sandbox: Sandbox = field(default_factory=Sandbox)
    memory_bytes: int = 0
    mkfs: Sequence[Mkfs] = ()
    program: Path | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    one_processor: bool = False
    shared_processor: bool = False
    lab: GuestLab | None = None
    samples_fd: int | None = None
    console_fd: int = 0
    parameters: Sequence[str] = ()
    copies: socket.socket | None = None

    @property
    def shared(self) -> Path:
        """The part of the scratch directory that the guest writes to."""
        return self.scratch / "guest"

    @property
    def own_bytes(self) -> int:
        """How much a guest's memory and its disks may take."""
        own_bytes = self.memory_bytes + sum(mkfs.resident_bytes or mkfs.size_bytes for mkfs in self.mkfs)
        return 2 * own_bytes if self.copies else own_bytes

    @property
    def of_copies(self) -> Path:
        """The part of the scratch directory in which each copy has a directory of its own."""
        return self.scratch / COPIES

    @property
    def kernels_own(self) -> Path:
        """The part of the scratch directory that the guest's kernel has for itself: its memory is a file in there."""
        return self.scratch / KERNEL


@dataclass(frozen=True)
class Ended:
    """What a guest that came to its end said last, and the host time that it took.

    memory: how much of its memory its loads had, and how much was kept from them (wblab.guest.memory), by those names.
    """

    last: Message
    wall_s: float
    memory: dict[str, int] = field(default_factory=dict)

    @property
    def guest_s(self) -> float:
        """Guest time at its last message, in s since boot."""
        return self.last.guest_ns / 1e9


@dataclass
class _Heard:
    """What is kept of a guest's words: the last ones, why it failed if it said so, and the memory kept from loads."""

    last: Message | None = None
    reason: str | None = None
    memory: dict[str, int] = field(default_factory=dict)


def boot(request: Boot, heard: Callable[[Message], None], look: Callable[[], None] = lambda: None) -> Ended:
    """Run a guest to its end; `heard` gets each of its messages. Raises WblabError with the reason of a failure.

    look: called several times a second, also while the guest says nothing; what it raises ends the guest.

    What the guest left is copied into the run directory. Whatever happens, no process and no scratch directory is
    left: wblab.host.process.reaper sees to that.
    """
    started = time.monotonic()
    status_read, status_write = os.pipe()
    control, control_far = socket.socketpair()
    with open(status_read, "rb", buffering=0) as status, control, ExitStack() as afterwards:
        # The reaper does that, unless somebody killed it.
        afterwards.callback(reclaim, request.scratch)
        reaper = start(request, control_far, status_write)
        with reaper, control:  # in this order: closing the control socket lets the reaper go
            try:
                silence = Silence(request.limits.silence_s, lambda: waited_s(descendants(reaper.pid)[_WATCHERS:]))
                words = _watch(request, status.fileno(), silence, heard, look)
                wait_status, ended_for = end(reaper, control, request.limits.ending_s)
            except BaseException:
                end(reaper, control, 0)
                raise
            finally:
                try:
                    if request.shared.exists():
                        check_files(request.limits, request.shared, request.run / CONSOLE)
                        take_over(request.shared, request.run)
                finally:
                    let_go(control)
    if ended_for:
        raise WblabError(ended_for)
    last = _judge(words, wait_status, request.run / CONSOLE)
    return Ended(last, time.monotonic() - started, words.memory)


def waited_s(pids: Sequence[int]) -> float:
    """Return for how long a guest waited for a processor. What watches it waits beside it: that is no excuse."""
    return waited_ns(pids) / NS_PER_S


def end(reaper: Reaper, control: socket.socket, limit_s: float) -> tuple[int, str]:
    """Return the guest's wait status, and why the reaper did not start it, or ended it; one that lingers is ended."""
    assert reaper.stdout is not None
    if not select.select([reaper.stdout], [], [], limit_s)[0]:
        control.send(_END)
    status, _, reason = reaper.stdout.readline().decode().strip().partition(" ")
    return int(status or -1), reason


def let_go(control: socket.socket) -> None:
    """Say that we are alive: of a holder that only closes its end it would be noted that it was killed."""
    with suppress(OSError):  # nobody is left to hear it
        control.send(_END)


def start(request: Boot, control_far: socket.socket, status_write: int) -> Reaper:
    """Start the reaper, which starts the guest with the file descriptors where it expects them."""
    command = [str(request.linux), *request.arguments]
    own = request.kernels_own
    sandbox = replace(
        request.sandbox,
        runs=(*request.sandbox.runs, *filter(None, (command[0], loader(request.linux)))),
        keeps=(*request.sandbox.keeps, str(request.shared), str(request.of_copies)),
        owns=(*request.sandbox.owns, str(own), str(request.shared / layout.LEFT)),
    )
    with ExitStack() as stack:
        stack.enter_context(control_far)
        stack.callback(os.close, status_write)
        console = stack.enter_context((request.run / CONSOLE).open("ab"))
        console.write(f"+ {shlex.join(command)}\n".encode())
        console.flush()
        descriptors = dict(zip(layout.DISK_FDS, request.disk_fds, strict=False)) | {layout.STATUS_FD: status_write}
        if request.samples_fd is not None:
            descriptors[layout.SAMPLES_FD] = request.samples_fd
        if request.copies:
            descriptors[layout.COPIES_FD] = request.copies.fileno()
        if request.console_fd:
            descriptors[request.console_fd] = console.fileno()
        directories = (
            {layout.LAB_FD: request.lab.modules, layout.PACKAGES_FD: request.lab.packages} if request.lab else {}
        )
        for number, directory in directories.items():
            if directory is None:
                continue
            descriptors[number] = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptors[number])
        order = ConfinedCommand(
            control=control_far.fileno(),
            run=str(request.run),
            scratch=str(request.scratch),
            program=str(request.program or ""),
            texts=dict(request.texts),
            command=command,
            descriptors={str(number): descriptor for number, descriptor in descriptors.items()},
            sandbox=asdict(sandbox),
            mkfs=[asdict(mkfs) for mkfs in request.mkfs],
            own_bytes=request.own_bytes,
            memory_bytes=request.limits.memory_bytes,
            processes=request.limits.processes,
            one_processor=request.one_processor,
            shared_processor=request.shared_processor,
            holds=[] if (holding := descriptor_in(request.run)) is None else [holding],
        )
        return start_reaper(order, console, own)


def _watch(
    request: Boot, status: int, silence: Silence, heard: Callable[[Message], None], look: Callable[[], None]
) -> _Heard:
    """Return what was heard up to the end of the status channel. Raises WblabError when a limit is passed."""
    words, channel = _Heard(), Channel()
    started_s = looked_s = time.monotonic()
    disks = dict(zip(request.disk_fds, request.mkfs, strict=False))
    while True:
        ready, _, _ = select.select([status], [], [], _LOOK_S)
        now_s = time.monotonic()
        if now_s - looked_s >= _LOOK_S or not ready:
            looked_s = now_s
            check_files(request.limits, request.shared, request.run / CONSOLE)
            if words.last is None:
                check_taken(request.parameters, request.run / CONSOLE)
            check_own(request.limits, request.kernels_own)
            check_disks(disks)
            check_wall(request.limits, started_s)
            look()
        if not ready:
            if silence.is_over():
                _check_reported(words, request.run)
                raise WblabError(f"the guest hangs: no message for {silence.limit_s:g} s {_where(words.last)}")
            continue
        chunk = os.read(status, 65536)
        if words.last is None:  # the first message, or the end
            check_taken(request.parameters, request.run / CONSOLE)
        if not chunk:
            return words
        for message in channel.feed(chunk):
            silence.broken()
            words.last = message
            words.memory |= {name: message.detail[name] for name in _MEMORY if name in message.detail}
            if message.phase == FAILED and words.reason is None:
                words.reason = printable(message.detail.get("reason", "the guest failed and gave no reason"))
            heard(message)
            if message.phase == "power off":
                silence.limit_s = min(silence.limit_s, request.limits.ending_s)
        check_said(request.limits, channel.said_bytes)


def _check_reported(words: _Heard, run: Path) -> None:
    """Raise WblabError with the reason of a guest that said that it failed, and its last OOM kill if there was one."""
    if words.reason is not None:
        killed = "".join(f". {said(kill)}" for kill in oom_kills(run)[-1:])
        reason = words.reason.removesuffix(_SEE_CONSOLE) if killed else words.reason
        raise WblabError(f"{_shortened(reason)}{killed}")


def _judge(words: _Heard, wait_status: int, console: Path) -> Message:
    """Return the last message of a guest that said that all went well and then powered off; else raise WblabError."""
    _check_reported(words, console.parent)
    if words.last and words.last.phase == "power off" and wait_status == 0:
        return words.last
    how = describe_exit(wait_status) if wait_status >= 0 else "no exit status: its reaper died"
    raise WblabError(f"the guest ended with {how} {_where(words.last)}: {_shortened(last_words(console))}")


def _where(last: Message | None) -> str:
    """Return the last phase that was heard of, in words."""
    if last is None:
        return "before its first message"
    return f"after {PHASES.get(last.phase, last.phase)} (guest time {last.guest_ns / 1e9:.1f} s)"


def last_words(console: Path) -> str:
    """Return the console's line that says most about an end: a panic, else the last."""
    with console.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_WORDS_BYTES))
        text = file.read(_LAST_WORDS_BYTES).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    panics = [line for line in lines if "Kernel panic" in line or line.startswith("cannot ")]
    words = printable((panics or lines or ["it printed nothing"])[-1])
    return f"{words}: shared memory is full: free some" if words.endswith(_BUS_ERROR) else words


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"
