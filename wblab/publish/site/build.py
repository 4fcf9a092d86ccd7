"""All files of a site: from runs made on the spot, from studies, and from the lab's own pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import KernelResolver
from wblab.lab.progress import Report
from wblab.publish.docpages.regions import WHOLE, Forms
from wblab.publish.site.gallery import gallery, gallery_page
from wblab.publish.site.home import assets, home
from wblab.publish.site.interactive import library
from wblab.publish.site.lessons import lesson_pages
from wblab.publish.site.page import File
from wblab.publish.site.prose import prose, timeline_picture
from wblab.publish.site.runpage import Shown, run_files
from wblab.publish.site.specs import spec_page
from wblab.publish.site.study import Study
from wblab.publish.site.studypages import study_files
from wblab.study.store import Store


@dataclass(frozen=True)
class Wanted:
    """What a site holds. presets: run on the spot; studies: directories; pages: runs of each with pictures.

    kernel: that of the presets' guests, by its full name; empty: the presets' own. forms: of the regions of the lab's
    own pages.
    """

    presets: Sequence[str]
    studies: Sequence[Path]
    pages: int
    kernel: str = ""
    forms: Forms = field(default_factory=lambda: WHOLE)


def files(wanted: Wanted, results: Path, resolve: KernelResolver, report: Report) -> Iterator[File]:
    """Yield all files of a site; the same runs give the same bytes. Raises InputError, RunFailedError."""
    studies = opened(wanted.studies)
    runs: list[Shown] = []
    for shown in gallery(wanted.presets, wanted.kernel, results, resolve, report):
        yield from run_files(shown)
        runs.append(shown)
    yield gallery_page(runs)
    for study in studies:
        yield from study_files(study, wanted.pages, report)
    report(None, "the lab's own pages")
    yield from {
        file.address: file for file in (*prose(forms=wanted.forms), timeline_picture())
    }.values()  # a page may show it too
    yield from lesson_pages()
    yield spec_page()
    yield from home(runs, studies)
    yield from assets()
    yield library()


def opened(paths: Sequence[Path]) -> list[Study]:
    """Return the studies, each with an address of its own. Raises InputError."""
    studies: list[Study] = []
    taken: set[str] = set()
    for path in paths:
        store = Store.open(path)
        if not store.runs.is_dir():
            raise InputError(f"{path} has no runs: was the study copied without them?")
        name = store.plan.name.lower()
        names = (name, *(f"{name}-{number}" for number in range(2, len(paths) + 2)))
        taken.add(name := next(each for each in names if each not in taken))
        studies.append(Study(store, f"studies/{name}"))
    return studies
