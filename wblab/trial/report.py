"""The report of a trial: a page for those who have never heard of writeback, its figure, and the verdicts as JSON."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wblab.core.errors import WblabError
from wblab.core.files import replace_file
from wblab.core.units import format_bytes
from wblab.data.discoveries import RATE
from wblab.lab.formats import REPORT, RUNS, TRIAL, VERDICTS, write_json
from wblab.matrix.cells import Cell, run_name
from wblab.plot.render import render
from wblab.plot.save import save
from wblab.trial.advice import Advice, Value, Wisdom
from wblab.trial.asked import Answer
from wblab.trial.figure import drawn
from wblab.trial.judged import Kept, Tried
from wblab.trial.verdict import Figure
from wblab.trial.words import (
    Row,
    cost_text,
    figure_text,
    kernel_text,
    others_text,
    place_text,
    range_text,
    rows,
    threshold_text,
    worst_text,
)

PICTURE = "trial.png"
_CLASSES = {"holds": "yes", "does not hold": "no", "harms": "harm", "unknown": "open"}


@dataclass(frozen=True)
class Result:
    """A trial that was judged. kernel: what its record says of it. answers: what the kernel took, by value.

    runs: how many there are; seeds: the most of a cell.
    """

    wisdom: Wisdom
    tried: tuple[Tried, ...]
    answers: Mapping[str, Answer]
    kernel: Mapping[str, Any]
    runs: int
    seeds: int

    @property
    def rows(self) -> list[Row]:
        """A row for each promise."""
        return rows(self.tried, self.wisdom)

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; runs are named as seen from the directory of the trial."""
        return {
            **TRIAL.head(),
            "kernel": dict(self.kernel),
            "runs": self.runs,
            "promises": [_row_json(row, self.wisdom) for row in self.rows],
            "tried": [_tried_json(item) for item in self.tried],
            "asked": {key: asdict(answer) for key, answer in self.answers.items()},
        }


def write_report(result: Result, directory: Path) -> Path:
    """Write the page, its figure as a file, and verdicts.json; return the page. Raises WblabError."""
    shown = drawn(result.tried, result.wisdom)
    save(shown.picture, "Folk wisdom on trial", directory / PICTURE)
    try:
        write_json(directory / VERDICTS, result.to_json())
        png = base64.b64encode((directory / PICTURE).read_bytes()).decode()
        page = directory / REPORT
        with replace_file(page) as file:
            file.write(_page(result, png, shown.what).encode())
    except OSError as error:
        raise WblabError(f"cannot write the report into {directory}: {error.strerror}") from None
    return page


def _page(result: Result, png: str, what: str) -> str:
    found, wisdom = result.rows, result.wisdom
    return render(
        "wblab.trial",
        "trial.html",
        release=str(result.kernel.get("release", "")),
        runs=result.runs,
        seeds=result.seeds,
        false_share=f"{RATE:.0%}",
        counts={name: sum(row.outcome == name for row in found) for name in _CLASSES},
        classes=_CLASSES,
        items=[_item(advice, value, key, found, result) for key, (advice, value) in wisdom.values().items()],
        pairs=_pairs(result),
        grounds=wisdom.ground,
        png=png,
        what=what,
        machine=wisdom.machine,
        memory=format_bytes(wisdom.machine.memory),
        rate=f"{format_bytes(wisdom.machine.write_bps)}/s",
        verdicts=VERDICTS,
    )


def _item(advice: Advice, value: Value, key: str, found: Sequence[Row], result: Result) -> dict[str, Any]:
    """Return what the page has of a value."""
    own = [row for row in found if row.key == key]
    everywhere = [item for item in result.tried if item.key == key]
    return {
        "key": key,
        "advice": advice,
        "value": value,
        "rows": [
            {
                "says": row.promise.says,
                "outcome": row.outcome,
                "counts": row.counts,
                "figure": worst_text(row),
                "wanted": threshold_text(row.worst.kept.figure, row.promise.metric) if row.worst else "",
            }
            for row in own
        ],
        "others": others_text(everywhere) if value.is_setting else "",
        "cost": cost_text(everywhere) if value.is_setting else "",
        "kernel": kernel_text(result.answers.get(key), key, result.wisdom),
        "places": [_place(item) for item in everywhere],
    }


def _place(item: Tried) -> dict[str, Any]:
    return {
        "place": place_text(item),
        "refused": item.refused,
        "others": figure_text(item.others),
        "cost": figure_text(item.cost),
        "kept": [
            {
                "outcome": kept.outcome,
                "figure": figure_text(kept.figure, kept.promise.metric),
                "wanted": threshold_text(kept.figure, kept.promise.metric),
                "before": kept.before,
            }
            for kept in item.kept
        ],
        "run": f"{RUNS}/{run_name(item.cell, 1)}",
    }


def _pairs(result: Result) -> list[dict[str, Any]]:
    """Return recommendations that contradict each other side by side: on each ground, the innocents' longest stop."""
    numbers = {advice.number: advice for advice in result.wisdom.advice}
    seen: set[frozenset[int]] = set()
    found = []
    for advice in result.wisdom.advice:
        for other in (numbers[number] for number in advice.contradicts if number in numbers):
            if (pair := frozenset((advice.number, other.number))) in seen:
                continue
            seen.add(pair)
            sides = [_side(one, result) for one in (advice, other)]
            found.append({"sides": sides})
    return found


def _side(advice: Advice, result: Result) -> dict[str, Any]:
    """Return a recommendation's ratios by ground: of its values and scalings, from the best to the worst."""
    cells = {}
    for ground in result.wisdom.ground:
        ratios = [
            item.others.interval.estimate
            for item in result.tried
            if item.advice is advice and item.ground == ground and item.others is not None
        ]
        cells[ground] = range_text(ratios)
    names = "; ".join(value.name for value in advice.value)
    return {"number": advice.number, "who": advice.who, "values": names, "cells": cells}


def _row_json(row: Row, wisdom: Wisdom) -> dict[str, Any]:
    advice, value = wisdom.values()[row.key]
    return {
        "advice": row.key,
        "who": advice.who,
        "source": advice.source,
        "set": value.name,
        "says": row.promise.says,
        "verdict": row.outcome,
        "holds_in": row.counts,
    }


def _tried_json(item: Tried) -> dict[str, Any]:
    return {
        "advice": item.key,
        "ground": item.ground,
        "scaling": item.way,
        "cell": item.cell.name,
        "others": _figure_json(item.others),
        "cost": _figure_json(item.cost),
        "harms_others": item.harms_others,
        "helps_others": item.helps_others,
        "refused": item.refused,
        "promises": [_kept_json(kept) for kept in item.kept],
    }


def _kept_json(kept: Kept) -> dict[str, Any]:
    about = {"says": kept.promise.says, "role": kept.promise.role, "metric": kept.promise.metric}
    return about | {
        "verdict": kept.outcome,
        "figure": _figure_json(kept.figure),
        "harm": _figure_json(kept.harm),
        "default_keeps_it": kept.before,
    }


def _figure_json(figure: Figure | None) -> dict[str, Any] | None:
    return None if figure is None else asdict(figure)


def count_runs(cells: Sequence[Cell], there: set[str], seeds: Sequence[int]) -> tuple[int, int]:
    """Return how many of these cells' runs there are, and the most seeds of one."""
    counts = [sum(run_name(cell, seed) in there for seed in seeds) for cell in cells]
    return sum(counts), max(counts, default=0)
