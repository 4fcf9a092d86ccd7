"""trace.dat version 6: parts in a fixed order (trace-cmd.dat.v6(5))."""

from collections.abc import Callable

from tracecmd import options
from tracecmd.binary import Cursor, text
from tracecmd.contents import BufferData, Contents, CpuData
from tracecmd.errors import TraceError
from tracecmd.metadata import read_cmdlines, read_event_formats, read_ftrace_formats, read_header_info, read_text

_TAG_BYTES = 10
_PLACE_BYTES = 16  # for each CPU of each buffer


def read_v6(contents: Contents, cursor: Cursor) -> None:
    """Fill in the content of a version 6 file, after its first header."""
    contents.header_page = read_header_info(cursor)
    contents.event_formats = [*read_ftrace_formats(cursor), *read_event_formats(cursor)]
    contents.texts = {"kallsyms": _skipped(cursor), "printk": _skipped(cursor)}
    contents.cmdlines = read_cmdlines(cursor)
    cpus = cursor.u32()
    tag = _tag(cursor)
    contents.options.order = contents.order
    if tag == "options":
        while (number := cursor.u16()) != options.DONE:
            contents.options.add(number, cursor.sized(4))
        tag = _tag(cursor)
    cpus = contents.options.number(options.CPUCOUNT) or cpus
    if cpus * _PLACE_BYTES * (1 + len(contents.options.all(options.BUFFER))) > cursor.source.size_bytes:
        raise TraceError(f"{cursor.source.what} is damaged: it claims {cpus} CPUs")
    contents.buffers = [_buffer(contents, "", cpus, tag, cursor)]
    for data in contents.options.all(options.BUFFER):
        option = contents.options.cursor(options.BUFFER, data)
        place = Cursor(cursor.source, option.u64())
        contents.buffers.append(_buffer(contents, option.string(), cpus, _tag(place), place))


def _buffer(contents: Contents, name: str, cpus: int, tag: str, cursor: Cursor) -> BufferData:
    if tag == "latency":
        return BufferData(name, contents.options.clock, contents.page_bytes, (), is_text=True)
    if tag != "flyrecord":
        raise TraceError(f"{cursor.source.what} is damaged: its data have the tag {tag!r}")
    places = [(cursor.u64(), cursor.u64()) for _ in range(cpus)]
    clock = contents.options.clock
    if contents.options.all(options.TRACECLOCK):  # the clock follows here; an instance has its own
        clock = options.bracketed(text(cursor.sized(8))) or clock
    data = tuple(CpuData(cpu, at, size) for cpu, (at, size) in enumerate(places))
    return BufferData(name, clock, contents.page_bytes, data)


def _tag(cursor: Cursor) -> str:
    return text(cursor.take(_TAG_BYTES)).strip()


def _skipped(cursor: Cursor) -> Callable[[], str]:
    """Skip a text that may be long; return a function that reads it."""
    at = cursor.at
    size_bytes = cursor.u32()
    cursor.source.read(cursor.at + size_bytes, 0)  # checks that it is there
    cursor.at += size_bytes
    return lambda: read_text(Cursor(cursor.source, at))
