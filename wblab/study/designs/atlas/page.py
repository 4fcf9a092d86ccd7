"""The page of an atlas: where kernels differ; then a row for each claim and expectation, a column for each target."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.decision import HARMS, NOT_DECIDED, NOT_REPRODUCED, NOT_TESTABLE, REPRODUCED
from wblab.core.errors import WblabError
from wblab.lab.held import replace_file
from wblab.report.palette import Look, look_of
from wblab.report.render import render
from wblab.study.designs.atlas.differences import Compared, compared
from wblab.study.designs.atlas.lines import Cell, Line, all_lines, columns_of, missing
from wblab.study.designs.atlas.made import Made
from wblab.study.designs.atlas.target import TRIAL
from wblab.study.sources.registry import WORKS

ATLAS = "index.html"
NOT_MADE = Look("not made", "unmade", "", "", "·")
# The outcomes of each, with a note on their meaning here.
_OF_CLAIMS: Mapping[str, str] = {
    REPRODUCED: "",
    NOT_REPRODUCED: "",
    NOT_DECIDED: "too few seeds; more may decide it",
    NOT_TESTABLE: "no number of seeds would help; the cell gives the reason",
}
_OF_TRIAL: Mapping[str, str] = {
    REPRODUCED: "in every scenario where it was tested",
    NOT_REPRODUCED: "not in one scenario at least",
    HARMS: "the expected figure, or the light writers' longest pause, is more than a tenth worse",
    NOT_DECIDED: "too few seeds; more may decide it",
    NOT_TESTABLE: "or there is no pause to shorten; the cell gives the reason",
}
_SORTS = {
    "differs": "",
    "not decided": "Not decided on every kernel: more seeds may show a difference, or none",
    "not testable": "Cannot be tested on every kernel",
}


def write_page(made: Sequence[Made], atlas: Path) -> Path:
    """Write the page of these targets into the atlas's directory, and return it. Raises WblabError."""
    columns = columns_of(made)
    series = list(dict.fromkeys(column[0] for column in columns))
    lines = all_lines(made, columns)
    found = compared(line for of in lines.values() for line in of)
    text = render(
        "wblab.study.designs.atlas",
        "atlas.html",
        title="What reproduces where",
        series=series,
        releases=[release(made, name) for name in series],
        heads=[(release(made, name), sum(column[0] == name for column in columns)) for name in series],
        columns=[(column[1], place == 0 or columns[place - 1][0] != column[0]) for place, column in enumerate(columns)],
        differing=[_compared(item, series) for item in found if item.sort == "differs"],
        others=[
            (head, [_compared(item, series) for item in found if item.sort == sort])
            for sort, head in _SORTS.items()
            if head
        ],
        works=[
            {"title": WORKS[work].title, "cites": WORKS[work].cites, "lines": list(map(_line, found))}
            for work, found in lines.items()
            if work != TRIAL
        ],
        tried=list(map(_line, lines.get(TRIAL, []))),
        of_claims=_legend(_OF_CLAIMS),
        of_trial=_legend(_OF_TRIAL),
        missing=[f"{item.source} on {item.series}, {item.filesystem}" for item in missing(made, columns, lines)],
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


def to_json(made: Sequence[Made]) -> dict[str, Any]:
    """Return all cells, where kernels differ, and what is not made, as JSON objects.

    Each cell has its outcome, figure and reason. A part that is not made has none.
    """
    columns = columns_of(made)
    lines = all_lines(made, columns)
    cells = [(line, cell) for found in lines.values() for line in found for cell in line.cells]
    return {
        "cells": [
            {
                "address": cell.address,
                "link": cell.link,
                "about": line.about,
                "says": line.says,
                "outcome": cell.outcome,
            }
            | {"figure": cell.row.figure, "seeds": cell.row.seeds, "why": cell.row.why}
            for line, cell in cells
            if cell.row
        ],
        "compared": [
            {"name": item.line.name, "says": item.line.says, "filesystem": item.filesystem, "sort": item.sort}
            | {"outcomes": {cell.target.series: cell.outcome or NOT_MADE.word for cell in item.cells}}
            | {"since": item.since}
            for item in compared(line for found in lines.values() for line in found)
        ],
        "not_made": [item.name for item in missing(made, columns, lines)],
    }


def look(cell: Cell) -> Look:
    """Return the look of a cell: of its outcome, or that it is not made."""
    return look_of(cell.outcome) if cell.row else NOT_MADE


def release(made: Sequence[Made], series: str) -> str:
    """Return the release of a series: 7.2.11."""
    return next(item.release for item in made if item.target.series == series)


def _legend(outcomes: Mapping[str, str]) -> list[tuple[Look, str]]:
    """Return how each outcome is shown, and what it means."""
    return [*((look_of(outcome), means) for outcome, means in outcomes.items()), (NOT_MADE, "")]


def _line(line: Line) -> dict[str, Any]:
    return {"name": line.name, "about": line.about, "says": line.says, "cells": list(map(_cell, line.cells))}


def _cell(cell: Cell) -> dict[str, Any]:
    row, shown = cell.row, look(cell)
    return {
        "look": shown,
        "address": cell.address,
        "place": f"Linux {cell.target.series}, {cell.target.filesystem}",
        "figure": row.figure if row else "",
        "seeds": row.seeds if row else "",
        "why": row.why if row else "",
        "link": cell.link,
    }


def _compared(item: Compared, series: Sequence[str]) -> dict[str, Any]:
    """Return a line on one filesystem, with a cell for each series; none where the atlas has no such column."""
    by_series = {cell.target.series: _cell(cell) for cell in item.cells}
    return {
        "name": item.line.name,
        "about": item.line.about,
        "says": item.line.says,
        "filesystem": item.filesystem,
        "since": item.since,
        "cells": [by_series.get(name, {"look": NOT_MADE}) for name in series],
    }
