"""The first page, the one that opens files, how to cite the lab, the list of studies, and what all pages load."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from wblab import __version__
from wblab.lab.places import CITATION
from wblab.publish.site.page import CITE, HOME, OPEN, STUDIES, File, Link, list_page, page
from wblab.publish.site.runpage import PICTURE, Shown
from wblab.publish.site.study import Study

TITLE = "wblab: a laptop lab for Linux writeback lock-ups"
_ASSETS = Path(__file__).parent / "assets"
_EXAMPLE = {
    "picture": "assets/timeline.png",
    "says": "One program fills the disk's queue; another, which appends to a file, is stalled for 15 seconds.",
}
_FIRST = 4  # runs of the gallery that are on the first page too


def home(runs: Sequence[Shown], studies: Sequence[Study]) -> Iterator[File]:
    """Yield the first page, those that open files and say how to cite, and the list of studies."""
    listed = [Link(study.title, study.address) for study in studies]
    found = [Link(f"{one.title}: {one.says}", one.address, one.about) for one in runs[:_FIRST]]
    first = {"picture": f"{runs[0].folder}/{PICTURE}", "says": runs[0].says} if runs else _EXAMPLE
    yield page(HOME, TITLE, "home.html", runs=found, studies=listed, first=first)
    yield page(OPEN, "Open a file", "open.html")
    yield page(CITE, "How to cite", "cite.html", lab=__version__, title_=TITLE, file=CITATION.name)
    yield File(CITATION.name, CITATION.read_bytes())
    about = "Each study is many runs: its report, its cells, and a line that repeats each run."
    none = "This site was made without studies: name some on the command line, wblab pack --site OUT STUDY."
    yield list_page(STUDIES, "Studies", listed, about if listed else none)


def assets() -> Iterator[File]:
    """Yield what pages load: styles and scripts."""
    for path in sorted(_ASSETS.iterdir()):
        yield File(f"assets/{path.name}", path.read_bytes())
