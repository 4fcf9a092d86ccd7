"""The atlas as Markdown: where kernels differ; and with a table for each source and filesystem."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from wblab.analysis.statistics.decision import NOT_TESTABLE, OUTCOMES
from wblab.publish.docpages.kept import legend, middle, plain, signed, table
from wblab.report.palette import look_of
from wblab.study.designs.atlas.differences import NOT_EXPLAINED, Compared, Sort, compared
from wblab.study.designs.atlas.lines import Cell, Column, Line, all_lines, columns_of, missing
from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.page import NOT_MADE, look, release
from wblab.study.designs.atlas.target import SOURCES, TRIAL, Row
from wblab.study.designs.paired.recommendations import WISDOM
from wblab.study.sources.registry import WORKS

_NOWHERE = "Nowhere: no claim or expectation has different decided outcomes on the same filesystem."
_SORTS: dict[Sort, tuple[str, str]] = {
    "differs": (
        "## Where kernels differ",
        "Decided on two kernels at least, with different outcomes on the same filesystem. Of claims that differ only "
        "in the filesystem they are about, the table has the one that fits.",
    ),
    "not decided": (
        "## Not decided on every kernel",
        "What is decided agrees, but more seeds are needed on some kernels.",
    ),
    "not testable": ("## Not testable on every kernel", "What is decided agrees, but some kernels cannot be tested."),
}


def short(made: Sequence[Made]) -> str:
    """Return where kernels differ: the outcome and the middle of the figure on each."""
    columns = columns_of(made)
    found = compared(line for of in all_lines(made, columns).values() for line in of)
    releases = _releases(made, columns)
    items = [item for item in found if item.sort == "differs"]
    more = "The pages of `make docs` have every claim on every kernel here, with its interval or reason."
    return "\n".join([*_legend(columns, releases), more, "", *_differs("differs", items, releases, "", links=False)])


def whole(made: Sequence[Made]) -> str:
    """Return where kernels differ, and then a table for each source and filesystem."""
    columns = columns_of(made)
    lines = all_lines(made, columns)
    found = compared(line for of in lines.values() for line in of)
    releases, usual = _releases(made, columns), _usual_seeds(lines.values())
    parts = [*_legend(columns, releases), *_about_cells(usual, lines), *_unmade(made, columns)]
    for sort in _SORTS:
        items = [item for item in found if item.sort == sort]
        if items or sort == "differs":
            parts += _differs(sort, items, releases, usual, links=True)
    for source, of_source in lines.items():
        parts += _source(source, of_source, columns, releases, usual)
    return "\n".join(parts)


def _releases(made: Sequence[Made], columns: Sequence[Column]) -> dict[str, str]:
    return {series: release(made, series) for series in dict.fromkeys(column[0] for column in columns)}


def _legend(columns: Sequence[Column], releases: dict[str, str]) -> Iterator[str]:
    """Yield what was tested, and the signs of outcomes."""
    filesystems = _listed(list(dict.fromkeys(column[1] for column in columns)))
    looks = [*(look_of(outcome) for outcome in OUTCOMES), NOT_MADE]
    yield f"Tested on Linux {_listed(list(releases.values()))} with the lab's patches, and on {filesystems}."
    yield f"{legend(*looks)} *Not decided* means too few seeds: more may decide it."
    yield "*Not testable* means that no number of seeds would help."
    yield ""


def _about_cells(usual: str, lines: dict[str, list[Line]]) -> Iterator[str]:
    yield "A figure is the mean over seeds with its 95 % interval, as in"
    yield "[the results of the claims](results-of-claims.md)."
    if usual:
        yield f"A figure is of {usual} seeds if it does not say of how many."
    yield f"Each cell has an address, such as `#{next(iter(lines.values()))[0].cells[0].address}`."
    yield ""


def _usual_seeds(lines: Iterable[Sequence[Line]]) -> str:
    """Return of how many seeds most figures are; empty if there is no figure."""
    seeds = Counter(
        cell.row.seeds for found in lines for line in found for cell in line.cells if cell.row and cell.row.figure
    )
    return seeds.most_common(1)[0][0] if seeds else ""


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _unmade(made: Sequence[Made], columns: Sequence[Column]) -> Iterator[str]:
    """Yield what is missing of all sources on the kernels and filesystems of the page, by filesystem and source."""
    series = list(dict.fromkeys(column[0] for column in columns))
    parts = []
    for filesystem, source in product(dict.fromkeys(column[1] for column in columns), SOURCES):
        left = [target.series for target in missing(made, [(name, filesystem) for name in series], [source])]
        if left:
            parts.append(f"{source} on {filesystem}" + ("" if left == series else f" ({', '.join(left)})"))
    if parts:
        yield from (f"Not made yet: {'; '.join(parts)}.", "")


def _differs(
    sort: Sort, items: Sequence[Compared], releases: dict[str, str], usual: str, *, links: bool
) -> Iterator[str]:
    """Yield a table with a row for each line and filesystem, a column for each kernel, and the commits it names.

    links: to the cells of the sources' tables, with whole figures.
    """
    title, about = _SORTS[sort]
    yield from (title, "", about if items else _NOWHERE, "")
    if not items:
        return
    last = ["since"] if sort == "differs" else []
    rows = []
    for item in items:
        by_series = {cell.target.series: cell for cell in item.cells}
        cells = [_differing(by_series.get(series), usual, links=links) for series in releases]
        rows.append([_what(item.line), item.filesystem, *cells, *([_since(item)] if last else [])])
    yield from table(["claim or expectation", "on", *releases.values(), *last], rows)
    for change in dict.fromkeys(item.changed.by for item in items if item.changed):
        yield f'{change.commit} is "{change.subject}", in Linux {change.since}: [what it did](../{change.finding}).'
        yield ""


def _since(item: Compared) -> str:
    """Return since when, and by which commit, the outcome differs; or that no cause is known."""
    return f"{item.changed.by.since}, by {item.changed.by.commit}" if item.changed else NOT_EXPLAINED


def _source(
    source: str, lines: Sequence[Line], columns: Sequence[Column], releases: dict[str, str], usual: str
) -> Iterator[str]:
    """Yield a source's tables, one for each filesystem with a cell for each kernel, and why some cannot be tested."""
    title = "Recommendations" if source == TRIAL else WORKS[source].title
    yield from (f"## {title}", "")
    alone = WISDOM.stem if source == TRIAL else source
    yield from (f"`wblab study atlas {source}`; on one kernel: `wblab study {alone}`.", "")
    for filesystem in dict.fromkeys(column[1] for column in columns):
        places = [
            place
            for place, (series, other) in enumerate(columns)
            if other == filesystem and any(line.cells[place].row for line in lines)
        ]
        if not places:
            continue
        yield from (f"### {title} on {filesystem}", "")
        heads = ["expectation" if source == TRIAL else "claim", *(releases[columns[place][0]] for place in places)]
        yield from table(
            heads, ([_what(line), *(_addressed(line.cells[at], usual) for at in places)] for line in lines)
        )
    yield from _reasons(lines)


def _reasons(lines: Sequence[Line]) -> Iterator[str]:
    """Yield why lines are not testable, each reason once."""
    where: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        for cell in line.cells:
            if cell.row and cell.row.verdict == NOT_TESTABLE:
                where.setdefault((line.name, cell.row.why), []).append(f"{cell.target.series} {cell.target.filesystem}")
    if where:
        yield from ("Not testable:", "")
        for (name, why), places in where.items():
            on = "" if len(places) == len(lines[0].cells) else f" on {', '.join(dict.fromkeys(places))}"
            yield f"- `{name}`{on}: {plain(why)}"
        yield ""


def _what(line: Line) -> str:
    return f"`{line.name}`: {plain(f'{line.about}: {line.says}' if line.about else line.says)}"


def _addressed(cell: Cell, usual: str) -> str:
    """Return a cell of a source's table: its address, sign and figure."""
    if cell.row is None:
        return NOT_MADE.sign
    return f'<a id="{cell.address}"></a>{signed(look(cell).sign, _figure(cell.row, usual))}'


def _differing(cell: Cell | None, usual: str, *, links: bool) -> str:
    """Return a cell of a table of differences: sign and figure. links: to its place in the source's table."""
    if cell is None or cell.row is None:
        return NOT_MADE.sign
    if not links:
        return signed(look(cell).sign, plain(middle(cell.row.figure)))
    # HTML: the documentation's own links know headings only, not the anchors in the tables below.
    sign = f'<a href="#{cell.address}" title="{look(cell).word}">{look(cell).sign}</a>'
    return signed(sign, _figure(cell.row, usual))


def _figure(row: Row, usual: str) -> str:
    """Return a figure, and of how many seeds it is unless that is the usual number."""
    of = f", {row.seeds} seed{'' if row.seeds == '1' else 's'}" if row.figure and row.seeds not in ("", usual) else ""
    return plain(row.figure) + of
