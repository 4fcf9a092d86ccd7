"""A trace.dat made of what tracefs shows: pages of a ring buffer, and the formats of its events.

Where trace-cmd cannot run, files of tracefs can still be copied. Version 6 of the file holds them as they are
(trace-cmd.dat.v6(5)), so trace-cmd and KernelShark read it too.
"""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tracecmd import options
from tracecmd.errors import TraceError
from tracecmd.formats import parse_fields

_MAGIC = b"\x17\x08\x44tracing"
_TAG_BYTES = 10
_SHORT = (1 << 32) - 1
_LOST_BITS = 3 << 30  # include/linux/ring_buffer.h: RB_MISSED_EVENTS, RB_MISSED_STORED


@dataclass(frozen=True, kw_only=True)
class Pieces:
    """Files of tracefs as texts, and the pages of each CPU, in the order of the CPUs.

    header_page, clock, cmdlines: events/header_page, the clock's name, saved_cmdlines. formats: the texts of the
    events' formats by their systems, ftrace's own under "ftrace". kallsyms: the kernel's functions; may be empty.
    """

    header_page: str
    formats: Mapping[str, Sequence[str]]
    pages: Sequence[bytes]
    clock: str = "mono"
    cmdlines: str = ""
    kallsyms: str = ""
    uname: str = ""
    others: Sequence[tuple[int, bytes]] = field(default=())  # further options of the file, by their numbers

    def write(self, path: Path) -> None:
        """Write the file. Raises TraceError for pieces that are not of a ring buffer; OSError."""
        path.write_bytes(self.encode())

    def encode(self) -> bytes:
        """Return the file. Raises TraceError."""
        page_bytes, long_bytes = self._layout()
        if any(len(each) % page_bytes for each in self.pages):
            raise TraceError(f"the trace is damaged: it has no whole pages of {page_bytes} bytes")
        order = self._order(long_bytes)
        head = [_MAGIC, b"6\0", bytes([order == ">", long_bytes]), struct.pack(f"{order}I", page_bytes)]
        head += [b"header_page\0", _sized(order, self.header_page), b"header_event\0", _sized(order, "")]
        head += self._formats(order)
        head += [_sized(order, self.kallsyms, "I"), struct.pack(f"{order}I", 0), _sized(order, self.cmdlines)]
        clock = f"[{self.clock}]\0".encode()
        listed = [*self.others, (options.UNAME, f"{self.uname}\0".encode()), (options.TRACECLOCK, clock)]
        head += [struct.pack(f"{order}I", len(self.pages)), b"options".ljust(_TAG_BYTES - 1) + b"\0"]
        head += [struct.pack(f"{order}HI", number, len(data)) + data for number, data in listed]
        head += [struct.pack(f"{order}H", options.DONE), b"flyrecord\0"]
        body = b"".join(head)
        after = struct.pack(f"{order}Q", len(clock)) + clock
        at = len(body) + 16 * len(self.pages) + len(after)
        at += -at % page_bytes  # readers map whole pages
        places, data_at = b"", at
        for each in self.pages:
            places += struct.pack(f"{order}QQ", data_at, len(each))
            data_at += len(each)
        return (body + places + after).ljust(at, b"\0") + b"".join(self.pages)

    def _layout(self) -> tuple[int, int]:
        """Return how many bytes a page and a long of the traced kernel have."""
        fields = parse_fields(self.header_page, 8)
        if "data" not in fields or "commit" not in fields:
            raise TraceError("the trace is damaged: its header_page has no fields 'commit' and 'data'")
        data = fields["data"]
        return data.offset + data.size, fields["commit"].size

    def _order(self, long_bytes: int) -> str:
        """Return the byte order: how full a page is, is a small number in one of them only."""
        form = "Q" if long_bytes == 8 else "I"
        for each in self.pages:
            if len(each) >= 8 + long_bytes:
                used = {order: _without_marks(*struct.unpack_from(f"{order}{form}", each, 8)) for order in "<>"}
                return min(used, key=lambda order: used[order])
        return "<"

    def _formats(self, order: str) -> list[bytes]:
        own = self.formats.get("ftrace", ())
        others = {system: texts for system, texts in self.formats.items() if system != "ftrace"}
        found = [struct.pack(f"{order}I", len(own)), *(_sized(order, text) for text in own)]
        found.append(struct.pack(f"{order}I", len(others)))
        for system, texts in others.items():
            found += [system.encode() + b"\0", struct.pack(f"{order}I", len(texts))]
            found += [_sized(order, text) for text in texts]
        return found


def _without_marks(used: int) -> int:
    """Return how full a page is, without the kernel's marks of lost events, an int whose sign may fill a long."""
    return (used & _SHORT if used >> 32 == _SHORT else used) & ~_LOST_BITS


def _sized(order: str, text: str, form: str = "Q") -> bytes:
    data = text.encode()
    return struct.pack(f"{order}{form}", len(data)) + data
