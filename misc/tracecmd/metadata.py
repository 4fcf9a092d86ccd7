"""Parts that both versions of trace.dat write in the same way: formats, symbols, task names."""

from tracecmd.binary import Cursor, text
from tracecmd.errors import TraceError

Format = tuple[str, str]  # system and text
_MOST = 1 << 16  # an event's type has 16 bits


def read_header_info(cursor: Cursor) -> str:
    """Return the format of a ring buffer page (events/header_page). That of an entry's header is fixed."""
    cursor.expect(b"header_page\0")
    page = text(cursor.sized(8))
    cursor.expect(b"header_event\0")
    cursor.sized(8)
    return page


def read_ftrace_formats(cursor: Cursor) -> list[Format]:
    """Return the formats of ftrace's own events."""
    return [("ftrace", text(cursor.sized(8))) for _ in range(_count(cursor))]


def read_event_formats(cursor: Cursor) -> list[Format]:
    """Return the formats of all other events."""
    formats: list[Format] = []
    for _ in range(_count(cursor)):
        system = cursor.string()
        formats += [(system, text(cursor.sized(8))) for _ in range(_count(cursor, _MOST - len(formats)))]
    return formats


def _count(cursor: Cursor, most: int = _MOST) -> int:
    if (count := cursor.u32()) > most:
        raise TraceError(f"{cursor.source.what} is damaged: it claims {count} more formats or systems")
    return count


def read_cmdlines(cursor: Cursor) -> str:
    """Return the task names: lines with a pid and a name."""
    return text(cursor.sized(8))


def read_text(cursor: Cursor) -> str:
    """Return symbols (kallsyms) or the formats of trace_printk()."""
    return text(cursor.sized(4))
