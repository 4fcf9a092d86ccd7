"""The lab's pages of prose, from docs/: Markdown, with links between them that hold in the site.

What a page links beside other pages and pictures, such as a module, is no part of the site: there the words stay.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from wblab.core.errors import InputError
from wblab.lab.places import DOCS, SHARE
from wblab.publish.docpages.regions import WHOLE, Forms, filled
from wblab.publish.site.page import ARTIFACT, HOME, SPECS, File, Link, list_page, page, relative

SECTIONS = {
    "findings": ("Findings", "What the lab found, and what came of the claims and recommendations of others."),
    "explanation": ("Explanation", "How it works, and how far it can be trusted."),
    "how-to": ("How to", "Each page answers one question about the use of the lab."),
    "reference": ("Reference", "Terms, files and formats."),
    "teaching": ("Teaching", "For those who teach with the lab."),
}
_INCLUDE = re.compile(r"\s*```\{include\} (\S+)\s*```\s*")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_OUTSIDE = ("https://", "http://")


@dataclass(frozen=True)
class Source:
    """A page of prose. folder: what its links are relative to. address: where it is in the site."""

    text: str
    folder: Path
    address: str

    @property
    def title(self) -> str:
        """Its first heading, as text."""
        found = _TITLE.search(self.text)
        return found[1].replace("`", "") if found else Path(self.address).stem


def prose(docs: Path = DOCS, forms: Forms = WHOLE) -> Iterator[File]:
    """Yield the pages of prose, a page of each section, and the pictures that they show. Raises InputError.

    forms: those of the regions of pages, by their names.
    """
    sources = [replace(one, text=filled(one.text, forms)) for one in _sources(docs)]
    pages = {docs.resolve() / Path(one.address).with_suffix(".md"): one.address for one in sources}
    # What index pages of the checkout say is on the site's own pages.
    pages |= {(docs.parent / "README.md").resolve(): HOME, (docs / "index.md").resolve(): HOME}
    pictures: dict[Path, str] = {}
    for source in sources:
        yield page(source.address, source.title, "prose.html", body=_body(source, pages, pictures))
    for section, (title, about) in SECTIONS.items():
        links = [Link(one.title, one.address) for one in sources if one.address.startswith(f"{section}/")]
        links += [Link("Specs: all keys, units and defaults", SPECS)] if section == "reference" else []
        yield list_page(f"{section}/index.html", title, sorted(links, key=lambda link: link.text), about)
    for path, address in pictures.items():
        yield File(address, path.read_bytes())


def _sources(docs: Path) -> list[Source]:
    paths = sorted(path for section in SECTIONS for path in (docs / section).glob("*.md"))
    if not paths:
        raise InputError(f"no pages in {docs}: install the lab again, or use a checkout")
    sources = [_source(path, f"{path.parent.name}/{path.stem}.html") for path in paths]
    return [*sources, _source(docs / "artifact.md", ARTIFACT)]


def _source(path: Path, address: str) -> Source:
    text = path.read_text()
    if included := _INCLUDE.fullmatch(text):
        path = (path.parent / included[1]).resolve()
        text = path.read_text()
    return Source(text, path.parent.resolve(), address)


def _body(source: Source, pages: Mapping[Path, str], pictures: dict[Path, str]) -> str:
    """Return a page's HTML. pictures: those found are added, by their files."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    found = parser.parse(source.text)
    _anchor(found)
    for token in found:
        if token.type in ("code_block", "fence"):
            token.type, token.attrs = "code_block", {"tabindex": "0"}
        for child in token.children or ():
            if child.type == "image":
                child.attrs["src"] = _picture(source, str(child.attrs["src"]), pictures)
        if token.children:
            token.children = list(_linked(token.children, source, pages))
    text = str(parser.renderer.render(found, parser.options, {}))
    return text.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace("</table>", "</table></div>")


def _anchor(found: Sequence[Token]) -> None:
    """Give headings the anchors that GitHub and MyST give them."""
    seen: dict[str, int] = {}
    for heading, inline in pairwise(found):
        if heading.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            count = seen[name] = seen.get(name, -1) + 1
            heading.attrs["id"] = f"{name}-{count}" if count else name


def _linked(children: Sequence[Token], source: Source, pages: Mapping[Path, str]) -> Iterator[Token]:
    """Yield the tokens of a paragraph with links that hold in the site; of others only the words."""
    is_dropped = False
    for child in children:
        if child.type == "link_open":
            target = _target(source, str(child.attrs["href"]), pages)
            is_dropped = target is None
            child.attrs["href"] = target or ""
        if child.type in ("link_open", "link_close") and is_dropped:
            continue
        yield child


def _target(source: Source, link: str, pages: Mapping[Path, str]) -> str | None:
    path, mark, heading = link.partition("#")
    if not path or link.startswith(_OUTSIDE):
        return link
    address = pages.get((source.folder / path).resolve())
    return None if address is None else relative(source.address, address) + mark + heading


def _picture(source: Source, link: str, pictures: dict[Path, str]) -> str:
    path = (source.folder / link).resolve()
    pictures[path] = f"assets/{path.name}"
    return relative(source.address, pictures[path])


def timeline_picture() -> File:
    """Return the picture of the first page."""
    return File("assets/timeline.png", (SHARE / "misc" / "timeline.png").read_bytes())
