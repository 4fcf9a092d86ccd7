"""The traces of a live run: of the whole run, and captures of its pauses.

As far as this machine permits them; what is missing is noted.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wblab.core import rundir
from wblab.core.errors import WblabError
from wblab.core.spec import Trace
from wblab.core.units import format_bytes
from wblab.host.request import OF_SEVERAL_PAGES
from wblab.lab.captures import CapturedPause, capture_files, read_captures
from wblab.lab.packages import tool_path
from wblab.live.runs.captures import STACKS, SUBMITTED, TOO_MANY, CaptureBuffer, capture_events, put_together
from wblab.live.runs.request import Captures, LiveRequest
from wblab.live.runs.tracefile import LiveTraceFile, Room, chosen, make_instance
from wblab.live.runs.watch import WatchedPause
from wblab.machine.tracefs import Instance
from wblab.machine.undo import Undo

_KALLSYMS = Path("/proc/kallsyms")
_CODE = (" t ", " T ", " w ", " W ")  # nm(1)


class Traces:
    """Both traces. `notes` has a line for each one that is missing."""

    def __init__(self, request: LiveRequest, filesystem: str, undo: Undo) -> None:
        """Make the instances that the request needs. Raises InputError for an unknown event."""
        self.notes: list[str] = []
        self.trace = Trace()
        self.lost = 0
        self._captures, self._tracecmd = request.captures, str(tool_path("trace-cmd"))
        self._instances: list[Instance] = []
        self._file: LiveTraceFile | None = None
        self._buffer: CaptureBuffer | None = None
        self._directory = Path()
        self._saved = 0
        self._functions = ""
        self._most_bytes = 0  # that each processor's captures may take in memory
        self._room: Room | None = None
        if not request.events and not request.captures:
            return
        if tool_path("trace-cmd") is None:
            self.notes.append("no trace: trace-cmd is missing: run 'sudo apt-get install trace-cmd'")
            return
        wanted = Trace(events=request.events, buffer=request.buffer)
        try:
            self._instances.append(make_instance("live", wanted, undo))
            self.trace = wanted
        except OSError as error:
            self.notes.append(f"no trace: this machine does not permit it ({error.strerror}): run it as root")
            return
        if request.captures:
            try:
                self._instances.append(self._capture_instance(request.captures, filesystem, undo))
            except OSError as error:
                self.notes.append(f"no captures ({error.strerror}): lower --capture-buffer")

    def _capture_instance(self, captures: Captures, filesystem: str, undo: Undo) -> Instance:
        first, most = chosen(os.cpu_count() or 1) if captures.buffer is None else (captures.buffer, captures.buffer)
        instance = Instance("captures", undo, buffer_bytes=first)
        self._most_bytes = most
        if captures.buffer is None:
            self._room = Room(instance, most)
        known = [event for event in capture_events(filesystem) if instance.enable(event)]
        for event in TOO_MANY:
            instance.enable(event, on=False)
        for event, text in OF_SEVERAL_PAGES.items():  # without the field, a kernel has no such folios: before 5.17
            if instance.filter(event, text):
                instance.enable(event)
        if not any(event.startswith("syscalls:") for event in known):
            self.notes.append("captures have no system calls: this kernel does not trace them")
        self._functions = self._with_stacks(instance)
        return instance

    def _with_stacks(self, instance: Instance) -> str:
        """Turn stacks on, and return the functions to resolve them; empty, with a note, if that is impossible."""
        unexplained = "captures cannot be explained by 'wblab why'"
        functions = kernel_functions()
        if not functions:
            self.notes.append(f"{unexplained}: kernel.kptr_restrict hides this kernel's function addresses")
        elif not all(instance.trigger(event, text) for event, text in STACKS.items()):
            self.notes.append(f"{unexplained}: this kernel records no stacks (CONFIG_STACKTRACE)")
        else:
            for event, text in SUBMITTED.items():
                instance.trigger(event, text)
            return functions
        return ""

    def start(self, directory: Path) -> None:
        """Start to trace into a run's directory. Raises OSError."""
        self._directory = directory
        if self._instances:
            self._file = LiveTraceFile(self._instances[0], directory / rundir.TRACE, self._tracecmd)
            self._file.start()
        if self._captures and len(self._instances) > 1:
            capturing, put = self._instances[1], partial(put_together, self._tracecmd)
            self._buffer = CaptureBuffer(capturing, directory, put, self._most_bytes, self._functions)
            self._buffer.start()

    def keep(self, now_ns: int, oldest_ns: int) -> None:
        """Make room in the buffer for what captures may still need, if it may grow. oldest_ns: see `save`."""
        if self._room and self._buffer and self._captures:
            self._room.keep(oldest_ns - self._captures.around, now_ns)

    def save(self, pauses: Sequence[WatchedPause], now_ns: int, oldest_ns: int) -> None:
        """Save the seconds around these pauses as one capture, within the limits of number and size.

        oldest_ns: earliest start of any pause to be captured later (`Watch.oldest_ns`).
        """
        if not pauses or not self._buffer or not self._captures:
            return
        if reason := self._full(self._captures):
            self.notes.append(f"pauses after the first {self._saved} captures are not saved: {reason}")
            self._stop_captures()
            return
        self._saved += 1
        longest = max(pauses, key=lambda pause: pause.duration_ns)
        start_ns = min(pause.start_ns for pause in pauses) - self._captures.around
        end_ns = min(now_ns, max(pause.end_ns for pause in pauses) + self._captures.around)
        wanted = CapturedPause(self._saved, longest.load, longest.start_ns, longest.end_ns, start_ns, end_ns)
        try:
            self._buffer.save(wanted, oldest_ns - self._captures.around)
        except OSError:  # its process died; stopping it reports why
            self._stop_captures()

    def stop(self) -> None:
        """Write the traces. Failures become notes."""
        self._stop_captures()
        if self._file:
            try:
                self.lost = self._file.stop()
            except (WblabError, OSError) as error:
                self.notes.append(f"no trace: {error}")
                self.trace = Trace()
        if self.lost:
            self.notes.append(f"the trace lost {self.lost} events: raise --buffer or trace fewer events")

    @property
    def saved(self) -> int:
        """Number of captures."""
        return self._saved

    def _full(self, captures: Captures) -> str:
        if self._saved >= captures.most:
            return f"--captures is {captures.most}"
        size = sum(path.stat().st_size for path in capture_files(self._directory))
        return f"they take {format_bytes(captures.most_bytes)}" if size >= captures.most_bytes else ""

    def _stop_captures(self) -> None:
        if self._buffer:
            try:
                self._buffer.stop()
            except (WblabError, OSError) as error:
                self.notes.append(f"not all pauses are saved: {error}")
            self._buffer = None
            if short := [saved.number for saved in read_captures(self._directory) if not saved.whole]:
                numbers = ", ".join(map(str, sorted(short)))
                told = "the buffer cannot grow further" if self._room else "raise --capture-buffer"
                self.notes.append(f"captures that miss part of their pause: {numbers}: {told}")


def kernel_functions(path: Path = _KALLSYMS) -> str:
    """Return a kernel's functions in the form of /proc/kallsyms; empty if it hides them (kptr_restrict).

    Data symbols are left out: no stack contains them, and they are half of the file. Raises OSError.
    """
    with path.open(errors="replace") as lines:
        found = [line for line in lines if any(kind in line[:20] for kind in _CODE)]
    return "" if all(line.startswith("0000000000000000 ") for line in found) else "".join(found)
