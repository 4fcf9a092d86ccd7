"""Events as text, of trace_pipe or of a recorded trace.

The kernel formats the text from its own fields; only `name=value` is relied on. Lines come from
kernel/trace/trace_output.c (trace_print_context), fields from include/trace/events/writeback.h.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wblab.core.units import NS_PER_S, Bytes
from wblab.live.monitor.samples import CacheState

# `dd-1234 [000] ..... 12.345678: global_dirty_state: dirty=1 …`; a thread group in brackets may follow the task. The
# text that trace-cmd makes of a file has no flags.
_LINE = re.compile(rb"\s*(.+)-(\d+)\s+(?:\([ \d-]+\)\s+)?\[\d+\]\s+(?:\S+\s+)??(\d+)\.(\d{6}): +(\w+): +(.*)")
_LOST = re.compile(rb"CPU:\d+ \[LOST (\d+) EVENTS\]")
_BDI = re.compile(rb"bdi (\S+): ")
_PAIR = re.compile(rb"(\w+)=(-?\d+)")


@dataclass(frozen=True)
class TraceLine:
    """An event as the kernel prints it. task: its name, or `<...>` if the kernel has forgotten it."""

    task: str
    pid: int
    at_ns: int
    event: str
    text: bytes

    @property
    def bdi(self) -> str:
        """The bdi that the event names first, such as 8:0; empty if none."""
        found = _BDI.match(self.text)
        return found[1].decode(errors="replace") if found else ""

    @property
    def values(self) -> dict[bytes, int]:
        """The numbers of the event, by name."""
        return {key: int(value) for key, value in _PAIR.findall(self.text)}


@dataclass(frozen=True)
class LostEvents:
    """So many events were lost, as nobody took them in time."""

    count: int


class TraceText:
    """Makes events from chunks of text."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[TraceLine | LostEvents]:
        """Yield the events of a chunk; an unfinished line waits for its end."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for text in lines:
            if match := _LINE.match(text):
                task, pid, seconds, micros, event, said = match.groups()
                at_ns = int(seconds) * NS_PER_S + int(micros) * 1000
                yield TraceLine(task.decode(errors="replace"), int(pid), at_ns, event.decode(), said)
            elif lost := _LOST.match(text):
                yield LostEvents(int(lost[1]))


def cache_state_of(line: TraceLine, page_bytes: int) -> CacheState:
    """Return the state in an event global_dirty_state."""
    values = {key: Bytes(value * page_bytes) for key, value in line.values.items()}
    return CacheState(
        line.at_ns,
        # Until 5.8, pages that a server had but not yet stored were counted separately.
        dirty=Bytes(values[b"dirty"] + values.get(b"unstable", 0)),
        writeback=values[b"writeback"],
        background=values[b"bg_thresh"],
        threshold=values[b"thresh"],
        limit=values[b"limit"],
    )
