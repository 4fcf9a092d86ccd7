"""A report as text: for a terminal, for a file of 80 columns, and for a mail of 72."""

import os
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from wblab import __version__
from wblab.lab.printable import printable
from wblab.report.report import (
    INDENT,
    Block,
    Column,
    Lines,
    Medium,
    Picture,
    Points,
    Report,
    Row,
    Section,
    Table,
    shown,
    text_of,
)

WIDTH, MAIL_WIDTH = 80, 72
_APART = 2  # columns between those of a table
_WRAPPED = 24  # columns: so narrow a column of prose may be
_INDENT = " " * INDENT
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=%|[mµn]?s\b|(?:[KMG]iB|bytes)\b)")
_NO_BREAK = "\u00a0"
_BOLD = "\0"  # begins a line that a terminal shows in bold
_BOLD_ON_TERMINALS = ("\x1b[1m", "\x1b[0m")
_WITHOUT_BOLD = ("dumb", "unknown")  # terminals


@dataclass(frozen=True)
class _Room:
    """Where text goes. width: in columns; None for a pipe. breaks_words: those that are longer than a line."""

    width: int | None
    place: Medium = "terminal"
    breaks_words: bool = True

    def wrapped(self, said: str, indent: str = "") -> list[str]:
        return wrapped(said, self.width, indent, breaks_words=self.breaks_words)


def lines(report: Report, width: int | None = WIDTH, place: Medium = "terminal") -> list[str]:
    """Return a report's lines. width: in columns; None for a pipe, whose lines are as long as they must be."""
    return [line.removeprefix(_BOLD) for line in _report(report, _Room(width, place))]


def block_lines(*blocks: Block) -> list[str]:
    """Return the lines of blocks, as long as they must be."""
    return lines(Report("", "", blocks), None)


def mail(report: Report) -> list[str]:
    """Return a report's lines for a mailing list: at most 72 columns, whatever the names in it are."""
    return lines(report, MAIL_WIDTH, "mail")


def show(report: Report, place: Medium = "terminal", more: Iterable[Block] = ()) -> None:
    """Print a report on standard output, as wide as a terminal is, which breaks long words itself.

    more: further blocks that take time: what is known is printed before each.
    """
    _show(lambda width: _report(report, _Room(width, place, breaks_words=False), more), at_once=bool(more))


def _show(found: Callable[[int | None], Iterable[str]], *, at_once: bool = False) -> None:
    """Print the lines of a width; on a terminal in bold where they say so. at_once: each as soon as it is there."""
    is_terminal = sys.stdout.isatty()
    bold, plain = _BOLD_ON_TERMINALS if is_terminal and os.environ.get("TERM") not in _WITHOUT_BOLD else ("", "")
    for line in found(shutil.get_terminal_size().columns if is_terminal else None):
        shown_line = f"{bold}{line.removeprefix(_BOLD)}{plain}" if line.startswith(_BOLD) else line
        print(shown_line, flush=at_once)


def wrapped(said: str, width: int | None, indent: str = "", *, breaks_words: bool = True) -> list[str]:
    """Return a text in lines that fit, the first of them not indented. Numbers stay beside their units."""
    text = printable(said)
    if width is None:
        return [text]
    kept = _BEFORE_UNIT.sub(_NO_BREAK, text)
    found = textwrap.wrap(
        kept, width, subsequent_indent=indent, break_long_words=breaks_words, break_on_hyphens=False
    ) or [""]
    return [line.replace(_NO_BREAK, " ") for line in found]


def command(words: Sequence[str], width: int | None = MAIL_WIDTH, indent: int = 0) -> list[str]:
    """Return a command for a shell, in lines that fit: each but the last ends in a backslash.

    A word that is too long is divided: the shell joins its quoted parts again, as nothing is between them.
    """
    if width is None:
        return [" " * indent + printable(shlex.join(words))]
    room = width - 2 - indent  # a space and the backslash
    found = [""]
    for word in words:
        first, *further = _parts(printable(word), room)
        if not further and found[-1] and len(found[-1]) + 1 + len(first) <= room:
            found[-1] += f" {first}"
        elif found == [""]:
            found[-1] = first
        else:
            found[-1] += " "
            found.append(first)
        found += further
    joined = [f"{line}\\" for line in found[:-1]] + [found[-1].rstrip(" ")]
    # What continues a divided word must begin its line.
    begins = [True, *(line.endswith(" ") for line in found[:-1])]
    return [f"{' ' * indent if begin else ''}{line}" for begin, line in zip(begins, joined, strict=True)]


def _parts(word: str, room: int) -> list[str]:
    """Return a word as one quoted part, or as several that fit."""
    quoted = shlex.quote(word)
    if len(quoted) <= room:
        return [quoted]
    most = next(count for count in range(len(word), 0, -1) if len(shlex.quote(word[:count])) <= room)
    return [shlex.quote(word[:most]), *_parts(word[most:], room)]


def _report(report: Report, room: _Room, more: Iterable[Block] = ()) -> Iterator[str]:
    for about in report.about:
        yield from room.wrapped(text_of(about))
    for line in room.wrapped(text_of(report.headline)) if report.headline else ():
        yield _BOLD + line
    for at, block in enumerate(chain(report.blocks, more)):
        yield from _set(block, room, close=not at and not report.headline)
    if report.notes:
        yield from ("", f"{_BOLD}What to know", *_block(Points(report.notes), room))
    if report.command:
        yield from ("", f"To repeat it with wblab {__version__}:")
        yield from command(shlex.split(report.command), room.width, INDENT)
        yield from room.wrapped(", ".join(f"{name} {value}" for name, value in report.inputs.items()))


def _set(block: Block, room: _Room, *, close: bool = False) -> Iterator[str]:
    """Yield the lines of a block, after an empty one unless it stands close; nothing if it has none."""
    found = _block(block, room)
    first = next(found, None)
    if first is not None:
        is_close = close or (isinstance(block, Section) and block.close)
        yield from (*([] if is_close else [""]), first, *found)


def _block(block: Block, room: _Room) -> Iterator[str]:
    match block:
        case Section():
            if shown(block.place, room.place):
                yield from _section(block, room)
        case Table():
            yield from _table(block, room.width, room.place)
        case Points():
            for item in block.items:
                yield from room.wrapped(f"- {text_of(item)}", "  ")
        case Lines():
            yield from (" " * block.indent + printable(line) for line in block.lines)
        case Picture():
            return
        case _:
            yield from room.wrapped(text_of(block))


def _section(section: Section, room: _Room) -> Iterator[str]:
    inner = room if room.width is None else replace(room, width=room.width - section.indent)
    body = [line for block in section.blocks for line in _set(block, inner, close=section.close)]
    if section.head and (body or section.close):
        yield from (_BOLD + line for line in room.wrapped(section.head))
    for line in body[1:] if body[:1] == [""] else body:
        yield " " * section.indent + line.removeprefix(_BOLD) if line and section.indent else line


def _table(table: Table, width: int | None, place: Medium) -> Iterator[str]:
    """Yield a table's lines; if it does not fit without its spare columns, those of a list of its rows."""
    if not table.rows:
        return
    shown_rows, left_out = _first(table, place)
    cells = [_cells(row) for row in shown_rows]
    every = [replace(column, head=printable(column.head)) for column in table.columns]
    wanted = [at for at, column in enumerate(every) if place != "mail" or not column.spare]
    kept = _fitting(every, cells, wanted, width)
    columns, rows = _chosen(every, cells, kept)
    widths, at = _widths(columns, rows), _wrapping(columns)
    room = None if width is None else width - sum(widths) + widths[at] - _APART * (len(widths) - 1)
    if room is None or widths[at] <= room or (columns[at].kind == "prose" and room >= _WRAPPED):
        if room is not None:
            widths[at] = min(widths[at], room)
        yield from _laid(columns, rows, widths, width)
    else:
        kept = wanted
        columns, rows = _chosen(every, cells, wanted)
        for row in rows:
            yield from _listed(columns, row, width)
    if left_out:
        yield f"and {left_out} more{': see a page or --json' if place != 'mail' else ''}"
    if hidden := len(wanted) - len(kept):
        count = "1 column" if hidden == 1 else f"{hidden} columns"
        yield f"({count} left out: see {'a page, ' if table.has_page else ''}a wider terminal or --json)"


def _chosen(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], kept: Sequence[int]
) -> tuple[list[Column], list[Sequence[str]]]:
    return [columns[at] for at in kept], [row if len(row) == 1 else [row[at] for at in kept] for row in rows]


def _first(table: Table, place: Medium) -> tuple[Sequence[Row | str], int]:
    """Return the rows to show, with their heads, and the number of those left out."""
    places = [at for at, row in enumerate(table.rows) if not isinstance(row, str)]
    most = len(places) if table.most is None else max(1, table.most // (2 if place == "mail" else 1))
    return (table.rows[: places[most - 1] + 1], len(places) - most) if most < len(places) else (table.rows, 0)


def _cells(row: Row | str) -> list[str]:
    """Return a row's texts; a single one heads other rows."""
    return [printable(row)] if isinstance(row, str) else [printable(text_of(cell)) for cell in row.cells]


def _fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], kept: list[int], width: int | None) -> list[int]:
    """Return the columns that a width holds: of those to spare as few as possible are left out."""
    spare = sorted((at for at in kept if columns[at].spare), key=lambda at: -columns[at].spare)
    for at in spare:
        some = [columns[each] for each in kept]
        wide = _widths(some, [[row[each] for each in kept] for row in rows if len(row) > 1])
        wrapping = _wrapping(some)
        if some[wrapping].kind == "prose":
            wide[wrapping] = min(wide[wrapping], _WRAPPED)
        if width is None or sum(wide) + _APART * (len(kept) - 1) <= width:
            break
        kept = [each for each in kept if each != at]
    return kept


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> list[int]:
    whole = [row for row in rows if len(row) == len(columns) > 1 or len(columns) == 1]
    return [max([len(column.head), *(len(row[at]) for row in whole)]) for at, column in enumerate(columns)]


def _wrapping(columns: Sequence[Column]) -> int:
    """Return the place of the column that may be wrapped: the last of prose."""
    return max((at for at, column in enumerate(columns) if column.kind == "prose"), default=len(columns) - 1)


def _laid(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], widths: Sequence[int], width: int | None
) -> Iterator[str]:
    """Yield a table's lines. widths: of its columns. width: of the terminal."""
    if any(column.head for column in columns):
        yield _BOLD + _line(columns, [column.head for column in columns], widths)
    at = _wrapping(columns)
    before = " " * (sum(widths[:at]) + _APART * at)
    for place, row in enumerate(rows):
        if len(row) == 1 != len(columns):
            yield from [""] * bool(place)
            yield from wrapped(row[0], width)
            continue
        first, *further = wrapped(row[at], None if width is None else widths[at])
        yield _line(columns, [*row[:at], first, *row[at + 1 :]], widths)
        yield from (before + line for line in further)


def _line(columns: Sequence[Column], row: Sequence[str], widths: Sequence[int]) -> str:
    aligned = (
        text.rjust(size) if column.kind == "number" else text.ljust(size)
        for column, text, size in zip(columns, row, widths, strict=True)
    )
    return (" " * _APART).join(aligned).rstrip()


def _listed(columns: Sequence[Column], row: Sequence[str], width: int | None) -> Iterator[str]:
    """Yield a row as a paragraph: its names, its figures with their heads, and its prose on lines of its own."""
    if len(row) == 1:
        yield from wrapped(row[0], width)
        return
    names = next((at for at, column in enumerate(columns) if column.kind != "name"), len(columns))
    label = ", ".join(filter(None, row[:names]))
    rest = [(column, text) for column, text in zip(columns[names:], row[names:], strict=True) if text]
    figures = ", ".join(f"{column.head} {text}".lstrip() for column, text in rest if column.kind != "prose")
    yield from wrapped(f"{label}: {figures}" if label and figures else label or figures, width, _INDENT)
    for column, text in rest:
        if column.kind == "prose":
            yield from wrapped(f"{_INDENT}{column.head}: {text}" if column.head else _INDENT + text, width, _INDENT * 2)
