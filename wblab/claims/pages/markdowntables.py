"""Tables of results in Markdown, and the blocks of reports."""

from collections.abc import Iterable, Iterator, Sequence

from wblab.report.palette import Look
from wblab.report.report import Block, Cell, Lines, Picture, Points, Row, Section, Span, Table, Words

TOGETHER = "\N{NO-BREAK SPACE}"  # between a sign and its number


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty one. The cells are Markdown; a bar in them is escaped."""
    yield _row(heads)
    yield "|---" * len(heads) + "|"
    yield from map(_row, rows)
    yield ""


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return " ".join(_plain(text).split())


def _plain(text: str) -> str:
    for sign in "*<[_":
        text = text.replace(sign, f"\\{sign}")
    return text


def legend(*looks: Look) -> str:
    """Return a sentence that says what the signs of outcomes mean."""
    return f"{', '.join(f'{look.sign} {look.word}' for look in looks)}."


def middle(figure: str) -> str:
    """Return a figure without its interval and its place: 1.92 s, of "1.92 s (1.85 to 1.97) on throttle"."""
    return figure.partition(" (")[0].partition(" on ")[0]


def signed(sign: str, figure: str) -> str:
    """Return a cell with the sign of an outcome and a figure, which may be empty."""
    return TOGETHER.join(filter(None, (sign, figure)))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def markdown(blocks: Iterable[Block], level: int = 2) -> Iterator[str]:
    """Yield the lines of blocks, without their pictures. level: of the first heads; folded sections have none."""
    for block in blocks:
        match block:
            case Section(place="folded"):
                yield from ("<details>", f"<summary>{block.head}</summary>", "")
                yield from (*markdown(block.blocks, level + 1), "</details>", "")
            case Section():
                yield from (f"{'#' * level} {block.head}", "") if block.head else ()
                yield from markdown(block.blocks, level + 1 if block.head else level)
            case Table():
                rows = (row for row in block.rows if not isinstance(row, str))
                yield from table([column.head for column in block.columns], map(_cells, rows))
            case Points():
                yield from (*(f"- {_words(item)}" for item in block.items), "")
            case Lines():
                yield from (*(f"    {line}" for line in block.lines), "")
            case Picture():
                pass
            case _:
                yield from (_words(block), "")


def _cells(row: Row) -> list[str]:
    return [_cell(cell) if isinstance(cell, Cell) else _words(cell) for cell in row.cells]


def _cell(cell: Cell) -> str:
    anchor = f'<a id="{cell.anchor}"></a>' if cell.anchor else ""
    return anchor + signed(_words(cell.words), ". ".join(map(_words, cell.notes)))


def _words(words: Words) -> str:
    return "".join(map(_part, words if isinstance(words, tuple) else (words,)))


def _part(part: str | Span) -> str:
    if isinstance(part, str):
        return _plain(part)
    if part.link.startswith("#"):
        # HTML: the documentation's own links know headings only, not the anchors in tables.
        return f'<a href="{part.link}" title="{part.title}">{_plain(part.text)}</a>'
    if part.link:
        return f"[{_plain(part.text)}]({part.link})"
    return f"`{part.text}`" if part.form == "code" else _plain(part.text)
