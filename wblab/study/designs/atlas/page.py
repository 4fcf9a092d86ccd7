"""The page of an atlas: a row for each claim and expectation, a column for each kernel and filesystem."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.analysis.statistics.outcome import HARMS, NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.core.errors import WblabError
from wblab.core.files import replace_file
from wblab.report.palette import Look, look_of
from wblab.report.render import render
from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.target import TRIAL
from wblab.study.sources.registry import WORKS

ATLAS = "index.html"
# The outcomes of each, with a note on their meaning here.
_OF_CLAIMS: Mapping[str, str] = {
    REPRODUCED: "",
    NOT_REPRODUCED: "",
    NOT_DECIDED: "needs more seeds",
    NOT_TESTABLE: "",
}
_OF_TRIAL: Mapping[str, str] = {
    REPRODUCED: "in every scenario where it was tested",
    NOT_REPRODUCED: "not in one scenario at least",
    HARMS: "the expected figure, or the light writers' longest pause, is more than a tenth worse",
    NOT_DECIDED: "needs more seeds",
    NOT_TESTABLE: "or there is no pause to shorten",
}


@dataclass(frozen=True)
class Mark:
    """One row in one target: how it is drawn, what it says when it is pointed at, and where it leads, if anywhere."""

    look: str
    sign: str
    said: str
    link: str


@dataclass(frozen=True)
class Line:
    """A row in all targets; None where there is no such target, or it has no such row."""

    name: str
    about: str
    says: str
    marks: Sequence[Mark | None]


def write_page(made: Sequence[Made], atlas: Path) -> Path:
    """Write the page of these targets into the atlas's directory, and return it. Raises WblabError."""
    columns = list(dict.fromkeys((item.target.series, item.target.filesystem) for item in made))
    series = list(dict.fromkeys(column[0] for column in columns))
    sources = list(dict.fromkeys(item.target.source for item in made))
    text = render(
        "wblab.study.designs.atlas",
        "atlas.html",
        title="What reproduces where",
        heads=[(name, _release(made, name), sum(column[0] == name for column in columns)) for name in series],
        columns=[(column[1], place == 0 or columns[place - 1][0] != column[0]) for place, column in enumerate(columns)],
        works=[
            {"title": WORKS[work].title, "cites": WORKS[work].cites, "lines": _lines(made, work, columns)}
            for work in sources
            if work != TRIAL
        ],
        tried=_lines(made, TRIAL, columns),
        of_claims=_legend(_OF_CLAIMS),
        of_trial=_legend(_OF_TRIAL),
    )
    try:
        with replace_file(atlas / ATLAS) as file:
            file.write(text.encode())
    except OSError as error:
        raise WblabError(f"cannot write {atlas / ATLAS}: {error.strerror}") from None
    return atlas / ATLAS


def counts(made: Made) -> dict[str, int]:
    """Return how many of a target's rows came out how; outcomes that there are none of, too."""
    known = _OF_TRIAL if made.target.source == TRIAL else _OF_CLAIMS
    return dict.fromkeys(known, 0) | Counter(row.verdict for row in made.rows)


def _legend(outcomes: Mapping[str, str]) -> list[tuple[str, Look, str]]:
    """Return outcomes with how each is shown and what it means."""
    return [(outcome, look_of(outcome), means) for outcome, means in outcomes.items()]


def _lines(made: Sequence[Made], source: str, columns: Sequence[tuple[str, str]]) -> list[Line]:
    targets: dict[tuple[str, str], Made] = {
        (item.target.series, item.target.filesystem): item for item in made if item.target.source == source
    }
    known = {(row.name, row.says): row for item in targets.values() for row in item.rows}
    return [
        Line(row.name, row.about, row.says, [_mark(targets.get(column), key) for column in columns])
        for key, row in known.items()
    ]


def _mark(made: Made | None, key: tuple[str, str]) -> Mark | None:
    row = next((row for row in made.rows if (row.name, row.says) == key), None) if made else None
    if made is None or row is None:
        return None
    look = look_of(row.verdict)
    return Mark(look.style, look.sign, f"{row.verdict}: {row.why}", row.link and f"{made.target.name}/{row.link}")


def _release(made: Sequence[Made], series: str) -> str:
    return next(item.release for item in made if item.target.series == series)
