"""The options of a trace.dat: numbered pieces of metadata, the same in versions 6 and 7."""

from dataclasses import dataclass, field

from tracecmd.binary import Cursor, RandomAccess, text
from tracecmd.errors import TraceError

_MOST = 1 << 16  # options in a file; a few for each CPU, buffer and event are common

# include/private/trace-cmd-private.h of trace-cmd; trace-cmd.dat.v7(5).
DONE, DATE, CPUSTAT, BUFFER, TRACECLOCK, UNAME, HOOK, OFFSET, CPUCOUNT, VERSION, PROCMAPS = range(11)
TRACEID, TIME_SHIFT, GUEST, TSC2NSEC, STRINGS = range(11, 16)
HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES, BUFFER_TEXT, SAVED_TGIDS = range(16, 24)

_NAMES = {
    DATE: "date",
    CPUSTAT: "cpustat",
    TRACECLOCK: "trace_clock",
    UNAME: "uname",
    HOOK: "hook",
    OFFSET: "offset",
    CPUCOUNT: "cpu_count",
    VERSION: "version",
    PROCMAPS: "procmaps",
    TRACEID: "trace_id",
    TIME_SHIFT: "time_shift",
    GUEST: "guest",
    TSC2NSEC: "tsc2nsec",
    SAVED_TGIDS: "saved_tgids",
}
_NUMBERS = {CPUCOUNT, TRACEID}
_BINARY = {TIME_SHIFT, GUEST, TSC2NSEC, SAVED_TGIDS}
# Where parts of the file are: of interest to the reader only.
_PLACES = {BUFFER, HEADER_INFO, FTRACE_EVENTS, EVENT_FORMATS, KALLSYMS, PRINTK, CMDLINES, BUFFER_TEXT}


@dataclass
class Options:
    """All options of a file, in file order."""

    order: str = "<"
    items: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, number: int, data: bytes) -> None:
        """Add an option. Raises TraceError if there are far too many."""
        if len(self.items) >= _MOST:
            raise TraceError(f"the trace is damaged: it has more than {_MOST} options")
        self.items.append((number, data))

    def all(self, number: int) -> list[bytes]:
        """Return the data of each option with this number."""
        return [data for kind, data in self.items if kind == number]

    def cursor(self, number: int, data: bytes) -> Cursor:
        """Return a cursor over an option's data."""
        return Cursor(RandomAccess.of_bytes(data, self.order, f"option {_NAMES.get(number, number)}"))

    def number(self, number: int) -> int | None:
        """Return the number in the last option of this kind."""
        found = self.all(number)
        return self.cursor(number, found[-1]).number(min(8, len(found[-1]))) if found else None

    def text(self, number: int) -> str:
        """Return the text in the last option of this kind; empty if there is none."""
        found = self.all(number)
        return text(found[-1]) if found else ""

    def readable(self) -> dict[str, object]:
        """Return the options by name: numbers, texts, or raw bytes; a list if there are several of one name."""
        values: dict[str, list[object]] = {}
        for number, data in self.items:
            if number not in _PLACES:
                values.setdefault(_NAMES.get(number, f"option_{number}"), []).append(self._value(number, data))
        return {name: found[0] if len(found) == 1 else found for name, found in values.items()}

    def _value(self, number: int, data: bytes) -> object:
        if number in _NUMBERS:
            return self.cursor(number, data).number(len(data)) if len(data) <= 8 else data
        return data if number in _BINARY or number not in _NAMES else text(data)

    @property
    def clock(self) -> str:
        """The trace clock, from a list such as "local [mono] boot"; empty if the file does not name it."""
        return bracketed(self.text(TRACECLOCK))

    @property
    def offset_ns(self) -> int:
        """The offset of each time: the option offset in ns plus the option date in µs, as trace-cmd adds them."""
        return sum(_signed(data) for data in self.all(OFFSET)) + 1000 * sum(_signed(data) for data in self.all(DATE))

    @property
    def tsc(self) -> tuple[int, int]:
        """Multiplier and shift that convert processor clock ticks to ns; (0, 0) if there is nothing to convert.

        trace-cmd ignores the third number, the offset.
        """
        if not (found := self.all(TSC2NSEC)):
            return 0, 0
        cursor = self.cursor(TSC2NSEC, found[-1])
        return cursor.u32(), cursor.u32()


def bracketed(listed: str) -> str:
    """Return the bracketed item of a list, or the whole text if there are no brackets."""
    _, bracket, rest = listed.partition("[")
    return rest.partition("]")[0] if bracket else listed.strip()


def _signed(data: bytes) -> int:
    written = text(data).strip()
    try:
        return int(written, 0)
    except ValueError:
        raise TraceError(f"an option of the trace is damaged: {written!r} is not a time") from None
