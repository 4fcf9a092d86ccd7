"""The regions of pages of docs/ that are filled from kept results: the short form and the whole form of each."""

from functools import partial
from itertools import takewhile

from wblab.claims.finding.finding import names
from wblab.claims.pages import claims, outsidepage
from wblab.claims.pages.kept import read_atlas, read_claims, read_trial
from wblab.claims.pages.markdowntables import plain, table
from wblab.lab.places import MATRICES
from wblab.report.regions import Forms

_FINDING = "finding-"  # and its name: a region that is a whole page

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
    "works": lambda: claims.works(read_claims()),
    "recommendations": lambda: claims.short_trial(read_trial()),
    "atlas": lambda: claims.short_atlas(read_atlas()),
    "outside": outsidepage.short,
    "matrices": _short_matrices,
    **{f"{_FINDING}{name}": partial(claims.short_finding, name) for name in names()},
}
# Beside these the built docs and a site have `commands`, which only the command itself knows.
WHOLE: Forms = {
    "claims": lambda: claims.whole_claims(read_claims()),
    "works": lambda: claims.works(read_claims()),
    "recommendations": lambda: claims.whole_trial(read_trial()),
    "atlas": lambda: claims.whole_atlas(read_atlas()),
    "outside": outsidepage.whole,
    "matrices": _whole_matrices,
    **{f"{_FINDING}{name}": partial(claims.whole_finding, name) for name in names()},
}
