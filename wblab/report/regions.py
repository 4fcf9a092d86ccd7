"""Regions of pages in Markdown, such as those of docs/, that are filled from data, or from the lab itself.

In the repository a region has a short form, which reads well as Markdown. The built docs and a site show its whole form
in the same place, so that a link to the page leads to something in both. Comments mark where it begins and ends.
"""

import re
from collections.abc import Callable, Mapping

Forms = Mapping[str, Callable[[], str]]  # by the name of a region: Markdown that ends with a newline
_REGION = re.compile(r"(<!-- short: ([a-z0-9-]+) -->\n)(.*?)(<!-- end of \2 -->\n)", re.DOTALL)


def regions(text: str) -> list[str]:
    """Return the names of a page's regions, in their order."""
    return [match[2] for match in _REGION.finditer(text)]


def filled(text: str, forms: Forms, *, marked: bool = False) -> str:
    """Return a page whose regions have these forms; a region without one stays. marked: keep the comments.

    Raises InputError if the data cannot be read.
    """

    def form(match: re.Match[str]) -> str:
        begin, name, now, end = match.groups()
        shown = f"\n{forms[name]()}\n" if name in forms else now
        return f"{begin}{shown}{end}" if marked else shown

    return _REGION.sub(form, text)
