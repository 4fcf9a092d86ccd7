"""Write trace.dat for tests: entries, pages, and files of both versions (trace-cmd.dat.v6(5), v7(5))."""

import struct
import zlib
from dataclasses import dataclass, field

import zstandard
from tracecmd import options

SHORT, PADDING, EXTEND, STAMP = 28, 29, 30, 31
LOST, LOST_COUNTED = 1 << 31, 1 << 30
COMMON = """\
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
"""


def event_format(name: str, number: int, fields: str, print_format: str = '""') -> str:
    """Return a format; `fields` are lines of "declaration offset size signed"."""
    lines = [line.rsplit(None, 3) for line in fields.strip().splitlines()]
    own = "".join(
        f"\tfield:{what};\toffset:{at};\tsize:{size};\tsigned:{signed};\n" for what, at, size, signed in lines
    )
    return f"name: {name}\nID: {number}\nformat:\n{COMMON}\n{own}\nprint fmt: {print_format}\n"


@dataclass(frozen=True)
class Ring:
    """The layout of a kernel's ring buffer."""

    order: str = "<"
    long_bytes: int = 8
    page_bytes: int = 4096

    @property
    def data_at(self) -> int:
        return 8 + self.long_bytes

    def header_page(self) -> str:
        """Return events/header_page."""
        size, at = self.long_bytes, self.data_at
        return (
            "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
            f"\tfield: local_t commit;\toffset:8;\tsize:{size};\tsigned:1;\n"
            "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
            f"\tfield: char data;\toffset:{at};\tsize:{self.page_bytes - at};\tsigned:1;\n"
        )

    def head(self, kind: int, delta: int) -> bytes:
        """Return the first word of an entry."""
        word = delta << 5 | kind if self.order == "<" else kind << 27 | delta
        return struct.pack(f"{self.order}I", word)

    def word(self, value: int) -> bytes:
        return struct.pack(f"{self.order}I", value)

    def data(self, delta: int, payload: bytes) -> bytes:
        """Return an entry with an event."""
        padded = payload + bytes(-len(payload) % 4)
        if 0 < len(padded) <= 4 * SHORT:
            return self.head(len(padded) // 4, delta) + padded
        return self.head(0, delta) + self.word(len(payload) + 4) + padded

    def padding(self, delta: int, size: int) -> bytes:
        """Return a discarded entry with `size` bytes after its first word."""
        return self.head(PADDING, delta) + self.word(size) + bytes(max(0, size - 4))

    def tail(self) -> bytes:
        """Return the padding that ends a page."""
        return self.head(PADDING, 0)

    def extend(self, delta: int) -> bytes:
        return self.head(EXTEND, delta & (1 << 27) - 1) + self.word(delta >> 27)

    def stamp(self, time: int) -> bytes:
        """Return an absolute time stamp; it lacks the upper 5 bits."""
        low = time & (1 << 59) - 1
        return self.head(STAMP, low & (1 << 27) - 1) + self.word(low >> 27)

    def page(self, time: int, entries: list[bytes], lost: int | None = None) -> bytes:
        """Return a page; `lost`: events lost before it, -1 for an unknown number."""
        data = b"".join(entries)
        used, stored = len(data), b""
        if lost is not None:
            used |= LOST
            if lost >= 0:
                used |= LOST_COUNTED
                stored = struct.pack(f"{self.order}{'Q' if self.long_bytes == 8 else 'I'}", lost)
        head = struct.pack(f"{self.order}Q{'Q' if self.long_bytes == 8 else 'I'}", time, used)
        page = head + data + stored
        assert len(page) <= self.page_bytes
        return page + bytes(self.page_bytes - len(page))

    def record(self, number: int, pid: int, body: bytes = b"") -> bytes:
        """Return an event's record: the common fields and its own."""
        return struct.pack(f"{self.order}HBBi", number, 0, 0, pid) + body


@dataclass
class TraceWriter:
    """A file. `buffers` has, by name, the pages of each CPU."""

    ring: Ring = Ring()
    version: int = 7
    compression: str = "none"
    formats: dict[str, list[str]] = field(default_factory=dict)
    cmdlines: str = ""
    clock: str = "mono"
    options: list[tuple[int, bytes]] = field(default_factory=list)
    buffers: dict[str, list[list[bytes]]] = field(default_factory=lambda: {"": [[]]})
    kallsyms: str = ""

    def pack(self, form: str, *values: int | bytes) -> bytes:
        return struct.pack(self.ring.order + form, *values)

    def encode(self) -> bytes:
        """Return the file."""
        order = 0 if self.ring.order == "<" else 1
        head = b"\x17\x08\x44tracing" + f"{self.version}\0".encode() + bytes([order, self.ring.long_bytes])
        head += self.pack("I", self.ring.page_bytes)
        return self._v6(head) if self.version == 6 else self._v7(head)

    def _sized(self, text: str, form: str = "Q") -> bytes:
        return self.pack(form, len(text.encode())) + text.encode()

    def _header_info(self) -> bytes:
        return b"header_page\0" + self._sized(self.ring.header_page()) + b"header_event\0" + self._sized("")

    def _formats(self) -> tuple[bytes, bytes]:
        """Return ftrace's own formats, and those of all systems."""
        own = self.formats.get("ftrace", [])
        others = {system: texts for system, texts in self.formats.items() if system != "ftrace"}
        ftrace = self.pack("I", len(own)) + b"".join(map(self._sized, own))
        events = self.pack("I", len(others))
        for system, texts in others.items():
            events += system.encode() + b"\0" + self.pack("I", len(texts)) + b"".join(map(self._sized, texts))
        return ftrace, events

    def _v6(self, head: bytes) -> bytes:
        ftrace, events = self._formats()
        head += self._header_info() + ftrace + events + self._sized(self.kallsyms, "I") + self.pack("I", 0)
        head += self._sized(self.cmdlines)
        cpus = max(map(len, self.buffers.values()))
        clock = f"[{self.clock}]\0".encode()
        given = [*self.options, (options.TRACECLOCK, clock)]
        others = [name for name in self.buffers if name]
        size = len(head) + 4 + 10 + sum(6 + len(data) for _, data in given) + sum(6 + 9 + len(name) for name in others)
        size += 2
        table = 10 + 16 * cpus + 8 + len(clock)
        at, tables, data = self.aligned(size + table * len(self.buffers)), [], b""
        for name in ["", *others]:
            tables.append(b"flyrecord\0")
            for pages in [*self.buffers[name], *[[]] * (cpus - len(self.buffers[name]))]:
                tables.append(self.pack("QQ", at + len(data), len(b"".join(pages))))
                data += b"".join(pages)
            tables.append(self.pack("Q", len(clock)) + clock)
        head += self.pack("I", cpus) + b"options  \0"
        for number, content in given:
            head += self.pack("HI", number, len(content)) + content
        for rank, name in enumerate(others, start=1):
            content = self.pack("Q", size + rank * table) + name.encode() + b"\0"
            head += self.pack("HI", options.BUFFER, len(content)) + content
        head += self.pack("H", options.DONE) + b"".join(tables)
        return head + bytes(at - len(head)) + data

    def _v7(self, head: bytes) -> bytes:
        ftrace, events = self._formats()
        head += f"{self.compression}\0".encode() + b"1.0\0"
        body, at = b"", len(head) + 8
        given = [*self.options, (options.TRACECLOCK, f"[{self.clock}]\0".encode())]
        sections = {
            options.HEADER_INFO: self._header_info(),
            options.FTRACE_EVENTS: ftrace,
            options.EVENT_FORMATS: events,
            options.KALLSYMS: self._sized(self.kallsyms, "I"),
            options.PRINTK: self.pack("I", 0),
            options.CMDLINES: self._sized(self.cmdlines),
        }
        for number, content in sections.items():
            given.append((number, self.pack("Q", at + len(body))))
            body += self.section(number, content)
        for name, cpus in self.buffers.items():
            start = at + len(body)
            flags = int(self.compression != "none")
            body += self.pack("HHIQ", options.BUFFER, flags, 0, 0)
            places = b""
            for cpu, pages in enumerate(cpus):
                if self.compression == "none":
                    body += bytes(self.aligned(at + len(body)) - at - len(body))
                data = self.chunks(pages)
                places += self.pack("IQQ", cpu, at + len(body), len(data))
                body += data
            content = self.pack("Q", start) + name.encode() + b"\0" + f"{self.clock}\0".encode()
            given.append((options.BUFFER, content + self.pack("II", self.ring.page_bytes, len(cpus)) + places))
        listed = b"".join(self.pack("HI", number, len(content)) + content for number, content in given)
        listed += self.pack("HIQ", options.DONE, 8, 0)
        return head + self.pack("Q", at + len(body)) + body + self.section(options.DONE, listed)

    def aligned(self, at: int) -> int:
        """Return where the next page begins: libtracecmd maps the file by pages."""
        return at + -at % self.ring.page_bytes

    def section(self, number: int, content: bytes) -> bytes:
        """Return a section of version 7, compressed if the file is."""
        if self.compression != "none":
            packed = self.packed(content)
            content = self.pack("II", len(packed), len(content)) + packed
        return self.pack("HHIQ", number, int(self.compression != "none"), 0, len(content)) + content

    def chunks(self, pages: list[bytes]) -> bytes:
        """Return trace data: pages as they are, or compressed in pairs."""
        if self.compression == "none":
            return b"".join(pages)
        pairs = [b"".join(pages[i : i + 2]) for i in range(0, len(pages), 2)]
        packed = [(self.packed(pair), len(pair)) for pair in pairs]
        return self.pack("I", len(pairs)) + b"".join(self.pack("II", len(data), size) + data for data, size in packed)

    def packed(self, content: bytes) -> bytes:
        return zlib.compress(content) if self.compression == "zlib" else zstandard.ZstdCompressor().compress(content)
