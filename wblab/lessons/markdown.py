"""Markdown of lessons, which anybody may have written: HTML in it is shown as text, and nothing is fetched."""

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LOWEST = 6  # of headings
_GOES_ON = re.compile(r"\|\s*\n\s*")


def tokens(text: str) -> list[Token]:
    """Return what a text consists of."""
    return _parser().parse(text)


def to_html(text: str, *, lower: int = 0) -> str:
    """Return a text as HTML. lower: by how many levels its headings stand below their own."""
    parser = _parser()
    found = parser.parse(text)
    for token in found:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(_LOWEST, int(token.tag[1:]) + lower)}"
        elif token.type in ("code_block", "fence"):
            token.type, token.attrs = "code_block", {"tabindex": "0"}  # so that long lines can be scrolled by keys
    return str(parser.renderer.render(found, parser.options, {}))


def code_spans(found: list[Token]) -> Iterator[str]:
    """Yield what stands between backquotes, in order."""
    for token in found:
        yield from (child.content for child in token.children or () if child.type == "code_inline")


def code_lines(found: list[Token]) -> Iterator[str]:
    """Yield the lines of blocks of code, in order. A command that goes on after a `|` is one line."""
    for token in found:
        if token.type in ("code_block", "fence"):
            yield from filter(None, map(str.strip, _GOES_ON.sub("| ", token.content).splitlines()))


def for_jupyter(text: str) -> str:
    """Return a text that Jupyter's Markdown shows as ours: without formulas, HTML and pictures.

    Jupyter reads $ as the begin of a formula, and < as that of HTML.
    """
    lines, code = text.split("\n"), set()
    for token in tokens(text):
        if token.type in ("code_block", "fence") and token.map:
            code |= set(range(*token.map))
    return "\n".join(line if number in code else _plain(line) for number, line in enumerate(lines))


def _plain(line: str) -> str:
    """Return a line of prose with what Jupyter would act on escaped, but in code between backquotes."""
    parts = line.split("`")
    for place in range(0, len(parts), 2):  # the others are code
        parts[place] = parts[place].replace("&", "&amp;").replace("<", "&lt;").replace("$", "\\$").replace("![", "!\\[")
    return "`".join(parts)


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
