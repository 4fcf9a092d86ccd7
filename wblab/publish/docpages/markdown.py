"""Tables of results in Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from wblab.report.palette import Look

TOGETHER = "\N{NO-BREAK SPACE}"  # between a sign and its number


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty one. The cells are Markdown; a bar in them is escaped."""
    yield _row(heads)
    yield "|---" * len(heads) + "|"
    yield from map(_row, rows)
    yield ""


def plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    for sign in "*<[_":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


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
