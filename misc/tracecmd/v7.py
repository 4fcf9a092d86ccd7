"""trace.dat version 7: sections, found through options (trace-cmd.dat.v7(5))."""

from collections.abc import Callable

from tracecmd import options
from tracecmd.binary import Cursor, RandomAccess
from tracecmd.contents import BufferData, Contents, CpuData, checked_page_bytes
from tracecmd.errors import TraceError
from tracecmd.metadata import read_cmdlines, read_event_formats, read_ftrace_formats, read_header_info, read_text

_PACKED = 1  # a flag of a section
_MOST_CPUS = 1 << 16


def read_v7(contents: Contents, cursor: Cursor) -> None:
    """Fill in the content of a version 7 file, after its first header."""
    contents.options.order = contents.order
    _read_options(contents, cursor.u64())
    contents.header_page = read_header_info(_section(contents, options.HEADER_INFO))
    contents.event_formats = [
        *read_ftrace_formats(_section(contents, options.FTRACE_EVENTS)),
        *read_event_formats(_section(contents, options.EVENT_FORMATS)),
    ]
    contents.cmdlines = read_cmdlines(_section(contents, options.CMDLINES))
    contents.texts = {
        "kallsyms": _later(contents, options.KALLSYMS),
        "printk": _later(contents, options.PRINTK),
    }
    for number, data in contents.options.items:
        if number in (options.BUFFER, options.BUFFER_TEXT):
            contents.buffers.append(_buffer(contents, number, data))


def _read_options(contents: Contents, at: int) -> None:
    passed: set[int] = set()
    while at:
        if at in passed:
            raise TraceError(f"{contents.source.what} is damaged: its options form a loop")
        passed.add(at)
        cursor = _open(contents, at, options.DONE)
        number = -1
        while number != options.DONE:
            number, data = cursor.u16(), cursor.sized(4)
            if number != options.DONE:
                contents.codec.budget.take(len(data), contents.source.what)  # sections may overlap
                contents.options.add(number, data)
        at = contents.options.cursor(number, data).u64()


def _open(contents: Contents, at: int, number: int) -> Cursor:
    """Return a cursor over a section's content, unpacked if it is compressed."""
    cursor = Cursor(contents.source, at)
    found, flags = cursor.u16(), cursor.u16()
    cursor.take(4 + 8)  # skip its description and size
    if found != number:
        raise TraceError(f"{contents.source.what} is damaged: section {found} at {at}, expected {number}")
    if not flags & _PACKED:
        return cursor
    data = contents.codec.section(cursor)
    return Cursor(RandomAccess.of_bytes(data, contents.order, f"section {number} of {contents.source.what}"))


def _section(contents: Contents, number: int) -> Cursor:
    """Return a cursor over the section named by the last option with this number; empty if there is none."""
    if not (found := contents.options.all(number)):
        if number == options.CMDLINES:
            return Cursor(RandomAccess.of_bytes(bytes(8), contents.order, "no task names"))
        raise TraceError(f"{contents.source.what} is damaged: it has no section {number}")
    return _open(contents, contents.options.cursor(number, found[-1]).u64(), number)


def _later(contents: Contents, number: int) -> Callable[[], str]:
    """Return a function that reads a text that may be long."""
    return lambda: read_text(_section(contents, number)) if contents.options.all(number) else ""


def _buffer(contents: Contents, number: int, data: bytes) -> BufferData:
    option = contents.options.cursor(number, data)
    at, name, clock = option.u64(), option.string(), option.string()
    if number == options.BUFFER_TEXT:
        return BufferData(name, clock, contents.page_bytes, (), is_text=True)
    page_bytes, cpus = checked_page_bytes(option.u32(), contents.source.what), option.u32()
    if cpus > _MOST_CPUS:
        raise TraceError(f"{contents.source.what} is damaged: it claims {cpus} CPUs")
    header = Cursor(contents.source, at)
    if (found := header.u16()) != options.BUFFER:
        raise TraceError(f"{contents.source.what} is damaged: section {found} at {at}, expected {number}")
    packed = bool(header.u16() & _PACKED)
    places = tuple(CpuData(option.u32(), option.u64(), option.u64(), packed) for _ in range(cpus))
    return BufferData(name, clock, page_bytes, places)
