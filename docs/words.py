"""Figures in the prose of pages, held to the tables that they come from.

A sentence may repeat a figure of a table, or round it: "about half as long". docs/words.toml lists such words with the
cells of tables that they stand for. tests/unit/test_words.py holds the words to the cells, and finds each quantity on a
page that is in no list. Nothing runs here: docs/figures.py and docs/results.py make the tables.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from figures import figures

from wblab.claims.finding.finding import names
from wblab.claims.pages.forms import WHOLE
from wblab.lab.places import FINDINGS
from wblab.report.regions import filled

DOCS = Path(__file__).resolve().parent
LIST = DOCS / "words.toml"
_SCALES = {"µs": 1e-6, "ms": 1e-3, "KiB": 1 / 1024, "KiB/s": 1 / 1024, "GiB": 1024}  # to s, and to MiB
_NUMBER = re.compile(r"([-−]?\d[\d.,]*)(?:\s([^\W\d]+(?:/s)?|%))?")
_RANGE = re.compile(r"\((\S+)(?:\s(\w+))?\s(?:to|bis)\s(\S+?)(?:\s(\S+?))?\)")
_BAR = re.compile(r"(?<!\\)\|")
_UNIT = r"(?:s|ms|µs|%|[KMG]i?B/s|times|seconds?|minutes?|hours?)(?![\w/])"
_SHARES = r"\b(?:half|halves|twice|a (?:third|quarter|fifth|sixth|eighth|tenth))\b"
_QUANTITY = re.compile(rf"[\d×][\d.,]*(?: (?:and|to|instead of) [\d.,]+)*[\s\N{{NO-BREAK SPACE}}]{_UNIT}|{_SHARES}")
_NO_PROSE = re.compile(
    r"^(?: {4}.*|\|.*|!\[.*|#.*)$|\{[%{].*?[%}]\}|\]\([^)]*\)|<!--.*?-->", re.MULTILINE
)  # code, tables, pictures, headings; what a template fills in; addresses of links


def text_of(page: str) -> str:
    """Return the text that is written by hand: the page of docs, or the template of a finding's page."""
    name = Path(page).stem
    return (FINDINGS / name / "page.md" if name in names() else DOCS / page).read_text()


@cache
def whole(page: str) -> str:
    """Return the page with all of its tables, those of its regions in their whole form, and plain spaces."""
    return filled((DOCS / page).read_text(), WHOLE).replace("\N{NO-BREAK SPACE}", " ")


@dataclass(frozen=True)
class Cell:
    """A figure in a table: of the first one below a heading that has this row and column."""

    page: str
    row: str
    column: str
    below: str = ""
    part: Literal["median", "least", "most"] = "median"

    def value(self, near: "Cell | None" = None) -> float:
        """Return the number: of times in s, of sizes in MiB, and else as the table has it. Raises LookupError.

        near: a cell of the same table, of which other tables of the page may have the like.
        """
        text = self.text(near)
        number = _NUMBER.search(text)
        if number is None:
            raise LookupError(f"{self}: {text!r} is no number")
        if self.part == "median":
            return _scaled(number[1], number[2] or "")
        span = _RANGE.search(text)
        if span is None:
            raise LookupError(f"{self}: {text!r} has no range")
        least, unit_of_least, most, unit = span.groups()
        unit = unit or number[2] or ""
        return _scaled(least, unit_of_least or unit) if self.part == "least" else _scaled(most, unit)

    def text(self, near: "Cell | None" = None) -> str:
        """Return what the page shows in it."""
        near = near or self
        text = whole(near.page)
        start = text.index(f"{near.below}\n") if near.below else 0
        for table in _tables(text[start:]):
            heads, by_row = (
                table[0],
                {name: row for row in table[1:] for name in (" | ".join(row[:2]), row[0].split(": ")[0], row[0])},
            )
            if near.column in heads and near.row in by_row and self.column in heads and self.row in by_row:
                return by_row[self.row][heads.index(self.column)].replace("*", "")
        raise LookupError(f"{self.page} has no table with {self.row!r} and {self.column!r} below {self.below!r}")


def _scaled(number: str, unit: str) -> float:
    return float(number.replace(",", "").replace("−", "-")) * _SCALES.get(unit, 1)


def _tables(text: str) -> Iterator[list[list[str]]]:
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        yield [[cell.strip() for cell in _BAR.split(line)[1:-1]] for line in block.splitlines()]


@dataclass(frozen=True)
class Bound:
    """What must be true of a cell, or of its ratio to another one; shows: of its text."""

    cell: Cell
    to: Cell | None = None
    least: float = float("-inf")
    most: float = float("inf")
    shows: str = ""

    def value(self) -> float:
        """Return the figure, or the ratio."""
        if self.to is None:
            return self.cell.value()
        is_near = (self.to.page, self.to.below) == (self.cell.page, self.cell.below)
        return self.cell.value() / self.to.value(self.cell if is_near else None)

    def holds(self) -> bool:
        """Return whether it is true, with figures as the page rounds them."""
        if self.shows:
            return self.shows in self.cell.text()
        return self.least <= self.value() * (1 + 1e-9) and self.value() * (1 - 1e-9) <= self.most


@dataclass(frozen=True)
class Words:
    """Words of a page, and what must be true of its tables."""

    page: str
    text: str
    bounds: tuple[Bound, ...]

    def stands(self, text: str) -> re.Match[str] | None:
        """Return where the words are in a text, however it is wrapped."""
        return _wrapped(self.text).search(text)


def words(path: Path = LIST) -> list[Words]:
    """Return all words of the list."""
    return [
        Words(page, text, tuple(_bound(page, one) for one in bounds))
        for page, listed in tomllib.loads(path.read_text())["words"].items()
        for text, bounds in listed.items()
    ]


def _bound(page: str, given: Mapping[str, Any]) -> Bound:
    """Return a bound. is: least and most; to: a cell, by what differs from the first."""
    exact = {} if given.get("is") is None else {"least": given["is"], "most": given["is"]}
    named = {"page": page} | {
        key: value for key, value in given.items() if key in ("page", "row", "column", "below", "part")
    }
    to = Cell(**(named | given["to"])) if "to" in given else None
    own = {key: value for key, value in given.items() if key in ("least", "most", "shows")}
    return Bound(Cell(**named), to, **(own | exact))


def given(path: Path = LIST) -> Mapping[str, Sequence[str]]:
    """Return the pages on which each quantity must be listed, with texts that are settings or of others' works."""
    return tomllib.loads(path.read_text())["given"]  # type: ignore[no-any-return]


def unlisted(page: str, texts: Sequence[str]) -> list[str]:
    """Return the quantities in a page's prose that are in no list, with the words around each."""
    text = text_of(page)
    held = [one.text for one in words() if one.page == page]
    measured = [one.stands().span() for one in figures() if one.page == DOCS / page and not one.text.startswith("|")]
    spans = [match.span() for each in (*held, *texts) for match in _wrapped(each).finditer(text)] + measured
    return [
        " ".join(text[max(0, match.start() - 50) : match.end() + 20].split())
        for match in _QUANTITY.finditer(_NO_PROSE.sub(lambda no: " " * len(no[0]), text))
        if not any(start <= match.start() and match.end() <= end for start, end in spans)
    ]


def _wrapped(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\ ", r"\s+"))
