"""The trace of a whole live run: a process moves the pages of a trace instance to files as they fill."""

import os
import re
import signal
from contextlib import ExitStack, suppress
from pathlib import Path

from wblab.core.child import describe_exit, fork_child
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Trace
from wblab.core.syscalls import set_process_name
from wblab.core.units import Bytes
from wblab.live.runs.captures import open_pipe, processors, put_together
from wblab.machine.block import available_bytes
from wblab.machine.processes import end_with
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

# The room of a ring buffer: it grows while what must be kept fills it, up to a part of the free memory.

_PART = 16  # of the free memory, for all processors: the dirty limits follow free memory, and must not move much
_FIRST_BYTES, _LEAST_BYTES = 32 << 20, 1 << 20  # for each processor
_BYTES = re.compile(r"^bytes: (\d+)$", re.MULTILINE)
_OLDEST = re.compile(r"^oldest event ts: +(\d+)\.(\d{6})$", re.MULTILINE)


def chosen(processors: int, free_bytes: int | None = None) -> tuple[Bytes, Bytes]:
    """Return the first and the largest size of each processor's buffer for this machine's memory, in bytes.

    free_bytes: of memory; by default, what is available now.
    """
    free_bytes = available_bytes() if free_bytes is None else free_bytes
    most = max(_LEAST_BYTES, free_bytes // _PART // max(1, processors))
    return Bytes(min(_FIRST_BYTES, most)), Bytes(most)


class Room:
    """The buffers of an instance, by processor. A buffer doubles before it would overwrite what must be kept."""

    def __init__(self, instance: Instance, most_bytes: int) -> None:
        """most_bytes: of each processor's buffer."""
        self._most_bytes = most_bytes
        self._places = sorted(instance.path.glob("per_cpu/cpu*"))

    def keep(self, since_ns: int, now_ns: int) -> None:
        """Make room to keep what was traced since a time, in ns of the instance's clock.

        A kernel that refuses, for want of memory, leaves a buffer as it is.
        """
        for place in self._places:
            with suppress(OSError, ValueError):
                self._keep(place, since_ns, now_ns)

    def _keep(self, place: Path, since_ns: int, now_ns: int) -> None:
        text = (place / "stats").read_text()
        used, oldest = _BYTES.search(text), _OLDEST.search(text)
        size_bytes = int((place / "buffer_size_kb").read_text().split()[0]) * 1024
        if not used or not oldest or 2 * int(used[1]) < size_bytes:
            return
        oldest_ns = int(oldest[1]) * 10**9 + int(oldest[2]) * 1000
        needed = min(1.0, (now_ns - since_ns) / max(1, now_ns - oldest_ns))  # events come evenly, more or less
        if 2 * needed * int(used[1]) < size_bytes:
            return
        if size_bytes < self._most_bytes:
            (place / "buffer_size_kb").write_text(str(min(2 * size_bytes, self._most_bytes) // 1024))


_POLL_S = 0.1


def make_instance(kind: str, trace: Trace, undo: Undo) -> Instance:
    """Make an instance with the trace's events on. Raises OSError; InputError for an unknown event."""
    instance = Instance(kind, undo, buffer_bytes=trace.buffer)
    for event in trace.events:
        if not instance.enable(event.removesuffix(":*")):
            raise InputError(f"--events: this kernel has no {event!r}: 'sudo trace-cmd list -e' lists its events")
    return instance


class LiveTraceFile:
    """The trace.dat of an instance, from `start` to `stop`."""

    def __init__(self, instance: Instance, output: Path, tracecmd: str) -> None:
        self._instance, self._output, self._tracecmd = instance, output, tracecmd
        count = len(list(instance.path.glob("per_cpu/cpu*")))
        self._files = [output.with_name(f".{output.name}.{number}") for number in range(count)]
        self._carrier = 0

    def start(self) -> None:
        """Start to trace. Raises OSError."""
        parent = os.getpid()
        self._carrier = fork_child(lambda: _carry(parent, self._instance, self._files))
        self._instance.start()

    def stop(self) -> int:
        """Write the trace.dat. Return how many events were lost. Raises OSError, WblabError."""
        self._instance.stop()
        lost = self._instance.lost()
        os.kill(self._carrier, signal.SIGTERM)
        _, status = os.waitpid(self._carrier, 0)
        if status:
            raise WblabError(f"the process that saves the trace died with {describe_exit(status)}")
        put_together(self._tracecmd, self._files, self._output)
        return lost


def _carry(parent: int, instance: Instance, files: list[Path]) -> None:
    """Move full pages to the files until SIGTERM, then the rest."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    end_with(parent)
    os.setpgid(0, 0)  # the terminal's signals are for our parent
    set_process_name("wblab-trace")
    with ExitStack() as stack:
        outputs = [stack.enter_context(file.open("wb", buffering=0)) for file in files]
        sources = [stack.enter_context(source) for source in processors(instance)]
        pipe = open_pipe()
        pairs = list(zip(sources, outputs, strict=True))
        while signal.sigtimedwait({signal.SIGTERM}, _POLL_S) is None:
            for source, output in pairs:
                source.move_full(pipe, output.fileno())
        for source, output in pairs:
            while source.move_full(pipe, output.fileno()):
                pass
            output.write(b"".join(source.read()))
