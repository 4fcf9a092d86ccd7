"""Runs a command, confined, and leaves nothing of it behind: a process of its own that is given a ConfinedCommand.

The command lives no longer than the other end of the control socket: when that closes (its holder died) or brings
a byte (its holder wants an end), or when it takes too much memory, the command's process group and all its descendants
are killed and reaped. The scratch directory is made here, so that it is ours to remove whenever the holder dies, and it
is removed in every case at the end. If the holder died while the command ran, the experiment's record says so. The last
line on standard output is the command's wait status, and behind it why it was ended if that was ours to decide.

The reaper is a child of a guard, which does the same should the reaper be killed; and the reaper ends the command when
the guard is. So nothing is left of a command, however hostile, unless the holder, the reaper and the guard are killed.
"""

import gc
import json
import os
import select
import signal
import sys
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from fcntl import F_DUPFD, fcntl
from pathlib import Path
from typing import Any

from wblab.core.child import fork_child
from wblab.core.entry import PROGRAM, SCRATCH_FD
from wblab.core.errors import WblabError
from wblab.core.layout import DISK_FDS, LEFT
from wblab.core.syscalls import checked, libc, set_process_name
from wblab.host.disks.ext import ext_layout
from wblab.host.disks.mkfs import Mkfs, format_disk
from wblab.host.machine import claim_processor
from wblab.host.process.limits import LimitWatch, ProcessBounds
from wblab.host.process.usage import COPIES, KERNEL, descendants, make_scratch, remove_scratch
from wblab.host.sandbox import Sandbox
from wblab.lab.layouts import LAYOUTS
from wblab.machine.processes import end_with

NAME, GUARD = "wblab-reaper", "wblab-guard"  # as ps(1) shows them

_PR_SET_CHILD_SUBREAPER = 36
_NOT_STARTED = 127 << 8  # the wait status of exit code 127, as of a shell that finds no command
_LONGEST_REASON_BYTES = 4096
_LOOK_S = 1.0  # host time between two looks at what the command takes
_OUT_OF_THE_WAY = 100  # above all file descriptors that a command may want by number


@dataclass(frozen=True)
class ConfinedCommand:
    """What to run, and within which bounds.

    control: our end of the socket. run: where the experiment's record is, which the command never sees. holds: the
    descriptors that `run` is named by.
    scratch: the directory to make, with `kernel`, the command's own, and `guest` in it.
    program, texts: a file that the command finds in `guest`, and others that are made there, by their names.
    descriptors: number in the command -> number here (a string: a key of JSON); that of `guest` is added here.
    sandbox: the fields of a Sandbox, which holds for the command and all its descendants.
    mkfs: of each disk the fields of a Mkfs, which makes its filesystem before; none, they have one.
    own_bytes: the guest's memory and its disks. memory_bytes, processes: what it may take besides (see
    wblab.host.process.limits).
    one_processor: keep the command on one processor, if there is one that no other guest has; or, if it may be a
    shared_processor, in any case.
    """

    control: int
    run: str
    scratch: str
    program: str
    texts: dict[str, str]
    command: list[str]
    descriptors: dict[str, int]
    sandbox: dict[str, Any]
    mkfs: list[dict[str, Any]]
    own_bytes: int
    memory_bytes: int
    processes: int
    one_processor: bool = False
    shared_processor: bool = False
    holds: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Word:
    """Whether a child is to be ended: its holder wants that or died, the guard died, or for a reason of ours.

    Nothing of that: it has ended by itself.
    """

    ended: bool = False
    orphaned: bool = False
    unguarded: bool = False
    reason: str = ""


def main(order: ConfinedCommand) -> None:
    """Run, watch, reap, clean; and see to the same should the process that does it be killed.

    A guest's processes that ask for no signal at the death of their parents become ours then, and not the machine's.
    """
    set_process_name(GUARD)
    take_orphans()
    guard = os.getpid()
    reaper = fork_child(lambda: watch(order, guard))
    close_all_but({2, order.control, *order.holds})
    ended = os.waitid(os.P_PID, reaper, os.WEXITED | os.WNOWAIT)  # until it is reaped, no other has its number
    if ended and (ended.si_code, ended.si_status) == (os.CLD_EXITED, 0):
        os.waitpid(reaper, 0)
        return
    end(reaper)
    if not is_let_go(order.control):
        note(Path(order.run))
    remove_scratch(Path(order.scratch))


def is_let_go(control: int) -> bool:
    """Wait until the holder closes its end of the socket, and return whether it spoke: one that is killed does not."""
    spoke = False
    while os.read(control, 1):
        spoke = True
    return spoke


def take_orphans() -> None:
    """Be out of reach of the terminal, whose signals are for our parent, which tells us; and inherit orphans."""
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    checked(libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))


def watch(order: ConfinedCommand, guard: int) -> None:
    """Be the reaper, a child of the guard."""
    set_process_name(NAME)
    take_orphans()
    claim = claim_processor(shared=order.shared_processor) if order.one_processor else None
    pid, word = 0, Word()
    guarded = os.pidfd_open(guard)
    try:
        make_scratch(Path(order.scratch))  # and keep it until we end, however that is
        order.descriptors[str(SCRATCH_FD)] = provision(order)
        word = make_disks(order, guarded) if order.mkfs else word
        if word == Word():
            pid = start(order, claim.processor if claim else None)
    except OSError as error:
        print(f"cannot start the guest: {error}", file=sys.stderr, flush=True)
    for descriptor in order.descriptors.values():
        os.close(descriptor)  # the other ends must see it when the command is gone
    if pid:
        word = wait(pid, order, guarded)
    status = end(pid) if pid else _NOT_STARTED
    if not word.unguarded and not word.orphaned:
        with suppress(BrokenPipeError):  # the holder died in this instant
            print(status, word.reason, flush=True)
    os.close(1)
    let_go = is_let_go(order.control)
    if word.orphaned or (word.unguarded and not let_go):
        note(Path(order.run))
    remove_scratch(Path(order.scratch))


def provision(order: ConfinedCommand) -> int:
    """Make what the command finds in its scratch directory; return a file descriptor of `guest` in it."""
    Path(order.scratch, KERNEL).mkdir(mode=0o700)
    Path(order.scratch, COPIES).mkdir(mode=0o700)
    guest = Path(order.scratch, "guest")
    guest.mkdir(mode=0o700)
    Path(guest, LEFT).mkdir(mode=0o700)
    if order.program:
        (guest / PROGRAM).write_bytes(Path(order.program).read_bytes())
    for name, text in order.texts.items():
        (guest / name).write_text(text)
    return os.open(guest, os.O_RDONLY | os.O_DIRECTORY)


def make_disks(order: ConfinedCommand, guarded: int) -> Word:
    """Make the filesystems of the disks. Returns why the command is not to be started, if it is not.

    A child makes them, which can be ended at any time: tools, and the kernel, may take minutes for what options ask.
    """
    disks = [(Mkfs(**mkfs), order.descriptors[str(number)]) for number, mkfs in zip(DISK_FDS, order.mkfs, strict=False)]
    reaper, said = os.getpid(), os.memfd_create("wblab-disks")

    def make() -> None:
        end_with(reaper)
        try:
            for mkfs, disk_fd in disks:
                format_disk(mkfs, disk_fd)
            note_layouts(order)
        except WblabError as error:
            os.write(said, str(error).encode())

    try:
        maker = fork_child(make)
        word = wait(maker, order, guarded)
        status = end(maker)
        if word == Word() and (status or os.fstat(said).st_size):
            return Word(ended=True, reason=os.pread(said, _LONGEST_REASON_BYTES, 0).decode(errors="replace"))
        return word
    finally:
        os.close(said)


def note_layouts(order: ConfinedCommand) -> None:
    """Say in the run directory where the parts of filesystems lie that have just been made, where that is known."""
    made = {
        str(mkfs["key"]): order.descriptors[str(number)]
        for number, mkfs in zip(DISK_FDS, order.mkfs, strict=False)
        if str(mkfs["filesystem"]).startswith("ext")
    }
    found = {key: asdict(layout) for key, disk_fd in made.items() if (layout := ext_layout(disk_fd))}
    if found:
        Path(order.run, LAYOUTS).write_text(json.dumps(found) + "\n")


def start(order: ConfinedCommand, processor: int | None) -> int:
    """Start the command, in a process group of its own and on one processor if one is given; return its pid."""
    reaper = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        end_with(reaper)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if processor is not None:
            os.sched_setaffinity(0, {processor})
        os.dup2(2, 1)  # our standard output is the answer, the command's is the console
        place({int(number): descriptor for number, descriptor in order.descriptors.items()})
        Sandbox(**order.sandbox).enter()
        os.execv(order.command[0], order.command)
    except OSError as error:
        print(f"cannot execute {order.command[0]}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(127)


def place(descriptors: dict[int, int]) -> None:
    """Give file descriptors their numbers, and close all others above standard error."""
    copies = {number: fcntl(descriptor, F_DUPFD, _OUT_OF_THE_WAY) for number, descriptor in descriptors.items()}
    for number, copy in copies.items():
        os.dup2(copy, number)
    close_all_but({0, 1, 2, *descriptors})


def close_all_but(kept: Collection[int]) -> None:
    """Close all file descriptors but some.

    Objects of before a fork that are garbage now would close their numbers later, when others have them: they are kept.
    """
    gc.freeze()
    for number in map(int, os.listdir("/proc/self/fd")):
        if number not in kept:
            with suppress(OSError):  # that of the listing itself
                os.close(number)


def wait(pid: int, order: ConfinedCommand, guarded: int) -> Word:
    """Wait for the end of a child, or for word that it is to end: it takes too much, or its holder wants that.

    Or until we are not guarded any more, as a file descriptor of the guard says: nobody would end it after us.
    """
    ended = os.pidfd_open(pid)
    look = LimitWatch(ProcessBounds(order.own_bytes, order.memory_bytes, order.processes), Path(order.scratch))
    try:
        while True:
            ready, _, _ = select.select([ended, order.control, guarded], [], [], _LOOK_S)
            if order.control in ready:
                return Word(ended=True, orphaned=not os.read(order.control, 1))
            if ready:
                return Word(ended=guarded in ready, unguarded=guarded in ready)
            if excess := look.excess(descendants(os.getpid())[1:]):  # those without parents are ours
                return Word(ended=True, reason=f"the guest was ended: {excess}")
    finally:
        os.close(ended)


def end(pid: int) -> int:
    """Kill what is left, reap all descendants, and return the command's wait status."""
    result = 0
    while True:
        for group in {pid, *children()}:
            kill(group)
        try:
            reaped, status = os.waitpid(-1, 0)
        except ChildProcessError:
            return result
        if reaped == pid:
            result = status


def children() -> list[int]:
    """Return our children; descendants whose parents died become ours. Empty without CONFIG_PROC_CHILDREN."""
    try:
        return [int(child) for child in Path("/proc/thread-self/children").read_text().split()]
    except FileNotFoundError:
        return []


def kill(pid: int) -> None:
    """SIGKILL a process, and its group if it leads one."""
    for send in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            send(pid, signal.SIGKILL)


def note(run: Path) -> None:
    """Say in the record of a run that the command which ran it was killed, unless that has said why it ends.

    Interrupted while it was starting us, a command does not know of us and goes without waiting.
    """
    from wblab.lab.formats import EXPERIMENT, write_json  # every run would take time for it

    record = run / EXPERIMENT
    try:
        content = json.loads(record.read_text())
        if content["outcome"] == "unfinished":
            reason = "the wblab command was killed while the guest ran"
            write_json(record, content | {"outcome": "failed", "reason": reason})
    except (OSError, ValueError, KeyError, TypeError):
        pass
