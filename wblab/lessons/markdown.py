"""Markdown of lessons, which anybody may have written: HTML in it is shown as text, and nothing is fetched."""

import re
from collections.abc import Iterator
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LOWEST = 6  # of headings
_SPAN = re.compile(r"(?<![`\\])(`+)(?!`)(?:.*?[^`])\1(?!`)")  # code between backquotes
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
    shown: list[str] = []
    for is_prose, group in groupby(enumerate(lines), lambda item: item[0] not in code and bool(item[1].strip())):
        found = [line for _, line in group]
        shown += _plain(found) if is_prose else found
    return "\n".join(shown)


def _plain(lines: list[str]) -> list[str]:
    """Return lines of prose, between empty ones, with what Jupyter would act on escaped, but in code in backquotes.

    A backquote without its fellow in its line may make code of what follows, or prose of it: then nothing is code.
    """
    is_clear = not any("`" in _SPAN.sub("", line) for line in lines)
    return ["".join(_escaped(*part) for part in _parts(line, is_clear)) for line in lines]


def _parts(line: str, is_clear: bool) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a line, each with whether it is code."""
    end = 0
    for span in _SPAN.finditer(line) if is_clear else ():
        yield from ((line[end : span.start()], False), (span[0], True))
        end = span.end()
    yield line[end:], False


def _escaped(text: str, is_code: bool) -> str:
    if is_code:
        return text
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("$", "\\$").replace("![", "!\\[")


def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
