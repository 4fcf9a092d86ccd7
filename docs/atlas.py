"""The page of an atlas, from its directory: `make atlas`.

    python docs/atlas.py DIR

DIR is the directory of `wblab atlas`. Parts that it lacks are shown as not made.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab.analysis.statistics.outcome import NOT_TESTABLE, OUTCOMES
from wblab.kernels import list_kernels
from wblab.report.palette import look_of
from wblab.study.designs.atlas.differences import Compared, Sort, compared
from wblab.study.designs.atlas.lines import Cell, Column, Line, all_lines, columns_of, missing
from wblab.study.designs.atlas.made import Made, read_all
from wblab.study.designs.atlas.page import NOT_MADE, look, release
from wblab.study.designs.atlas.target import TRIAL
from wblab.study.sources.registry import WORKS

PAGE = Path(__file__).resolve().parent / "findings" / "atlas.md"
_HEAD = """\
# What holds on which kernel

The claims of [what others claim](../explanation/claims.md) and the recommendations of
[folk wisdom on trial](../explanation/folk-wisdom.md), each tested on {kernels} with the lab's patches, and on
{filesystems}. `make atlas` makes this page anew. A claim about one filesystem is tested on all of them.

{legend}. *Not decided* means too few seeds: more may decide it. *Not testable* means that no number of seeds
would help; the reasons are below each table. A figure is the mean over seeds with its 95 % interval, as in
[the results of the claims](results-of-claims.md). Each cell has an address, such as `#{address}`.
"""
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


def page(made: Sequence[Made]) -> str:
    """Return the page of an atlas: where kernels differ, and then a table for each source."""
    columns = columns_of(made)
    lines = all_lines(made, columns)
    found = compared(line for of in lines.values() for line in of)
    series = list(dict.fromkeys(column[0] for column in columns))
    releases = {name: release(made, name) for name in series}
    looks = [look_of(outcome) for outcome in OUTCOMES]
    head = _HEAD.format(
        kernels=f"Linux {_listed(list(releases.values()))}",
        filesystems=_listed(list(dict.fromkeys(column[1] for column in columns))),
        legend=", ".join(f"{one.sign} {one.word}" for one in [*looks, NOT_MADE]),
        address=next(iter(lines.values()))[0].cells[0].address,
    )
    parts = [head, *_unmade(made, columns, lines)]
    for sort, (title, about) in _SORTS.items():
        items = [item for item in found if item.sort == sort]
        if items or sort == "differs":
            parts += [f"{title}\n", f"{about if items else _NOWHERE}\n", *_differences(items, releases)]
    for source, of_source in lines.items():
        parts += [*_source(source, of_source, columns, releases)]
    return "\n".join(parts)


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _unmade(made: Sequence[Made], columns: Sequence[Column], lines: dict[str, list[Line]]) -> Iterator[str]:
    if left := [f"{item.source} on {item.series}, {item.filesystem}" for item in missing(made, columns, lines)]:
        yield f"Not made yet: {'; '.join(left)}.\n"


def _differences(items: Sequence[Compared], releases: dict[str, str]) -> Iterator[str]:
    """Yield a table with a row for each line and filesystem, and a column for each kernel."""
    if not items:
        return
    since = ["since, and by which commit"] if items[0].sort == "differs" else []
    yield _row(["claim or expectation", "filesystem", *releases.values(), *since])
    yield "|---" * (2 + len(releases) + len(since)) + "|"
    for item in items:
        by_series = {cell.target.series: cell for cell in item.cells}
        cells = [_linked(by_series[name]) if name in by_series else NOT_MADE.sign for name in releases]
        yield _row([_what(item.line), item.filesystem, *cells, *([item.since] if since else [])])
    yield ""


def _source(source: str, lines: Sequence[Line], columns: Sequence[Column], releases: dict[str, str]) -> Iterator[str]:
    """Yield a source's table, with a cell for each kernel and filesystem, and why some cannot be tested."""
    yield f"## {'Recommendations' if source == TRIAL else WORKS[source].title}\n"
    option = "" if source == TRIAL else f" --source {source}"
    verb = "trial" if source == TRIAL else "verify"
    yield f"`wblab atlas --source {source}`; on one kernel: `wblab {verb}{option}`.\n"
    yield _row(["expectation" if source == TRIAL else "claim", *(f"{releases[one]} {other}" for one, other in columns)])
    yield "|---" * (1 + len(columns)) + "|"
    for line in lines:
        yield _row([_what(line), *map(_addressed, line.cells)])
    yield ""
    yield from _reasons(lines)


def _reasons(lines: Sequence[Line]) -> Iterator[str]:
    """Yield why lines are not testable, each reason once."""
    where: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        for cell in line.cells:
            if cell.row and cell.row.verdict == NOT_TESTABLE:
                where.setdefault((line.name, cell.row.why), []).append(f"{cell.target.series} {cell.target.filesystem}")
    if where:
        yield "Not testable:\n"
        for (name, why), places in where.items():
            on = "" if len(places) == len(lines[0].cells) else f" on {', '.join(dict.fromkeys(places))}"
            yield f"- `{name}`{on}: {_plain(why)}"
        yield ""


def _what(line: Line) -> str:
    return f"`{line.name}`: {_plain(f'{line.about}: {line.says}' if line.about else line.says)}"


def _addressed(cell: Cell) -> str:
    """Return a cell of a source's table: its address, sign and figure."""
    if cell.row is None:
        return NOT_MADE.sign
    shown = " ".join(filter(None, (look(cell).sign, _plain(cell.row.figure))))
    return f'<a id="{cell.address}"></a>{shown}'


def _linked(cell: Cell) -> str:
    """Return a cell of a table of differences: sign, word and figure, with a link to its place in the source's."""
    sign = f"{look(cell).sign} {look(cell).word}"
    if cell.row is None:
        return sign
    seeds = f", {cell.row.seeds} seed{'' if cell.row.seeds == '1' else 's'}" if cell.row.seeds else ""
    # HTML: the documentation's own links know headings only, not the anchors in the tables below.
    return f'<a href="#{cell.address}">{sign}</a>' + (f" {_plain(cell.row.figure)}{seeds}" if cell.row.figure else "")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    for sign in "*<[_":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python docs/atlas.py DIR")
    found = read_all(Path(sys.argv[1]), [listed.series for listed in list_kernels()])
    if not found:
        sys.exit(f"{sys.argv[1]} has no target of an atlas: wblab atlas -o {sys.argv[1]}")
    PAGE.write_text(page(found))
