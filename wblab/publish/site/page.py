"""A page of the site: an address, a frame with navigation, and what stands in it."""

import json
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from wblab import __version__
from wblab.lab.printable import printable
from wblab.lab.specfile import spec_toml
from wblab.plot.picture import THEMED
from wblab.report.listing import Listing
from wblab.report.page import framed, render
from wblab.report.report import Picture, Report, Span, changed
from wblab.study.designs.audit.report import Record

PACKAGE = "wblab.publish.site"
HOME, RUNS, STUDIES, LESSONS = "index.html", "runs/index.html", "studies/index.html", "lessons/index.html"
EXPLORE = "explore.html"  # the page to play with: one file, which stands alone
CITE, OPEN, SEARCH, SPECS = "cite.html", "open.html", "search.html", "reference/spec.html"
NAVIGATION = (
    ("Play", EXPLORE),
    ("Runs", RUNS),
    ("Studies", STUDIES),
    ("Findings", "findings/index.html"),
    ("Claims", "findings/results-of-claims.html"),
    ("Folk wisdom", "findings/results-of-folk-wisdom.html"),
    ("Atlas", "findings/atlas.html"),
    ("Lessons", LESSONS),
    ("How it works", "explanation/how-it-works.html"),
    ("How to", "how-to/index.html"),
    ("Reference", "reference/index.html"),
    ("Search", SEARCH),
    ("Open a file", OPEN),
    ("Cite", CITE),
)
_SITE = "wblab"
_CARD = re.compile(rb'(<meta property="og:image" content=")(?:\.\./)*')
_PROSE = 30  # letters: a longer text of a table wraps, in a column that stays wide enough to read


@dataclass(frozen=True)
class File:
    """A file of the site. address: its path below the site's directory, with slashes."""

    address: str
    content: bytes


@dataclass(frozen=True)
class Link:
    """A link in a list. about: a few words."""

    text: str
    address: str
    about: str = ""


@dataclass(frozen=True)
class Section:
    """A list of pages of the documentation. about: a sentence on them."""

    title: str
    about: str
    pages: Sequence[Link] = field(default_factory=list)

    @property
    def folder(self) -> str:
        """The folder of its own page, and of most of its pages: that of the first."""
        return posixpath.dirname(self.pages[0].address)

    @property
    def address(self) -> str:
        """The address of its own page."""
        return f"{self.folder}/index.html"


def page(
    address: str, title: str, template: str, *, package: str = PACKAGE, contents: Sequence[Section] = (), **values: Any
) -> File:
    """Return a page. values: of the template. package: whose template it is. contents: shown beside the page."""
    links = [(name, relative(address, target), target == address) for name, target in NAVIGATION]
    text = render(
        package,
        template,
        beside=PACKAGE,
        title=title if address == HOME else f"{title} – {_SITE}",
        heading=title,
        root="../" * address.count("/"),
        navigation=links,
        contents=[_listed(address, section) for section in contents],
        version=__version__,
        **values,
    )
    return File(address, text.encode())


def _listed(address: str, section: Section) -> dict[str, Any]:
    """Return a section as a page's template shows it: open on its own pages, and on pages of no section."""
    pages = [(link.text, relative(address, link.address), link.address == address) for link in section.pages]
    is_here = address == section.address or any(here for *_, here in pages)
    return {"title": section.title, "pages": pages, "is_open": is_here or "/" not in address}


def placed_at(files: Iterable[File], address: str) -> Iterator[File]:
    """Yield files of a site with the whole address of the picture that other sites show of a page.

    address: of the site on the web, without which others do not find the picture; empty: not known.
    """
    whole = rb"\g<1>" + address.rstrip("/").encode() + b"/"
    for file in files:
        is_page = address and file.address.endswith(".html")
        yield replace(file, content=_CARD.sub(whole, file.content, count=1)) if is_page else file


def list_page(
    address: str, title: str, links: Sequence[Link], about: str = "", contents: Sequence[Section] = ()
) -> File:
    """Return a page that lists others. about: a paragraph above the list."""
    shown = [Link(link.text, relative(address, link.address), link.about) for link in links]
    return page(address, title, "list.html", contents=contents, links=shown, about=about)


def relative(source: str, target: str) -> str:
    """Return the link from one address to another, which may have a fragment."""
    return posixpath.relpath(target, posixpath.dirname(source) or ".")


def html_table(table: Listing, links: dict[tuple[int, int], str] | None = None) -> str:
    """Return a table as HTML, with its texts escaped. links: addresses of cells, by row and column."""
    head = "".join(_cell("th", name, at in table.right) for at, name in enumerate(table.heads))
    rows = [
        "".join(
            _cell("td", text, at in table.right, (links or {}).get((number, at), "")) for at, text in enumerate(row)
        )
        for number, row in enumerate(table.rows)
    ]
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    return framed(f"<table>\n<tr>{head}</tr>\n{body}\n</table>")


def _cell(tag: str, text: str, is_number: bool, link: str = "") -> str:
    kind = "n" if is_number else "prose" if len(text) > _PROSE else ""
    shown = escape(printable(text))
    shown = f'<a href="{escape(link)}">{shown}</a>' if link else shown
    look = f' class="{kind}"' if kind else ""
    return f"<{tag}{look}>{shown}</{tag}>"


# What repeats a run of the site: a file, and the line that reads it.

REPEAT, SPEC_FILE = "repeat.json", "spec.toml"


def record_file(folder: str, record: Record) -> File:
    """Return what repeats a run."""
    return File(f"{folder}/{REPEAT}", (json.dumps(record.to_json(), indent=1) + "\n").encode())


def spec_file(folder: str, record: Record) -> File:
    """Return the spec of a run as TOML."""
    return File(f"{folder}/{SPEC_FILE}", spec_toml(record.spec).encode())


def line(folder: str, record: Record) -> str:
    """Return the command that repeats a run, from the site's directory."""
    kernel = " --kernel PATH" if record.needs_kernel else ""
    return f"wblab repeat {folder}/{REPEAT}{kernel}"


def facts(record: Record) -> list[tuple[str, str]]:
    """Return what decides a run and what came of it, by name."""
    spec = record.spec
    return [
        ("kernel", f"Linux {record.kernel}" + (f", series {spec.kernel.build}" if spec.kernel.build else "")),
        ("kernel build", record.made_with["kernel builds"]),
        ("seed", str(spec.seed)),
        ("clock", spec.clock.mode),
        ("result digest", record.digest),
    ]


def placed(
    report: Report, folder: str, target: Callable[[str], str | None], stem: str = "picture"
) -> tuple[Report, list[File]]:
    """Return a report for a page of the site, and its pictures: as files, because twelve make a page larger than 1 MB.

    folder: that of the page. target: the site's address for a link, from that folder; None drops it. stem: of the
    pictures' names.
    """
    pictures: list[File] = []

    def picture(found: Picture) -> Picture:
        name = f"{stem}-{len(pictures) + 1}.{'svg' if found.svg else 'png'}"
        pictures.append(File(f"{folder}/{name}", found.svg.encode() or found.png))
        what = found.what or f"Figure {len(pictures)} of the report"
        return Picture(what, address=name, is_themed=THEMED in found.svg)

    def span(found: Span) -> Span:
        if not found.link or found.link.startswith("#"):
            return found
        return Span(found.text, found.look, target(found.link) or "", found.form)

    return changed(report, span, picture), pictures
