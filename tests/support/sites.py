"""A site as a reader's browser has it: its links, what it would load, and how large its pages are."""

import posixpath
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

OUTSIDE = ("https://", "http://")
MOST_BYTES = 1_000_000  # of a page


class Read(HTMLParser):
    """A page's anchors, links and what it loads; `inline` are handlers and scripts that its policy forbids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.inline: list[str] = []
        self.policy = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        self.inline += [name for name in given if name.startswith("on")]
        if tag == "script" and "src" not in given and given.get("type", "") != "text/plain":
            self.inline.append(tag)
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"]
        for name in ("href", "src", "xlink:href", "srcset", "data-trace", "action", "poster", "data"):
            if name in given:
                is_link = tag == "a" or given[name].startswith("#")
                (self.links if is_link else self.loads).append(given[name])


def pages(site: Path) -> dict[str, Read]:
    """Return the pages of a site by their addresses."""
    return {path.relative_to(site).as_posix(): Read(path.read_text()) for path in sorted(site.rglob("*.html"))}


def dead_links(site: Path) -> list[str]:
    """Return the links of all pages that lead nowhere within the site."""
    found, dead = pages(site), []
    for address, page in found.items():
        for link in (*page.links, *page.loads):
            if link.startswith((*OUTSIDE, "data:")):
                continue
            path, _, anchor = unquote(link).partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(address), path)) if path else address
            if not _leads(site, target, anchor, found):
                dead.append(f"{address}: {link}")
    return dead


def _leads(site: Path, target: str, anchor: str, found: dict[str, Read]) -> bool:
    """Whether there is a file, and the anchor on it. The timeline takes a span of time in its place."""
    if target.startswith("..") or not (site / target).is_file():
        return False
    is_span = target.endswith("timeline.html") and anchor[:1].isdigit()
    return not anchor or target not in found or is_span or anchor in found[target].anchors


def requests_outside(site: Path) -> list[str]:
    """Return what pages and styles would load from elsewhere. A link that a reader may follow loads nothing."""
    found = [
        f"{address}: {load}"
        for address, page in pages(site).items()
        for load in page.loads
        if load.startswith((*OUTSIDE, "//"))
    ]
    return found + [str(path) for path in site.rglob("*.css") if "url(" in path.read_text()]


def large_pages(site: Path) -> list[str]:
    """Return the pages that are too large."""
    return [str(path) for path in site.rglob("*.html") if path.stat().st_size > MOST_BYTES]


def copied_lines(site: Path) -> list[str]:
    """Return the lines of all pages that repeat a run, each once."""
    lines = [line for path in sorted(site.rglob("*.html")) for line in _Lines(path.read_text()).found]
    return list(dict.fromkeys(line for line in lines if line.startswith("wblab repeat ")))


class _Lines(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if name == "data-line" and value]
