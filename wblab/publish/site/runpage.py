"""The pages of one run: what it shows, why, how to repeat it; its timeline; and its files."""

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from wblab.analysis.runs.lanes import lanes_of
from wblab.analysis.runs.pagecache import PageCache, page_cache
from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS, pause_report
from wblab.analysis.runs.perfetto import export
from wblab.analysis.runs.run import Run
from wblab.analysis.why.explanations import Explained, explanations_of
from wblab.analysis.why.recorded import explains
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.core.units import format_time
from wblab.lab.printable import printable
from wblab.lab.specfile import spec_toml
from wblab.plot.lanespicture import lanes_picture
from wblab.plot.marks import Timeline
from wblab.plot.page import SCRIPTS, STYLES, asset
from wblab.plot.page import page as figure_of
from wblab.plot.picture import themed
from wblab.plot.timeline import timeline
from wblab.plot.whypage import drawn_report
from wblab.publish.site.page import (
    REPEAT,
    SPEC_FILE,
    File,
    Link,
    facts,
    html_table,
    line,
    page,
    record_file,
    relative,
    spec_file,
)
from wblab.report.page import fragment, packed
from wblab.report.pausetext import headline, table
from wblab.report.whyreport import report
from wblab.study.designs.audit.report import Record, record_of

PICTURE, WHY, TRACE = "lanes.svg", "why.html", "trace.perfetto-trace.gz"
MOST_EVIDENCE = 50  # pauses with their evidence: each takes some 10 KB
_BOUND = format_time(DEFAULT_BOUND_NS)


@dataclass(frozen=True)
class ShownRun:
    """A run of the site. folder: its address. title, about: what it is. up: the page above it. known: its record."""

    run: Run
    folder: str
    title: str
    about: str
    up: Link
    known: Record | None = None

    @property
    def address(self) -> str:
        """The address of its page."""
        return f"{self.folder}/index.html"

    @cached_property
    def record(self) -> Record:
        """What repeats it. Raises InputError."""
        return self.known or record_of(self.run)

    @cached_property
    def says(self) -> str:
        """One sentence: which loads were stalled, and for how long."""
        said = printable(headline(pause_report(self.run, DEFAULT_BOUND_NS)))
        return said[:1].upper() + said[1:]


def run_files(shown: ShownRun) -> Iterator[File]:
    """Yield the files of a run. Raises InputError for a damaged one."""
    cache, found = _traced(shown.run), list[Explained]()
    if cache is not None and explains(cache):
        offenders = [item.name for item in shown.run.loads if item.load.role == "offender"]
        found = explanations_of(shown.run, ["", *offenders], cache=cache)
    drawn = timeline(shown.run, cache, explained=[item.explanation for item in found])
    found = [item for item in found if shown.run.load(item.explanation.load).load.role != "offender"]
    # The directory's name has the date of the run, the site's title has not.
    drawn = replace(drawn, title=drawn.title.replace(shown.run.name.lstrip("_"), shown.title, 1))
    yield record_file(shown.folder, shown.record)
    yield spec_file(shown.folder, shown.record)
    lanes = themed(lanes_picture([lanes_of(shown.run, shown.title)]))
    yield File(f"{shown.folder}/{PICTURE}", lanes.encode())
    yield interactive(drawn, shown.folder, shown.title)
    if found:
        yield _evidence(shown, found)
    if cache is not None:
        yield File(f"{shown.folder}/{TRACE}", gzip.compress(export(shown.run, cache, DEFAULT_BOUND_NS), mtime=0))
    yield _page(shown, found, cache)


def _traced(run: Run) -> PageCache | None:
    try:
        return page_cache(run) if run.spec.trace.events else None
    except InputError:  # a study may have kept no trace
        return None


def _evidence(shown: ShownRun, found: Sequence[Explained]) -> File:
    """Return the page of all pauses with their stacks and events."""
    told = replace(drawn_report(shown.run, found, _BOUND, MOST_EVIDENCE), about=())  # it has the run's date
    up = Link(shown.title, "index.html")
    heading = f"{shown.title}: why was it stalled?"
    return page(f"{shown.folder}/{WHY}", heading, "evidence.html", up=up, body=fragment(told, 2))


def _page(shown: ShownRun, found: Sequence[Explained], cache: PageCache | None) -> File:
    pauses = pause_report(shown.run, DEFAULT_BOUND_NS, cache)
    spec = shown.record.spec
    values: dict[str, Any] = {
        "shown": shown,
        "up": Link(shown.up.text, relative(shown.address, shown.up.address)),
        "picture": PICTURE,
        "table": html_table(table(pauses)),
        "why": fragment(replace(report(shown.run, found, _BOUND), about=()), 3) if found else "",
        "pauses": len(found),
        "evidence": min(len(found), MOST_EVIDENCE),
        "line": line(shown.folder, shown.record),
        "facts": facts(shown.record),
        "inputs": sorted(shown.record.made_with.items()),
        "failure": printable(shown.run.failure),
        "spec": spec_toml(spec) if isinstance(spec, Spec) else "",
        "has_trace": cache is not None,
        "names": {"repeat": REPEAT, "spec": SPEC_FILE, "timeline": TIMELINE, "why": WHY, "trace": TRACE},
    }
    return page(shown.address, shown.title, "run.html", **values)


TIMELINE = "timeline.html"  # that of `wblab timeline --format html`, whose scripts all pages share


def interactive(timeline: Timeline, folder: str, title: str) -> File:
    """Return the page of a timeline, in a folder of the site."""
    values: dict[str, Any] = {"packed": packed(figure_of(timeline)), "scripts": SCRIPTS, "styles": STYLES}
    return page(f"{folder}/{TIMELINE}", f"Timeline: {title}", "timeline.html", **values)


def library() -> Iterator[File]:
    """Yield the scripts and styles of such pages."""
    for name in (*SCRIPTS, *STYLES):
        yield File(f"assets/{name}", asset(name))
