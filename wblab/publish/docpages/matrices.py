"""The matrices as Markdown: their names; and with the question that the first lines of each file state."""

from itertools import takewhile

from wblab.lab.places import MATRICES
from wblab.publish.docpages.markdown import plain, table

_COMMENT = "#"


def short() -> str:
    """Return the names, and where their questions are."""
    more = "The first lines of each state its question; the pages of `make docs` have a table of them here."
    return f"{', '.join(f'`{name}`' for name in _questions())}. {more}\n"


def whole() -> str:
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
