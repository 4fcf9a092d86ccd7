"""A report as data: what a study or a comparison found. `text` renders it for a terminal or a mail, `page` as HTML.

The headline is the answer; the blocks below it say more. How far a block is carried is its place: into a mail, to a
terminal, or only onto a page, where it may be folded until a reader opens it. What has a place is also in all larger
renderings: what is in a mail is in a terminal and on a page too.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from wblab.report.palette import look_of

Medium = Literal["mail", "terminal", "page", "folded"]
MEDIA: tuple[Medium, ...] = ("mail", "terminal", "page", "folded")
Kind = Literal["name", "number", "prose"]
INDENT = 4  # columns of text: by so much a command is indented


@dataclass(frozen=True)
class Span:
    """Words that differ from those around them.

    look: a style of `palette`, such as "yes". link: an address, relative to the directory of the report. title: what a
    sign means. swatch: the colour, #rrggbb, of a square before them on a page, which a picture beside them explains.
    """

    text: str
    look: str = ""
    link: str = ""
    form: Literal["", "bold", "code"] = ""
    title: str = ""
    swatch: str = ""


Words = str | Span | tuple[str | Span, ...]


@dataclass(frozen=True)
class Cell:
    """A cell of a table. look: of the whole cell. notes: small lines below it. anchor: its name. Pages have both."""

    words: Words
    look: str = ""
    notes: tuple[Words, ...] = ()
    anchor: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table: a cell for each column. anchor: its name on a page."""

    cells: tuple[Words | Cell, ...]
    anchor: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table. prose may be wrapped; in text only its last column is.

    spare: 0 if it is always shown; else a mail leaves it out, and a narrow terminal too, the largest first.
    """

    head: str
    kind: Kind = "name"
    spare: int = 0


@dataclass(frozen=True)
class Table:
    """Rows below the heads of their columns; a text among the rows heads those below it.

    most: rows in a terminal, of which a mail has half. None: all. has_page: whether there is a page that shows it.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row | str, ...]
    most: int | None = None
    has_page: bool = True


@dataclass(frozen=True)
class Points:
    """A list."""

    items: tuple[Words, ...]


@dataclass(frozen=True)
class Lines:
    """Lines that stay as they are, such as commands; in text they are indented, by so many columns."""

    lines: tuple[str, ...]
    indent: int = INDENT


@dataclass(frozen=True)
class Picture:
    """A picture, which only a page has. what: says what it shows. It is either SVG, or PNG, or a file's address.

    is_themed: that file is an SVG which fits a phone, and turns dark by itself.
    """

    what: str
    svg: str = ""
    png: bytes = b""
    address: str = ""
    is_themed: bool = False


@dataclass(frozen=True)
class Section:
    """Blocks with a head, or without one to give them a place of their own.

    picture: stands beside the head, also while the section is folded. close: in text, no empty line is above it or
    between its blocks. indent: of what is below its head, in columns of text.
    """

    head: str
    blocks: "tuple[Block, ...]"
    place: Medium = "mail"
    anchor: str = ""
    picture: Picture | None = None
    close: bool = False
    indent: int = 0


Block = Words | Points | Lines | Table | Picture | Section


@dataclass(frozen=True)
class Report:
    """What was found.

    notes: what a reader should know. command: repeats it; empty if there is none. inputs: what the result depends on,
    such as digests, by name. data: what programs read, as JSON values. about: lines above the headline, on what it is
    about; in text, an empty one sets them apart. is_open: the headline is of something seen that more runs must decide.
    """

    title: str
    headline: Words
    blocks: tuple[Block, ...]
    notes: tuple[Words, ...] = ()
    command: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    about: tuple[Words, ...] = ()
    is_open: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object; numbers that are not finite become null."""
        found: dict[str, Any] = finite({"headline": text_of(self.headline), **self.data})
        return found


def counted(outcomes: Sequence[str], names: Iterable[str]) -> tuple[str | Span, ...]:
    """Return how often each outcome occurs: 3 reproduced, 1 not reproduced."""
    said = [Span(f"{outcomes.count(name)} {name}", look_of(name).style) for name in names]
    return tuple(part for at, one in enumerate(said) for part in ((", ", one) if at else (one,)))


def paragraphs(lines: Iterable[str]) -> "tuple[Block, ...]":
    """Return lines as paragraphs, those that are indented as commands are as lines that stay as they are."""
    before = " " * INDENT
    return tuple(Lines((line.removeprefix(before),)) if line.startswith(before) else line for line in lines)


def text_of(words: Words | Cell) -> str:
    """Return words as plain text."""
    if isinstance(words, Cell):
        return text_of(words.words)
    if isinstance(words, tuple):
        return "".join(map(text_of, words))
    return words.text if isinstance(words, Span) else words


def kind_of(block: Block) -> str:
    """Return the name of a block's kind, in lower case; "words" for a paragraph."""
    return "words" if isinstance(block, (str, Span, tuple)) else type(block).__name__.lower()


def shown(place: Medium, within: Medium) -> bool:
    """Whether a rendering that carries blocks up to a place has those of another one."""
    return MEDIA.index(place) <= MEDIA.index(within)


def within(report: Report, place: Medium) -> Report:
    """Return a report without the blocks that a place does not have."""

    def kept(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
        return tuple(
            replace(block, blocks=kept(block.blocks)) if isinstance(block, Section) else block
            for block in blocks
            if not isinstance(block, Section) or shown(block.place, place)
        )

    return replace(report, blocks=kept(report.blocks))


def finite(value: Any) -> Any:
    """Return a JSON value with null for each number that is not finite."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def changed(
    report: Report,
    span: Callable[[Span], str | Span] = lambda span: span,
    picture: Callable[[Picture], Picture] = lambda picture: picture,
) -> Report:
    """Return a report with other spans and pictures, such as links and files of the place where it is shown."""

    def of_words(words: Words) -> Words:
        if isinstance(words, tuple):
            return tuple(span(part) if isinstance(part, Span) else part for part in words)
        return span(words) if isinstance(words, Span) else words

    def of_cell(cell: Words | Cell) -> Words | Cell:
        if isinstance(cell, Cell):
            return replace(cell, words=of_words(cell.words), notes=tuple(map(of_words, cell.notes)))
        return of_words(cell)

    def of_row(row: Row | str) -> Row | str:
        return row if isinstance(row, str) else replace(row, cells=tuple(map(of_cell, row.cells)))

    def of_block(block: Block) -> Block:
        match block:
            case Points():
                return Points(tuple(map(of_words, block.items)))
            case Table():
                return replace(block, rows=tuple(map(of_row, block.rows)))
            case Picture():
                return picture(block)
            case Section():
                return replace(block, blocks=tuple(map(of_block, block.blocks)))
            case Lines():
                return block
            case _:
                return of_words(block)

    return replace(
        report,
        about=tuple(map(of_words, report.about)),
        headline=of_words(report.headline),
        blocks=tuple(map(of_block, report.blocks)),
        notes=tuple(map(of_words, report.notes)),
    )
