"""The pages of a study: its report, its cells, and for each cell the runs, each with what repeats it.

A study may have 100,000 runs. All stand on their cells' pages with their digests. Only the first have a file that
repeats them, and of those only the first have a page with pictures. They are taken seed by seed, so that all cells come
first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from wblab.analysis.runs.run import Run, read_run
from wblab.core.errors import InputError
from wblab.lab.designs import noun
from wblab.lab.printable import printable
from wblab.lab.progress import Report
from wblab.lab.specfile import spec_toml
from wblab.publish.site.page import File, Link, html_table, line, page, placed, record_file, relative
from wblab.publish.site.runpage import ShownRun, run_files
from wblab.report.listing import Listing
from wblab.report.page import fragment
from wblab.report.quantities import quantity, spread
from wblab.report.report import Report as StudyReport
from wblab.report.report import text_of
from wblab.study.cells import Cell
from wblab.study.designs.audit.report import Record, record
from wblab.study.made import Made, made_of
from wblab.study.store import Store
from wblab.study.subject import report_of

# A study of the site: its address, and its runs.


@dataclass(frozen=True)
class OneRun:
    """A run of a study. longest_s: the longest pause of an innocent load. run: as read, if it has a directory."""

    cell: Cell
    seed: int
    folder: str
    record: Record
    longest_s: float
    run: Run | None = None


@dataclass(frozen=True)
class StudyPage:
    """A study of the site. folder: its address."""

    store: Store
    folder: str

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{self.folder}/index.html"

    @property
    def title(self) -> str:
        """Its name and what made it."""
        return f"{self.store.plan.name} ({noun(self.store.plan.design)})"

    @cached_property
    def report(self) -> StudyReport | InputError:
        """Its report, or why it has none."""
        try:
            return report_of(self.store)
        except InputError as error:
            return error

    @property
    def link(self) -> Link:
        """The link to its page, by what it found; by its name if it found nothing yet."""
        found = "" if isinstance(self.report, InputError) else printable(text_of(self.report.headline))
        return Link(found, self.address, self.title) if found else Link(self.title, self.address)

    @property
    def is_open(self) -> bool:
        """Whether it decided nothing yet."""
        return isinstance(self.report, InputError) or self.report.is_open

    def cell_address(self, cell: Cell) -> str:
        """Return the address of a cell's page."""
        return f"{self.folder}/{cell.name}/index.html"

    @cached_property
    def made(self) -> dict[str, list[int]]:
        """The seeds of the runs that are there, by cell. Raises InputError if the study is damaged."""
        return {name: [made.seed for made in of] for name, of in self._made.items()}

    @cached_property
    def _made(self) -> dict[str, list[Made]]:
        found: dict[str, list[Made]] = {cell.name: [] for cell in self.store.plan.cells}
        for made in made_of(self.store):
            found[made.cell.name].append(made)
        return found

    def runs(self, cell: Cell) -> Iterator[OneRun]:
        """Yield the runs of a cell. Raises InputError for a damaged one."""
        release = str(self.store.kernels[cell.spec.kernel.build].get("release", "unknown"))
        for made in self._made[cell.name]:
            run = read_run(made.directory) if made.directory else None
            found = record(cell.with_seed(made.seed), made.digest, made.made_with, release)
            found, folder = replace(found, may_lose=cell.may_lose), f"{self.folder}/{cell.name}/seed-{made.seed}"
            yield OneRun(cell, made.seed, folder, found, made.row.longest_s or 0.0, run)


MOST_CELLS = 500  # in a table of one page
MOST_RECORDS = 5000  # files that repeat runs of a study


@dataclass(frozen=True)
class Most:
    """The most cells in a table of one page, and files that repeat runs of a study."""

    cells: int = MOST_CELLS
    records: int = MOST_RECORDS


_MOST = Most()
Name = tuple[str, int]  # of a run: its cell and seed


def study_files(study: StudyPage, pages: int, report: Report, most: Most = _MOST) -> Iterator[File]:
    """Yield the files of a study. pages: runs with pictures. report: is told of each run. Raises InputError."""
    plan, made = study.store.plan, study.made
    names = [(cell.name, seed) for cell, seed in plan.runs() if seed in made[cell.name]]
    drawn, kept = (set(islice(names, count)) for count in (pages, max(pages, most.records)))
    cells: list[tuple[Cell, list[OneRun]]] = []
    done = 0
    for cell in plan.cells:
        runs = []
        for one in study.runs(cell):
            report(done / len(names), f"{plan.name}: {cell.name}, seed {one.seed}")
            done += 1
            runs.append(one)
            if one.run and (cell.name, one.seed) in drawn:
                yield from run_files(_shown(study, one))
            elif (cell.name, one.seed) in kept:
                yield record_file(one.folder, one.record)
        cells.append((cell, [_without_run(one) for one in runs]))
        yield _cell_page(study, cell, runs, drawn, kept)
    yield from _study_pages(study, cells, most.cells)


def _without_run(one: OneRun) -> OneRun:
    """Return a run without what was read of it: a study may have more of them than memory holds."""
    return OneRun(one.cell, one.seed, one.folder, one.record, one.longest_s)


def _shown(study: StudyPage, one: OneRun) -> ShownRun:
    assert one.run is not None
    up = Link(f"{study.store.plan.name}: {one.cell.name}", f"{study.cell_address(one.cell)}#seed-{one.seed}")
    return ShownRun(one.run, one.folder, f"{one.cell.name}, seed {one.seed}", printable(str(one.cell)), up, one.record)


def _cell_page(study: StudyPage, cell: Cell, runs: Sequence[OneRun], drawn: set[Name], kept: set[Name]) -> File:
    address = study.cell_address(cell)
    shown = [
        {
            "seed": one.seed,
            "link": relative(address, f"{one.folder}/index.html") if one.run and (cell.name, one.seed) in drawn else "",
            "longest": quantity(one.longest_s, "s"),
            "digest": one.record.digest,
            "build": one.record.made_with["kernel builds"],
            "line": line(one.folder, one.record) if (cell.name, one.seed) in kept else "",
        }
        for one in runs
    ]
    levels = [(printable(axis), printable(str(level))) for axis, level in cell.levels.items()]
    values: dict[str, Any] = {"up": Link(study.title, relative(address, study.address)), "levels": levels}
    spec = runs[0].record.spec if runs else cell.with_seed(study.store.plan.seeds[0]).on("")
    kernel = f"Linux {runs[0].record.kernel}" if runs else "none"
    return page(address, cell.name, "cell.html", rows=shown, spec=spec_toml(spec), kernel=kernel, **values)


def _study_pages(study: StudyPage, cells: Sequence[tuple[Cell, list[OneRun]]], most: int) -> Iterator[File]:
    """Yield the study's page, and further pages where its cells do not fit on one. most: cells of a page."""
    names = [
        f"{study.folder}/index.html" if not at else f"{study.folder}/cells-{at // most + 1}.html"
        for at in range(0, len(cells), most)
    ]
    body, head = "", ""
    notes = [_counted(study, cells)]
    if isinstance(study.report, InputError):
        notes.append(printable(str(study.report)).replace(str(study.store.path), study.store.plan.name))
    else:
        report, pictures = placed(study.report, study.folder, lambda link: _target(study, link))
        head, body = report.title, fragment(report, 3)
        yield from pictures
    for number, name in enumerate(names):
        part = cells[number * most : (number + 1) * most]
        others = [
            Link(f"cells {at * most + 1} and on", relative(name, other))
            for at, other in enumerate(names)
            if other != name
        ]
        own: dict[str, Any] = {"body": body, "head": head} if not number else {"body": "", "head": ""}
        yield page(name, study.title, "study.html", notes=notes, cells=_cells(study, name, part), others=others, **own)


def _counted(study: StudyPage, cells: Sequence[tuple[Cell, list[OneRun]]]) -> str:
    kernels = sorted({row.record.kernel for _, rows in cells for row in rows})
    runs, planned = sum(len(rows) for _, rows in cells), len(study.store.plan.runs())
    said = f"{len(cells)} cells, {runs} of up to {planned} runs"
    return f"{said}, on Linux {', '.join(kernels)}." if kernels else f"{said}."


def _cells(study: StudyPage, address: str, cells: Sequence[tuple[Cell, list[OneRun]]]) -> str:
    """Return the table of cells."""
    axes = list(cells[0][0].levels)
    heads = ("cell", "longest pause", "runs", *axes)  # a phone shows the first columns
    rows = [
        (
            cell.name,
            spread([row.longest_s for row in rows], "s") if rows else "–",
            str(len(rows)),
            *(str(cell.levels[axis]) for axis in axes),
        )
        for cell, rows in cells
    ]
    links = {(at, 0): relative(address, study.cell_address(cell)) for at, (cell, _) in enumerate(cells)}
    return html_table(Listing(rows, heads, frozenset((1, 2))), links)


def _target(study: StudyPage, link: str) -> str | None:
    """Return where a report's link leads in the site: to a run's place on its cell's page."""
    name, _, seed = link.removeprefix("runs/").partition("/")[0].rpartition("-s")
    if seed.isdecimal() and int(seed) in study.made.get(name, ()):
        return f"{name}/index.html#seed-{seed}"
    return None
