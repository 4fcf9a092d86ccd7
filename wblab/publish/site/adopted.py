"""A report of the lab, taken into the site: what stands in its body, and its style.

The lab's reports are pages of their own: templates that extend wblab/report/templates/base.html.
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import unescape

from wblab.publish.site.page import File

_BODY = re.compile(r"<body>\n(.*)</body>", re.DOTALL)
_STYLE = re.compile(r"<style>\n(.*?)</style>", re.DOTALL)
_PICTURE = re.compile(r'src="data:image/png;base64,([A-Za-z0-9+/=]+)"')
_DRAWN = re.compile(r"<svg .*?</svg>", re.DOTALL)
_LINK = re.compile(r'<a href="([^"#:]+)([^":]*)">(.*?)</a>', re.DOTALL)
_SCROLLED = '<div class="scroll">'


@dataclass(frozen=True)
class Adopted:
    """A report's parts. style, body: as HTML. pictures: those that were in it, as files."""

    style: str
    body: str
    pictures: tuple[File, ...]

    def values(self) -> Mapping[str, str]:
        """Return the values for `body.html`."""
        return {"style": self.style, "body": self.body}


def adopted(report: str, folder: str, target: Callable[[str], str | None], stem: str = "picture") -> Adopted:
    """Return the parts of a report that this lab rendered.

    folder: that of the site's page. target: the site's address for a relative link, from that folder; None drops it.
    stem: of the pictures' names.
    """
    pictures: list[File] = []

    def placed(content: bytes, suffix: str) -> str:
        name = f"{stem}-{len(pictures) + 1}.{suffix}"
        pictures.append(File(f"{folder}/{name}", content))
        return f'src="{name}"'

    def drawn(found: re.Match[str]) -> str:
        # A file, because twelve figures in a page make it larger than 1 MB.
        name = placed(found[0].encode(), "svg")
        return f'{_SCROLLED}<img loading="lazy" alt="Figure {len(pictures)} of the report" {name}></div>'

    def linked(found: re.Match[str]) -> str:
        link = target(unescape(found[1]))
        return found[3] if link is None else f'<a href="{link}{found[2]}">{found[3]}</a>'

    body = _PICTURE.sub(lambda found: placed(b64decode(found[1]), "png"), _only(_BODY, report))
    body = _DRAWN.sub(drawn, body)
    body = (
        _LINK.sub(linked, body)
        .replace(_SCROLLED, f'{_SCROLLED[:-1]} tabindex="0">')
        .replace("<figure>", '<figure tabindex="0">')
    )
    return Adopted(_only(_STYLE, report), body, tuple(pictures))


def _only(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    assert found is not None, "a report extends the lab's base page"
    return found[1]
