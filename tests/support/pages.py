"""A page as a browser sees it: its tags, and what they would load."""

import re
from collections.abc import Iterable
from html.parser import HTMLParser

# Text that must never appear: an object without a text form, an unfilled placeholder, a missing number.
SLIP = re.compile(r"<built-in| object at 0x|<function|<bound method|\{\{|(?<![\w.-])(?:nan|None|NaN)(?![\w.-])")


class Page(HTMLParser):
    """Collects the tags of a page, and what they would load."""

    def __init__(self):
        super().__init__()
        self.tags, self.loads = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in {"src", "href", "xlink:href"} and value[0] != "#"]


_UNSEEN = {"script", "style", "article"}  # in an article is prose, where None may be a word


class _Words(HTMLParser):
    """Collects the texts of a page that are not prose, tooltips included."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag, attrs):
        self._hidden += tag in _UNSEEN
        self.found += [value for name, value in attrs if name in {"title", "alt", "aria-label"} and value]

    def handle_endtag(self, tag):
        self._hidden -= tag in _UNSEEN

    def handle_data(self, data):
        if not self._hidden and data.strip():
            self.found.append(data)


def words(page: str) -> list[str]:
    """Return the visible texts of a page, without those of articles."""
    parser = _Words()
    parser.feed(page)
    parser.close()
    return parser.found


def slips(texts: Iterable[str]) -> list[str]:
    """Return the texts that leak program internals: {}.values, None, nan, {{ name }}."""
    return [text for text in texts if SLIP.search(text)]
