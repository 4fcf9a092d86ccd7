"""Pages read back as they were made: whether their links lead somewhere, and what the search finds on them."""

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from html.parser import HTMLParser
from urllib.parse import unquote

from wblab.publish.site.page import SEARCH, File, Section, page
from wblab.report.page import packed

_OUTSIDE = ("https://", "http://", "data:")
_HEADINGS = ("h1", "h2", "h3")
_UNSEEN = ("script", "style", "button")
# Of these, text goes on without a space.
_WITHIN = ("a", "abbr", "b", "cite", "code", "em", "i", "small", "span", "strong", "sub", "sup")
_LINKS = ("href", "src", "data-trace")


class _Read(HTMLParser):
    """A page. parts: its main text by headings, each with the anchor, the words of the heading and those below it."""

    def __init__(self, file: File) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.parts: list[list[str]] = []
        self._inside: list[str] = []
        self.feed(file.content.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.links += [given[name] for name in _LINKS if name in given]
        if tag == "main" or tag in _HEADINGS or tag in _UNSEEN:
            self._inside.append(tag)
        if tag in _HEADINGS:
            self.parts.append([given.get("id", ""), "", ""])
        self._space(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()
        self._space(tag)

    def handle_data(self, data: str) -> None:
        if "main" not in self._inside or self._inside[-1] in _UNSEEN:
            return
        if not self.parts:  # what stands before the first heading
            self.parts.append(["", "", ""])
        self.parts[-1][1 if self._inside[-1] in _HEADINGS else 2] += data

    def _space(self, tag: str) -> None:
        if self.parts and tag not in _WITHIN:
            self.parts[-1][2] += " "


def dead_links(files: Sequence[File]) -> Iterator[str]:
    """Yield the links of pages that lead to no file, or to no anchor, among these files: each with its page."""
    pages = {file.address: _Read(file) for file in files if file.address.endswith(".html")}
    addresses = {file.address for file in files}
    for address, read in pages.items():
        for link in read.links:
            path, _, anchor = unquote(link).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(address), path)) if path else address
            is_there = target in addresses and (not anchor or target not in pages or anchor in pages[target].anchors)
            if not is_there and not link.startswith(_OUTSIDE):
                yield f"{address}: the link {link} leads nowhere"


def search_page(files: Iterable[File], contents: Sequence[Section]) -> File:
    """Return the page that finds words on others. files: those pages."""
    index = []
    for file in files:
        parts = [[anchor, _words(heading), _words(text)] for anchor, heading, text in _Read(file).parts]
        title = next((heading for _, heading, _ in parts if heading), file.address)
        index.append([file.address, title, parts])
    return page(SEARCH, "Search", "search.html", contents=contents, index=packed(index))


def _words(text: str) -> str:
    return " ".join(text.split())
