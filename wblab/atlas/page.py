"""The page of an atlas: claims down, kernels and filesystems across, what reproduces where."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.atlas.made import Made
from wblab.claims.base import NOT_REPRODUCED, REPRODUCED, UNTESTED
from wblab.claims.registry import WORKS
from wblab.core.errors import WblabError
from wblab.core.files import replace_file
from wblab.lab.formats import REPORT
from wblab.plot.render import render

ATLAS = "index.html"
_MARKS: dict[str, tuple[str, str]] = {REPRODUCED: ("yes", "●"), NOT_REPRODUCED: ("no", "○"), UNTESTED: ("open", "–")}


@dataclass(frozen=True)
class Mark:
    """One claim in one square: how it is drawn, what it says when it is pointed at, and where it leads."""

    look: str
    sign: str
    said: str
    link: str


def write_page(made: Sequence[Made], atlas: Path) -> Path:
    """Write the page of these squares into the atlas's directory, and return it. Raises WblabError."""
    columns = list(dict.fromkeys((item.square.series, item.square.filesystem) for item in made))
    series = list(dict.fromkeys(column[0] for column in columns))
    text = render(
        "wblab.atlas",
        "atlas.html",
        heads=[(name, _release(made, name), sum(column[0] == name for column in columns)) for name in series],
        filesystems=[filesystem for _, filesystem in columns],
        works=[
            {"title": WORKS[work].title, "cites": WORKS[work].cites, "rows": _rows(made, work, columns)}
            for work in dict.fromkeys(item.square.work for item in made)
        ],
        marks=list(zip(_MARKS, _MARKS.values(), strict=True)),
    )
    try:
        with replace_file(atlas / ATLAS) as file:
            file.write(text.encode())
    except OSError as error:
        raise WblabError(f"cannot write {atlas / ATLAS}: {error.strerror}") from None
    return atlas / ATLAS


def counts(made: Made) -> dict[str, int]:
    """Return how many of a square's claims came out how."""
    return {outcome: sum(claim["verdict"] == outcome for claim in made.claims) for outcome in _MARKS}


def _rows(made: Sequence[Made], work: str, columns: Sequence[tuple[str, str]]) -> list[dict[str, object]]:
    squares: dict[tuple[str, str], Made] = {
        (item.square.series, item.square.filesystem): item for item in made if item.square.work == work
    }
    claims = {str(claim["name"]): str(claim["says"]) for item in squares.values() for claim in item.claims}
    return [
        {"name": name, "says": says, "marks": [_mark(squares.get(column), name) for column in columns]}
        for name, says in claims.items()
    ]


def _mark(made: Made | None, name: str) -> Mark | None:
    claim = next((claim for claim in made.claims if claim["name"] == name), None) if made else None
    if made is None or claim is None:
        return None
    look, sign = _MARKS[claim["verdict"]]
    return Mark(look, sign, f"{claim['verdict']}: {claim['why']}", f"{made.square.name}/{REPORT}#{name}")


def _release(made: Sequence[Made], series: str) -> str:
    return next(item.release for item in made if item.square.series == series)
