"""Regions of pages of docs/ that are filled from data, or from the lab itself.

In the repository a region has a short form, which reads well as Markdown. The built docs and a site show its whole form
in the same place, so that a link to the page leads to something in both. Comments mark where it begins and ends.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import takewhile

from wblab.lab.places import MATRICES
from wblab.publish.docpages import claims, outside
from wblab.publish.docpages.kept import read_atlas, read_claims, read_trial
from wblab.publish.docpages.markdown import plain, table
from wblab.study.designs.finding.finding import names

Forms = Mapping[str, Callable[[], str]]  # by the name of a region: Markdown that ends with a newline
_FINDING = "finding-"  # and its name: a region that is a whole page
_REGION = re.compile(r"(<!-- short: ([a-z0-9-]+) -->\n)(.*?)(<!-- end of \2 -->\n)", re.DOTALL)

# The matrices: their names; and with the question that the first lines of each file state.

_COMMENT = "#"


def _short_matrices() -> str:
    """Return the names, and where their questions are."""
    more = "The first lines of each state its question; the pages of `make docs` have a table of them here."
    return f"{', '.join(f'`{name}`' for name in _questions())}. {more}\n"


def _whole_matrices() -> str:
    """Return a table of names and questions."""
    return "\n".join(table(("matrix", "question"), ((f"`{name}`", plain(said)) for name, said in _questions().items())))


def _questions() -> dict[str, str]:
    """Return the first comment of each file, by the matrix's name."""
    return {
        path.stem: " ".join(
            line.removeprefix(_COMMENT).strip()
            for line in takewhile(lambda line: line.startswith(_COMMENT), path.read_text().splitlines())
        )
        for path in sorted(MATRICES.glob("*.toml"))
    }


SHORT: Forms = {
    "claims": lambda: claims.short_claims(read_claims()),
    "recommendations": lambda: claims.short_trial(read_trial()),
    "atlas": lambda: claims.short_atlas(read_atlas()),
    "outside": outside.short,
    "matrices": _short_matrices,
    **{f"{_FINDING}{name}": partial(claims.short_finding, name) for name in names()},
}
# Beside these the built docs and a site have `commands`, which only the command itself knows.
WHOLE: Forms = {
    "claims": lambda: claims.whole_claims(read_claims()),
    "recommendations": lambda: claims.whole_trial(read_trial()),
    "atlas": lambda: claims.whole_atlas(read_atlas()),
    "outside": outside.whole,
    "matrices": _whole_matrices,
    **{f"{_FINDING}{name}": partial(claims.whole_finding, name) for name in names()},
}


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
