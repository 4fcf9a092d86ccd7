"""The interface of trace-cmd's own Python bindings (tracecmd.py), so code written for them runs."""

import heapq
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tracecmd.errors import TraceError
from tracecmd.events import Events
from tracecmd.trace import TraceFile

_AT_ONCE = 4096
# Key (time, CPU, offset in the buffer), the events of a type, and the index of one of them.
_Item = tuple[tuple[int, int, int], Events, int]


class NumberField(int):
    """A field's value as a number; `data` has its bytes, in this machine's byte order."""

    data: bytes


class TextField(str):
    """A field's value as text; `data` has its bytes."""

    __slots__ = ("data",)
    data: bytes


class Event:
    """One event: `name`, `ts` (ns), `cpu`, `pid`, `comm`, `type`, and its fields by name."""

    def __init__(self, events: Events, index: int) -> None:
        self._events, self._index = events, index
        self.name = events.name
        self.ts = int(events.ts_ns[index])
        self.cpu = int(events.cpu[index])
        self.pid = int(events.pid[index])
        self.comm = str(events.comm[index])
        self.type = events.format.id

    def __str__(self) -> str:
        seconds, ns = divmod(self.ts, 10**9)
        return f"{seconds}.{ns:09d} CPU{self.cpu} {self.name}: pid={self.pid} comm={self.comm} type={self.type}"

    def __getitem__(self, name: str) -> Any:
        """Return a field: a number, a text, or bytes for anything else."""
        value = self._events.field(name)[self._index]
        if isinstance(value, str):
            text = TextField(value)
            text.data = value.encode()
            return text
        if isinstance(value, np.integer):
            number = NumberField(value)
            number.data = value.tobytes()
            return number
        return value.tobytes()

    def keys(self) -> list[str]:
        """Return the names of all fields."""
        return list(self._events.format.by_name)

    def num_field(self, name: str) -> int | None:
        """Return a field's number; None if it is not a number."""
        value = self[name] if name in self._events.format.by_name else None
        return int(value) if isinstance(value, int) else None

    def str_field(self, name: str) -> str | None:
        """Return a field's text; None if it is not text."""
        value = self[name] if name in self._events.format.by_name else None
        return str(value) if isinstance(value, str) else None


class Trace:
    """The events of a trace.dat's first buffer, in time order."""

    def __init__(self, filename: str | os.PathLike[str]) -> None:
        self._file = TraceFile(filename)
        types = [self._file.events(name) for name in self._file.counts()]
        self._all = heapq.merge(*map(_in_order, types), key=_moment)
        self._by_cpu = {
            cpu: heapq.merge(*(_in_order(events, cpu) for events in types), key=_moment) for cpu in range(self.cpus)
        }
        self._peeked: dict[int, Event | None] = {}

    @property
    def cpus(self) -> int:
        """The number of CPUs."""
        return self._file.info.cpus

    def read_next_event(self) -> Event | None:
        """Return the next event of all CPUs; None after the last."""
        return _next(self._all)

    def read_event(self, cpu: int) -> Event | None:
        """Return the next event of one CPU; None after the last."""
        if cpu not in self._by_cpu:
            raise TraceError(f"no CPU {cpu} in {self._file.path}: it has {self.cpus}")
        return self._peeked.pop(cpu) if cpu in self._peeked else _next(self._by_cpu[cpu])

    def peek_event(self, cpu: int) -> Event | None:
        """Return the next event of one CPU without consuming it."""
        if cpu not in self._peeked:
            self._peeked[cpu] = self.read_event(cpu)
        return self._peeked[cpu]


def _next(events: Iterator[_Item]) -> Event | None:
    found = next(events, None)
    return Event(found[1], found[2]) if found is not None else None


def _moment(item: _Item) -> tuple[int, int, int]:
    return item[0]


def _in_order(events: Events, cpu: int | None = None) -> Iterator[_Item]:
    """Yield each event's key, the events of its type, and its index among them."""
    which = np.arange(len(events)) if cpu is None else np.flatnonzero(events.cpu == cpu)
    for start in range(0, len(which), _AT_ONCE):
        part = which[start : start + _AT_ONCE]
        moments = zip(events.ts_ns[part].tolist(), events.cpu[part].tolist(), events.places[part].tolist(), strict=True)
        for index, moment in zip(part.tolist(), moments, strict=True):
            yield moment, events, index
