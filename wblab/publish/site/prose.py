"""The lab's pages of prose, from docs/: Markdown, with links between them that hold in the site.

The lists in docs/index.md are the contents: which pages there are, in which order. What a page links beside other pages
and pictures, such as a module, is no part of the site: there the words stay.
"""

import ast
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from wblab.core.errors import InputError
from wblab.lab.places import DOCS, SHARE
from wblab.lab.wings import offered
from wblab.publish.site.page import HOME, SPECS, File, Link, Section, list_page, page, relative
from wblab.report.page import framed, whole_words
from wblab.report.regions import Forms, filled

Told = Callable[[str], None]

_INDEX = "index.md"
_SPECS = Link("Specs: all keys, units and defaults", SPECS)  # a page that is made from the lab's own classes
_INCLUDE = re.compile(r"\s*```\{include\} (\S+)\s*```\s*")
_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
_PARTS = re.compile(r"<pre.*?</pre>|<table>.*?</table>|<code>[^<]*</code>", re.DOTALL)
_WIDE = 1300  # px: a wider picture is scrolled on a narrow page, its letters are too small for it
_WIDE_PICTURE = re.compile(r"<p>(<img[^>]* style=[^>]*>)</p>")
_OUTSIDE = ("https://", "http://")


def read_contents(docs: Path = DOCS) -> list[Section]:
    """Return the sections of the documentation as docs/index.md lists their pages. Raises InputError if it does not.

    That of reference has the page on specs too.
    """
    try:
        found = list(_sections(_parser().parse((docs / _INDEX).read_text())))
    except OSError:
        raise InputError(f"no pages in {docs}: install the lab again, or use a checkout") from None
    return [
        replace(one, pages=[*one.pages, _SPECS]) if SPECS.startswith(f"{one.folder}/") else one
        for one in found
        if one.pages
    ]


def _sections(found: Sequence[Token]) -> Iterator[Section]:
    """Yield what stands below each heading of the second level: a paragraph, and items that are links."""
    now: Section | None = None
    for opening, inline in pairwise(found):
        if opening.type == "heading_open":
            yield from [now] if now else []
            now = Section(inline.content, "") if opening.tag == "h2" else None
        elif now and opening.type == "paragraph_open" and not opening.hidden:
            now = replace(now, about=inline.content)
        elif now and opening.type == "paragraph_open":  # an item
            link, *words = inline.children or []
            address = Path(str(link.attrs.get("href", ""))).with_suffix(".html").as_posix()
            now = replace(now, pages=[*now.pages, Link("".join(word.content for word in words), address)])
    yield from [now] if now else []


@dataclass(frozen=True)
class PageSource:
    """A page of prose. path: its file; what its links are relative to. address: where it is in the site."""

    text: str
    path: Path
    address: str

    @property
    def title(self) -> str:
        """Its first heading, as text."""
        found = _TITLE.search(self.text)
        return found[1].replace("`", "") if found else Path(self.address).stem


def silent(trouble: str) -> None:
    """Say nothing of what is wrong with a page."""


def whole_forms() -> Forms:
    """Return the whole forms of regions that the lab's wings have, as far as these are here."""
    forms: Forms = offered("regions of pages") or {}
    return forms


def prose(sections: Sequence[Section], forms: Forms, docs: Path = DOCS, told: Told = silent) -> Iterator[File]:
    """Yield the pages of prose, a page of each section, and the pictures that they show. Raises InputError.

    sections: the contents. forms: those of the regions of pages, by their names. told: of each link to a file that is
    not there, each language of code that is not known, and each page that the contents do not list.
    """
    sources = [replace(one, text=filled(one.text, forms)) for one in _sources(sections, docs, told)]
    pages = {docs.resolve() / Path(one.address).with_suffix(".md"): one.address for one in sources}
    pages |= {one.path: one.address for one in sources}  # that of a page which another includes
    # What index pages of the checkout say is on the site's own pages.
    pages |= {(docs.parent / "README.md").resolve(): HOME, (docs / _INDEX).resolve(): HOME}
    pictures: dict[Path, str] = {}
    for source in sources:
        body, headings = _body(source, pages, pictures, told)
        yield page(source.address, source.title, "prose.html", contents=sections, body=body, headings=headings)
    titles = {one.address: one.title for one in sources}
    for one in sections:
        links = [Link(titles.get(link.address, link.text), link.address) for link in one.pages]
        yield list_page(one.address, one.title, links, one.about, sections)
    for path, address in pictures.items():
        yield File(address, path.read_bytes())


def _sources(sections: Sequence[Section], docs: Path, told: Told) -> Iterator[PageSource]:
    listed = {docs / Path(link.address).with_suffix(".md"): link.address for one in sections for link in one.pages}
    for path in sorted({*docs.glob("*.md"), *docs.glob("*/*.md")} - {*listed, docs / _INDEX}):
        told(f"{path.relative_to(docs)}: no list of {_INDEX} has this page")
    for path, address in listed.items():
        if path.is_file():
            yield _source(path, address)
        elif address != SPECS:
            told(f"{_INDEX}: there is no {path.relative_to(docs)}")


def _source(path: Path, address: str) -> PageSource:
    text = path.read_text()
    if included := _INCLUDE.fullmatch(text):
        path = path.parent / included[1]
        text = path.read_text()
    return PageSource(text, path.resolve(), address)


def _body(
    source: PageSource, pages: Mapping[Path, str], pictures: dict[Path, str], told: Told
) -> tuple[str, list[Link]]:
    """Return a page's HTML, and links to its headings. pictures: those found are added, by their files."""

    def here(trouble: str) -> None:
        told(f"{source.address}: {trouble}")

    parser = _parser()
    found = parser.parse(source.text)
    headings = list(_anchored(found))
    for token in found:
        if token.type in ("code_block", "fence"):
            token.type, token.content = "html_block", _coloured(token.content, token.info.strip(), here)
        for child in token.children or ():
            if child.type == "image":
                child.attrs |= _picture(source, str(child.attrs["src"]), pictures)
        if token.children:
            token.children = list(_linked(token.children, source, pages, here))
    text = str(parser.renderer.render(found, parser.options, {}))
    text = _WIDE_PICTURE.sub(r'<figure class="wide" tabindex="0">\1</figure>', text)
    return _PARTS.sub(_laid_out, text), headings


def _laid_out(part: re.Match[str]) -> str:
    """Return a table in its frame, a line's code with its words whole, and lines of code as they are."""
    if part[0].startswith("<table"):
        return framed(part[0], _is_folded(part))
    return whole_words(part[0]) if part[0].startswith("<code") else part[0]


def _is_folded(table: re.Match[str]) -> bool:
    """Whether a table of a page stands in what is folded already."""
    return table.string.count("<details", 0, table.start()) > table.string.count("</details>", 0, table.start())


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable("table")


def _anchored(found: Sequence[Token]) -> Iterator[Link]:
    """Give headings the anchors that GitHub gives them, and yield links to those of the second level."""
    seen: dict[str, int] = {}
    for heading, inline in pairwise(found):
        if heading.type == "heading_open":
            words = "".join(child.content for child in inline.children or ())
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            count = seen[name] = seen.get(name, -1) + 1
            heading.attrs["id"] = f"{name}-{count}" if count else name
            if heading.tag == "h2":
                yield Link(words, f"#{heading.attrs['id']}")


def _linked(children: Sequence[Token], source: PageSource, pages: Mapping[Path, str], told: Told) -> Iterator[Token]:
    """Yield the tokens of a paragraph with links that hold in the site; of others only the words."""
    is_dropped = False
    for child in children:
        if child.type == "link_open":
            target = _target(source, str(child.attrs["href"]), pages, told)
            is_dropped = target is None
            child.attrs["href"] = target or ""
        if child.type in ("link_open", "link_close") and is_dropped:
            continue
        yield child


def _target(source: PageSource, link: str, pages: Mapping[Path, str], told: Told) -> str | None:
    path, mark, heading = link.partition("#")
    if not path or link.startswith(_OUTSIDE):
        return link
    file = (source.path.parent / path).resolve()
    if file not in pages and not file.exists():
        told(f"the link {link} leads nowhere")
    return relative(source.address, pages[file]) + mark + heading if file in pages else None


def _picture(source: PageSource, link: str, pictures: dict[Path, str]) -> dict[str, str | int | float]:
    """Return the attributes of a picture: its address and, if it is wide, how wide it is at least."""
    path = (source.path.parent / link).resolve()
    address = f"assets/{path.name}"
    found: dict[str, str | int | float] = {"src": relative(source.address, address)}
    if path.is_file():
        pictures[path] = address
        with path.open("rb") as file:
            width = int.from_bytes(file.read(20)[16:])  # of a PNG file: in its first chunk
        if path.suffix == ".png" and width > _WIDE:
            found["style"] = f"min-width: {width // 2}px"
    return found


def lab_pictures() -> list[File]:
    """Return the picture of the first page, and that which other sites show of a page that they link to."""
    return [File(f"assets/{name}", (SHARE / "misc" / name).read_bytes()) for name in ("timeline.png", "card.png")]


# Code, with its parts coloured by Pygments: the classes of site.css, no styles within.

_COMMAND = re.compile(r"(?:sudo|make|wblab|pipx?|uv|python3?|git|cd|echo|sysctl|docker|podman|\S*/[\w.-]+)(?:\s|$)")
_DOES = (ast.Import, ast.ImportFrom, ast.Assign, ast.For, ast.With, ast.FunctionDef, ast.ClassDef)
_PLAIN = "text"


def _coloured(code: str, language: str, told: Told) -> str:
    """Return code as HTML. language: '' where it is not said. told: of a language that is not known."""
    name = language or _guessed(code)
    try:
        lexer = get_lexer_by_name(name, stripnl=False)
    except ClassNotFound:
        told(f"there is no language {language!r} for code")
        return _framed(escape(code))
    return _framed(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def _framed(html: str) -> str:
    return f'<pre tabindex="0"><code>{html}</code></pre>\n'


def _guessed(code: str) -> str:
    """Return the language of code that does not say it."""
    if _COMMAND.match(code):
        return "bash"
    try:
        if tomllib.loads(code):
            return "toml"
    except tomllib.TOMLDecodeError:
        pass
    try:
        steps = ast.parse(code).body
    except (SyntaxError, ValueError):
        return _PLAIN
    is_python = any(isinstance(step, _DOES) or _is_call(step) for step in steps)
    return "python" if is_python else _PLAIN


def _is_call(step: ast.stmt) -> bool:
    return isinstance(step, ast.Expr) and isinstance(step.value, ast.Call)
