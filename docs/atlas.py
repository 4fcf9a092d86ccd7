"""The page of an atlas: `make atlas`.

    python docs/atlas.py [DIR]

DIR is the directory of `wblab atlas`. Its targets are kept beside the page, so that the page can be made in parts, on
several machines. Without DIR the page is made of those that are kept. Parts that were never made are shown as such.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from wblab.analysis.statistics.outcome import NOT_TESTABLE, OUTCOMES
from wblab.kernels import list_kernels
from wblab.lab.formats import TARGET_ROWS
from wblab.report.palette import look_of
from wblab.study.designs.atlas.differences import NOT_EXPLAINED, Compared, Sort, compared
from wblab.study.designs.atlas.lines import Cell, Column, Line, all_lines, columns_of, missing
from wblab.study.designs.atlas.made import Made, read_all
from wblab.study.designs.atlas.page import NOT_MADE, look, release
from wblab.study.designs.atlas.target import SOURCES, TRIAL, Row
from wblab.study.sources.registry import WORKS

PAGE = Path(__file__).resolve().parent / "findings" / "atlas.md"
_TOGETHER = "\N{NO-BREAK SPACE}"  # between a sign and its number
KEPT = PAGE.with_suffix("")  # the rows of all targets, as `wblab atlas` writes them
_HEAD = """\
# What holds on which kernel

The claims of [what others claim](../explanation/claims.md) and the recommendations of
[folk wisdom on trial](../explanation/folk-wisdom.md), each tested on {kernels} with the lab's patches, and on
{filesystems}. `make atlas` makes it, in hours. A claim about one filesystem is tested on all of them.

{legend}. *Not decided* means too few seeds: more may decide it. *Not testable* means that no number of seeds
would help; the reasons are below each table. A figure is the mean over seeds with its 95 % interval, as in
[the results of the claims](results-of-claims.md). {seeds}Each cell has an address, such as `#{address}`.
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
    usual = _usual_seeds(lines.values())
    head = _HEAD.format(
        kernels=f"Linux {_listed(list(releases.values()))}",
        filesystems=_listed(list(dict.fromkeys(column[1] for column in columns))),
        legend=", ".join(f"{one.sign} {one.word}" for one in [*looks, NOT_MADE]),
        seeds=f"A figure is of {usual} seeds if it does not say of how many. " if usual else "",
        address=next(iter(lines.values()))[0].cells[0].address,
    )
    parts = [head, *_unmade(made, columns)]
    for sort, (title, about) in _SORTS.items():
        items = [item for item in found if item.sort == sort]
        if items or sort == "differs":
            parts += [f"{title}\n", f"{about if items else _NOWHERE}\n", *_differences(items, releases, usual)]
    for source, of_source in lines.items():
        parts += [*_source(source, of_source, columns, releases, usual)]
    return "\n".join(parts)


def keep(atlas: Path) -> None:
    """Copy the rows of an atlas's targets beside the page; they replace those of the same targets."""
    for rows in atlas.glob(f"[!.]*/{TARGET_ROWS}"):
        kept = KEPT / rows.parent.name
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(rows, kept / TARGET_ROWS)


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
        yield f"Not made yet: {'; '.join(parts)}.\n"


def _differences(items: Sequence[Compared], releases: dict[str, str], usual: str) -> Iterator[str]:
    """Yield a table with a row for each line and filesystem, a column for each kernel, and the commits it names."""
    if not items:
        return
    differs = items[0].sort == "differs"
    yield _row(["claim or expectation", "on", *releases.values(), *(["since"] if differs else [])])
    yield "|---" * (2 + len(releases) + differs) + "|"
    for item in items:
        by_series = {cell.target.series: cell for cell in item.cells}
        cells = [_linked(by_series[name], usual) if name in by_series else NOT_MADE.sign for name in releases]
        yield _row([_what(item.line), item.filesystem, *cells, *([_since(item)] if differs else [])])
    yield ""
    for change in dict.fromkeys(item.changed.by for item in items if item.changed):
        yield f'{change.commit} is "{change.subject}", in Linux {change.since}: [what it did](../{change.finding}).\n'


def _since(item: Compared) -> str:
    """Return since when, and by which commit, the outcome differs; or that no cause is known."""
    return f"{item.changed.by.since}, by {item.changed.by.commit}" if item.changed else NOT_EXPLAINED


def _source(
    source: str, lines: Sequence[Line], columns: Sequence[Column], releases: dict[str, str], usual: str
) -> Iterator[str]:
    """Yield a source's tables, one for each filesystem with a cell for each kernel, and why some cannot be tested."""
    title = "Recommendations" if source == TRIAL else WORKS[source].title
    yield f"## {title}\n"
    option = "" if source == TRIAL else f" --source {source}"
    verb = "trial" if source == TRIAL else "verify"
    yield f"`wblab atlas --source {source}`; on one kernel: `wblab {verb}{option}`.\n"
    for filesystem in dict.fromkeys(column[1] for column in columns):
        places = [
            place
            for place, (series, other) in enumerate(columns)
            if other == filesystem and any(line.cells[place].row for line in lines)
        ]
        if not places:
            continue
        yield f"### {title} on {filesystem}\n"
        names = [releases[columns[place][0]] for place in places]
        yield _row(["expectation" if source == TRIAL else "claim", *names])
        yield "|---" * (1 + len(places)) + "|"
        for line in lines:
            yield _row([_what(line), *(_addressed(line.cells[place], usual) for place in places)])
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


def _addressed(cell: Cell, usual: str) -> str:
    """Return a cell of a source's table: its address, sign and figure."""
    if cell.row is None:
        return NOT_MADE.sign
    return f'<a id="{cell.address}"></a>' + _TOGETHER.join(filter(None, (look(cell).sign, _figure(cell.row, usual))))


def _linked(cell: Cell, usual: str) -> str:
    """Return a cell of a table of differences: sign and figure, with a link to its place in the source's."""
    if cell.row is None:
        return look(cell).sign
    # HTML: the documentation's own links know headings only, not the anchors in the tables below.
    sign = f'<a href="#{cell.address}" title="{look(cell).word}">{look(cell).sign}</a>'
    return _TOGETHER.join(filter(None, (sign, _figure(cell.row, usual))))


def _figure(row: Row, usual: str) -> str:
    """Return a figure, and of how many seeds it is unless that is the usual number."""
    of = f", {row.seeds} seed{'' if row.seeds == '1' else 's'}" if row.figure and row.seeds not in ("", usual) else ""
    return _plain(row.figure) + of


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    for sign in "*<[_":
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("python docs/atlas.py [DIR]")
    if len(sys.argv) == 2:
        keep(Path(sys.argv[1]))
    found = read_all(KEPT, [listed.series for listed in list_kernels()])
    if not found:
        sys.exit("no target of an atlas is kept: wblab atlas -o DIR; python docs/atlas.py DIR")
    PAGE.write_text(page(found))
