"""Boot a guest, watch it over its status channel, and see to its end."""

import json
import os
import select
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from wblab.core import layout, rundir
from wblab.core.child import describe_exit
from wblab.core.errors import WblabError
from wblab.core.specfile import ROOT
from wblab.core.status import PHASES, Message
from wblab.host.lab import Lab
from wblab.host.reaper import Order

_REAPER = """
import json, sys
sys.path.insert(0, sys.argv[1])
from wblab.host.lab import Lab
from wblab.host.reaper import Order, main
main(Order(**json.loads(sys.argv[2])))
"""
_END = b"x"
_BUS_ERROR = "Kernel mode signal 7"  # SIGBUS: a page of the guest's memory file could not be had
_ENDING_LIMIT_S = 20.0  # host time from the guest's word that it powers off to its end


@dataclass(frozen=True)
class Boot:
    """What a guest needs: its command, the directories and the disk that are handed in, and our patience.

    scratch: a directory on tmpfs, made for the run, for the kernel's own files; the guest sees `scratch/guest` of it.
    program, parameters: a file and a text, the guest's main program and what it needs to know.
    silence_limit_s: host time without a word from the guest after which it counts as hanging.
    one_processor: keep the guest on one processor (see wblab.host.processor).
    lab: for a guest in which programs of the lab run.
    samples_fd: a pipe that gets what the guest writes to its SAMPLES_DEVICE.
    """

    linux: Path
    arguments: Sequence[str]
    run: Path
    scratch: Path
    disk_fd: int
    silence_limit_s: float
    program: Path | None = None
    parameters: str = ""
    one_processor: bool = False
    lab: Lab | None = None
    samples_fd: int | None = None

    @property
    def shared(self) -> Path:
        """The part of the scratch directory that the guest writes to."""
        return self.scratch / "guest"


@dataclass(frozen=True)
class Ended:
    """What a guest that came to its end said: its messages, and the host time that it took."""

    messages: tuple[Message, ...]
    wall_s: float

    @property
    def guest_s(self) -> float:
        """Guest time at its last message, in s since boot."""
        return self.messages[-1].guest_ns / 1e9


def boot(request: Boot, heard: Callable[[Message], None]) -> Ended:
    """Run a guest to its end; `heard` gets each of its messages. Raises WblabError with the reason of a failure.

    What the guest left in its scratch directory is moved into the run directory. Whatever happens, no process
    and no scratch directory is left: wblab.host.reaper sees to that.
    """
    started = time.monotonic()
    status_read, status_write = os.pipe()
    control, control_far = socket.socketpair()
    with open(status_read, "rb", buffering=0) as status, control:
        reaper = _start(request, control_far, status_write)
        with reaper, control:  # in this order: closing the control socket lets the reaper go
            try:
                messages = _watch(request, status.fileno(), heard)
                wait_status = _end(reaper, control, _ENDING_LIMIT_S)
            except BaseException:
                _end(reaper, control, 0)
                raise
            finally:
                _collect(request)
    _judge(messages, wait_status, request.run / rundir.CONSOLE)
    return Ended(tuple(messages), time.monotonic() - started)


def _end(reaper: "subprocess.Popen[bytes]", control: socket.socket, limit_s: float) -> int:
    """Return the guest's wait status; a guest that lingers for longer than the limit is ended."""
    assert reaper.stdout is not None
    if not select.select([reaper.stdout], [], [], limit_s)[0]:
        control.send(_END)
    return int(reaper.stdout.readline() or -1)


def _collect(request: Boot) -> None:
    for path in request.shared.glob("*"):
        if path.name not in (layout.PROGRAM, layout.PARAMETERS):
            shutil.move(path, request.run / path.name)


def _start(request: Boot, control_far: socket.socket, status_write: int) -> "subprocess.Popen[bytes]":
    """Start the reaper, which starts the guest with the file descriptors where it expects them."""
    command = [str(request.linux), *request.arguments]
    with ExitStack() as stack:
        stack.enter_context(control_far)
        stack.callback(os.close, status_write)
        console = stack.enter_context((request.run / rundir.CONSOLE).open("ab"))
        console.write(f"+ {shlex.join(command)}\n".encode())
        console.flush()
        descriptors = {layout.DISK_FD: request.disk_fd, layout.STATUS_FD: status_write}
        if request.samples_fd is not None:
            descriptors[layout.SAMPLES_FD] = request.samples_fd
        directories = {layout.RUN_FD: request.run}
        if request.lab:
            directories |= {layout.LAB_FD: ROOT, layout.PACKAGES_FD: request.lab.packages}
        for number, directory in directories.items():
            descriptors[number] = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, descriptors[number])
        order = Order(
            control=control_far.fileno(),
            run=str(request.run),
            scratch=str(request.scratch),
            program=str(request.program or ""),
            parameters=request.parameters,
            command=command,
            descriptors={str(number): descriptor for number, descriptor in descriptors.items()},
            one_processor=request.one_processor,
        )
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _REAPER, str(ROOT), json.dumps(asdict(order))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=console,
            env={"HOME": str(request.scratch), "TMPDIR": str(request.scratch), "PATH": os.defpath},
            pass_fds=[order.control, *descriptors.values()],
        )


def _watch(request: Boot, status: int, heard: Callable[[Message], None]) -> list[Message]:
    """Return the guest's messages up to the end of its status channel. Raises WblabError when it falls silent."""
    messages: list[Message] = []
    pending = b""
    limit_s = request.silence_limit_s
    while True:
        ready, _, _ = select.select([status], [], [], limit_s)
        if not ready:
            _check_reported(messages)
            raise WblabError(f"the guest hangs: nothing heard from it for {limit_s:g} s {_where(messages)}")
        chunk = os.read(status, 65536)
        if not chunk:
            return messages
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            messages.append(_parsed(line))
            heard(messages[-1])
            if messages[-1].phase == "power off":
                limit_s = min(limit_s, _ENDING_LIMIT_S)


def _parsed(line: bytes) -> Message:
    try:
        return Message.parse(line)
    except ValueError:
        raise WblabError(f"the guest said what is no message: {line[:100]!r}") from None


def _check_reported(messages: list[Message]) -> None:
    """Raise WblabError with the reason of a guest that said that it failed."""
    for message in messages:
        if message.phase == "failed":
            raise WblabError(message.detail.get("reason", "the guest failed without a reason"))


def _judge(messages: list[Message], wait_status: int, console: Path) -> None:
    """Raise WblabError unless the guest said that all went well and then powered off."""
    _check_reported(messages)
    if messages and messages[-1].phase == "power off" and wait_status == 0:
        return
    how = describe_exit(wait_status) if wait_status >= 0 else "the process that watched it"
    raise WblabError(f"the guest ended with {how} {_where(messages)}: {_last_words(console)}")


def _where(messages: list[Message]) -> str:
    """Return the last phase that was heard of, in words."""
    if not messages:
        return "before its first word"
    last = messages[-1]
    return f"after {PHASES.get(last.phase, last.phase)} (guest time {last.guest_ns / 1e9:.1f} s)"


def _last_words(console: Path) -> str:
    """Return the console's line that says most about an end: a panic, else the last."""
    lines = [line.strip() for line in console.read_text(errors="replace").splitlines() if line.strip()]
    panics = [line for line in lines if "Kernel panic" in line or line.startswith("cannot ")]
    words = (panics or lines)[-1]
    return f"{words}: shared memory is full, free some" if words.endswith(_BUS_ERROR) else words
