"""The parts that both versions of trace.dat write in the same way: formats, symbols, names of tasks."""

from tracecmd.binary import Cursor, text

Format = tuple[str, str]  # system and text


def read_header_info(cursor: Cursor) -> str:
    """Return the format of a ring buffer page (events/header_page); that of an entry's header is fixed."""
    cursor.expect(b"header_page\0")
    page = text(cursor.sized(8))
    cursor.expect(b"header_event\0")
    cursor.sized(8)
    return page


def read_ftrace_formats(cursor: Cursor) -> list[Format]:
    """Return the formats of ftrace's own events."""
    return [("ftrace", text(cursor.sized(8))) for _ in range(cursor.u32())]


def read_event_formats(cursor: Cursor) -> list[Format]:
    """Return the formats of all other events."""
    formats = []
    for _ in range(cursor.u32()):
        system = cursor.string()
        formats += [(system, text(cursor.sized(8))) for _ in range(cursor.u32())]
    return formats


def read_cmdlines(cursor: Cursor) -> str:
    """Return the names of tasks: lines of a pid and a name."""
    return text(cursor.sized(8))


def read_text(cursor: Cursor) -> str:
    """Return symbols (kallsyms) or the formats of trace_printk()."""
    return text(cursor.sized(4))
