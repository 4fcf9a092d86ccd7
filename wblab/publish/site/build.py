"""All files of a site: from runs made on the spot, from studies, and from the lab's own pages."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wblab import __version__
from wblab.core.errors import InputError
from wblab.host.process.limits import Limits
from wblab.kernels import KernelResolver
from wblab.lab.callings import CALLINGS
from wblab.lab.places import CITATION
from wblab.lab.progress import Report
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.lab.wings import offered
from wblab.publish.site.explore.page import explore_files
from wblab.publish.site.explore.positions import explored, kept
from wblab.publish.site.page import (
    CITE,
    EXPLORE,
    HOME,
    LESSONS,
    OPEN,
    RUNS,
    STUDIES,
    File,
    Link,
    Section,
    list_page,
    page,
    relative,
)
from wblab.publish.site.prose import Told, lab_pictures, prose, read_contents, silent, whole_forms
from wblab.publish.site.readback import search_page
from wblab.publish.site.runpage import PICTURE, ShownRun, library, run_files
from wblab.publish.site.specs import spec_page
from wblab.publish.site.studypages import StudyPage, study_files
from wblab.report.regions import Forms
from wblab.study.once import made
from wblab.study.store import Store

# The gallery: runs of presets, made on the spot, or found again among the results.

FEW = ("base-device", "base", "two-disks", "commit")
UP = Link("All runs", RUNS)


def presets(which: str) -> Sequence[str]:
    """Return the names of the presets to run: few, all or none."""
    return {"few": FEW, "all": tuple(SPECS.names()), "none": ()}[which]


def gallery(
    names: Sequence[str], kernel: str, results: Path, resolve: KernelResolver, report: Report
) -> Iterator[ShownRun]:
    """Yield the runs of presets; one that is not among the results is made. Raises WblabError.

    kernel: the guests' kernel by its full name; empty: that of each preset.
    """
    for name in names:
        report(None, f"run {name}")
        path = SPECS.find(name)
        spec = read_spec(path)
        # Presets may trace more than a student's runs, which have limits of their own.
        run = made(spec.on(kernel) if kernel else spec, results, resolve, Limits())
        yield ShownRun(run, f"runs/{name}", name, question(path.read_text()), UP)


def gallery_page(runs: Sequence[ShownRun]) -> File:
    """Return the page of all runs."""
    items = [
        {
            "link": Link(one.title, relative(RUNS, one.address), one.about),
            "picture": f"{one.title}/{PICTURE}",
            "says": one.says,
        }
        for one in runs
    ]
    return page(RUNS, "Runs", "gallery.html", items=items)


def question(text: str) -> str:
    """Return the question that a preset's first lines state."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("#") or line.startswith("# Try:"):
            break
        lines.append(line.removeprefix("#").strip())
    return " ".join(lines)


# The lessons in the site: what each teaches, and its text. Questions come with `wblab lesson start`.


_NO_INSTALL = Link(
    "0. Freeze a computer, without installing anything",
    EXPLORE,
    "5 minutes. Turn a knob, guess what becomes of the freezes, and see a run of a real kernel. No knowledge needed.",
)
_TITLE = re.compile(r"<h1\b.*?</h1>", re.DOTALL)  # the page begins with it, the text too


def lesson_pages(contents: Sequence[Section] = ()) -> Iterator[File]:
    """Yield a page for each lesson, and the page that lists them. contents: shown beside them. Raises InputError."""
    links, texts = [_NO_INSTALL], offered("texts of lessons")
    for lesson, text, picture, seen in texts() if texts else ():
        address = f"lessons/{lesson.name}.html"
        shown = f"{lesson.name}.png" if picture.is_file() else ""
        if shown:
            yield File(f"lessons/{shown}", picture.read_bytes())
        drawn = {"text": _TITLE.sub("", text, count=1), "picture": shown, "seen": seen}
        yield page(address, lesson.title, "lesson.html", contents=contents, lesson=lesson, **drawn)
        about = f"{lesson.minutes} minutes. {' '.join(lesson.teaches)}"
        links.append(Link(f"{lesson.name[:2].lstrip('0')}. {lesson.title}", address, about))
    about = "Learn writeback by experiments of your own, from what a page cache is."
    yield list_page(LESSONS, "Lessons", links, about, contents)


# The first page, the one that opens files, how to cite the lab, the list of studies, and what all pages load.

TITLE = "wblab: a laptop lab for Linux writeback lock-ups"
_ASSETS = Path(__file__).parent / "assets"
_EXAMPLE = {
    "picture": "assets/timeline.png",
    "says": "A slow SD card. Above, the editor waits behind 24 MB of the copy in the card's queue. Below, the queue "
    "holds 512 KiB; mail still waits at the dirty limit.",
}


@dataclass(frozen=True)
class _Result:
    """A result on the first page. figures: in large letters; the page that it links has them too."""

    figures: str
    text: str
    about: str
    address: str


_HELPS = "explanation/what-helps.html"
RESULTS = (
    _Result(
        "23.8 s → 0.65 s",
        "A copy to an SD card freezes a program that adds a byte to a file. A shorter queue of the disk ends that",
        "A queue of 512 KiB costs the copy nothing; priorities change nothing. A program that makes files still stops, "
        "for 3.4 s, at the dirty limit.",
        _HELPS,
    ),
    _Result(
        "10.2 s → 0.04 s",
        "Programs that use only a fast disk freeze while another program copies to a slow one. A strict limit for the "
        "slow disk ends that",
        "It costs a third of the copy's rate. A short queue of the slow disk leaves 0.06 s.",
        f"{_HELPS}#a-slow-disk-that-stalls-writers-to-a-fast-one",
    ),
    _Result(
        "0.30 ms → 3.78 s",
        "A copy in blocks of 1 MiB freezes a program that appends to a file. One in blocks of 64 KiB does not",
        "On ext4 and XFS, for as long as the copy runs. A short queue does not end that.",
        "findings/copy-in-large-blocks.html",
    ),
)
_FIRST = 4  # runs of the gallery that are on the first page too


def home(runs: Sequence[ShownRun], studies: Sequence[StudyPage], contents: Sequence[Section]) -> Iterator[File]:
    """Yield the first page, those that open files and say how to cite, and the list of studies."""
    listed, undecided = ([study.link for study in studies if study.is_open is open_] for open_ in (False, True))
    found = [Link(f"{one.title}: {one.says}", one.address, one.about) for one in runs[:_FIRST]]
    of_run = {"picture": f"{runs[0].folder}/{PICTURE}", "says": runs[0].says} if runs else None
    first = of_run or _EXAMPLE
    yield page(
        HOME,
        TITLE,
        "home.html",
        contents=contents,
        runs=found,
        studies=listed,
        undecided=undecided,
        first=first,
        results=RESULTS,
        explore=EXPLORE,
    )
    yield page(OPEN, "Open a file", "open.html", called={kind: one.short for kind, one in CALLINGS.items()})
    yield page(CITE, "How to cite", "cite.html", lab=__version__, title_=TITLE, file=CITATION.name)
    yield File(CITATION.name, CITATION.read_bytes())
    about = "Each study is many runs: its report, its cells, and a line that repeats each run."
    none = "This site was made without studies: name some on the command line, wblab pack --site OUT STUDY."
    yield list_page(STUDIES, "Studies", [*listed, *undecided], about if studies else none)


def assets() -> Iterator[File]:
    """Yield what pages load: styles and scripts."""
    for path in sorted(_ASSETS.iterdir()):
        yield File(f"assets/{path.name}", path.read_bytes())


@dataclass(frozen=True)
class SiteContent:
    """What a site holds. presets: run on the spot; studies: directories; pages: runs of each with pictures.

    kernel: that of the presets' guests, by its full name; empty: the presets' own. forms: of the regions of the lab's
    own pages. told: of what is wrong with these. explore: a matrix for the page to play with; None: the lab's own.
    """

    presets: Sequence[str]
    studies: Sequence[Path]
    pages: int
    kernel: str = ""
    forms: Forms = field(default_factory=whole_forms)
    told: Told = silent
    explore: Path | None = None


def files(wanted: SiteContent, results: Path, resolve: KernelResolver, report: Report) -> Iterator[File]:
    """Yield all files of a site; the same runs give the same bytes. Raises InputError, RunFailedError."""
    studies = opened(wanted.studies)
    yield from explore_files(explored(Store.open(wanted.explore), report) if wanted.explore else kept())
    runs: list[ShownRun] = []
    for shown in gallery(wanted.presets, wanted.kernel, results, resolve, report):
        yield from run_files(shown)
        runs.append(shown)
    yield gallery_page(runs)
    for study in studies:
        yield from study_files(study, wanted.pages, report)
    report(None, "the lab's own pages")
    sections = read_contents()
    yield from documentation(sections, wanted.forms, wanted.told)
    yield from home(runs, studies, sections)
    yield from assets()
    yield from library()


def documentation(contents: Sequence[Section], forms: Forms, told: Told = silent) -> list[File]:
    """Return the lab's own pages: prose, lessons, specs, and the page that searches them. Raises InputError.

    told: of what is wrong with the prose.
    """
    made = [*prose(contents, forms, told=told), *lesson_pages(contents), spec_page(contents)]
    pages = [file for file in made if file.address.endswith(".html")]
    # A page may show the picture too.
    return list({file.address: file for file in (*made, search_page(pages, contents), *lab_pictures())}.values())


def opened(paths: Sequence[Path]) -> list[StudyPage]:
    """Return the studies, each with an address of its own. Raises InputError."""
    studies: list[StudyPage] = []
    taken: set[str] = set()
    for path in paths:
        store = Store.open(path)
        if not store.runs.is_dir():
            raise InputError(f"{path} has no runs: was the study copied without them?")
        name = store.plan.name.lower()
        names = (name, *(f"{name}-{number}" for number in range(2, len(paths) + 2)))
        taken.add(name := next(each for each in names if each not in taken))
        studies.append(StudyPage(store, f"studies/{name}"))
    return studies
