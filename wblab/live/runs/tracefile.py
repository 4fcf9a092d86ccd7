"""The trace of a whole live run: a process moves the pages of a trace instance to files as they fill."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

from wblab.core.child import describe_exit, fork_child
from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Trace
from wblab.core.syscalls import set_process_name
from wblab.live.runs.pages import open_pipe, processors, put_together
from wblab.machine.lifetime import end_with
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

_POLL_S = 0.1


def make_instance(kind: str, trace: Trace, undo: Undo) -> Instance:
    """Make an instance with the trace's events on. Raises OSError; InputError for an unknown event."""
    instance = Instance(kind, undo, buffer_bytes=trace.buffer)
    for event in trace.events:
        if not instance.enable(event.removesuffix(":*")):
            raise InputError(f"--events: this kernel has no {event!r}: 'sudo trace-cmd list -e' lists its events")
    return instance


class TraceFile:
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
