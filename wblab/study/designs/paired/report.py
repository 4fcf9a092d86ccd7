"""The report of a trial: a page for readers new to writeback, its figure, and the verdicts as JSON."""

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wblab.analysis.statistics.discoveries import RATE
from wblab.analysis.statistics.outcome import HARMS, NOT_DECIDED, NOT_REPRODUCED, REPRODUCED
from wblab.core.errors import WblabError
from wblab.core.units import format_bytes
from wblab.lab.formats import EXPERIMENT, REPORT, RUNS, VERDICTS, write_json
from wblab.lab.held import replace_file
from wblab.plot.save import save
from wblab.report.palette import look_of
from wblab.report.quantities import confidence
from wblab.report.render import render
from wblab.study.cells import run_name
from wblab.study.designs.paired.figure import drawn
from wblab.study.designs.paired.judged import Tried
from wblab.study.designs.paired.recommendations import Recommendation, Value
from wblab.study.designs.paired.result import Result
from wblab.study.designs.paired.words import (
    Row,
    cost_text,
    figure_text,
    kernel_text,
    others_text,
    place_text,
    range_text,
    threshold_text,
    worst_text,
)

PICTURE = "trial.png"
_TITLE = "Folk wisdom on trial"
_CLASSES = {outcome: look_of(outcome).style for outcome in (REPRODUCED, NOT_REPRODUCED, HARMS, NOT_DECIDED)}


def write_report(result: Result, directory: Path) -> Path:
    """Write the page, its figure as a file, and verdicts.json; return the page. Raises WblabError."""
    shown = drawn(result.tried, result.wisdom)
    save(shown.picture, _TITLE, directory / PICTURE)
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
        "wblab.study.designs.paired",
        "trial.html",
        title=_TITLE,
        release=str(result.kernel.get("release", "")),
        filesystem=result.filesystem,
        runs=result.runs,
        seeds=result.seeds,
        false_share=confidence(RATE),
        counts={name: sum(row.outcome == name for row in found) for name in _CLASSES},
        classes=_CLASSES,
        items=[_item(entry, value, key, found, result) for key, (entry, value) in wisdom.values().items()],
        pairs=_pairs(result),
        scenarios=wisdom.scenario,
        png=png,
        what=what,
        machine=wisdom.machine,
        memory=format_bytes(wisdom.machine.memory),
        rate=f"{format_bytes(wisdom.machine.write_bps)}/s",
        verdicts=VERDICTS,
    )


def _item(entry: Recommendation, value: Value, key: str, found: Sequence[Row], result: Result) -> dict[str, Any]:
    """Return the page's content for a value."""
    own = [row for row in found if row.key == key]
    everywhere = [item for item in result.tried if item.key == key]
    return {
        "key": key,
        "recommendation": entry,
        "value": value,
        "rows": [
            {
                "says": row.expectation.says,
                "outcome": row.outcome,
                "counts": row.counts,
                "figure": worst_text(row),
                "wanted": threshold_text(row.worst.kept.figure, row.expectation.metric),
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
        "failed": item.failed,
        "others": figure_text(item.others),
        "cost": figure_text(item.cost),
        "kept": [
            {
                "outcome": kept.outcome,
                "figure": figure_text(kept.figure, kept.expectation.metric),
                "wanted": threshold_text(kept.figure, kept.expectation.metric),
                "before": kept.before,
            }
            for kept in item.kept
        ],
        "run": f"{RUNS}/{run_name(item.cell, 1)}/{EXPERIMENT}",
    }


def _pairs(result: Result) -> list[dict[str, Any]]:
    """Return contradicting recommendations side by side: the innocent loads' longest pause by scenario."""
    numbers = {entry.number: entry for entry in result.wisdom.recommendation}
    seen: set[frozenset[int]] = set()
    found = []
    for entry in result.wisdom.recommendation:
        for other in (numbers[number] for number in entry.contradicts if number in numbers):
            if (pair := frozenset((entry.number, other.number))) in seen:
                continue
            seen.add(pair)
            sides = [_side(one, result) for one in (entry, other)]
            found.append({"sides": sides})
    return found


def _side(entry: Recommendation, result: Result) -> dict[str, Any]:
    """Return a recommendation's ratios by scenario, from its best value and scaling to the worst."""
    cells = {}
    for scenario in result.wisdom.scenario:
        ratios = [
            item.others.interval.estimate
            for item in result.tried
            if item.recommendation is entry and item.scenario == scenario and item.others is not None
        ]
        cells[scenario] = range_text(ratios)
    names = "; ".join(value.name for value in entry.value)
    return {"number": entry.number, "who": entry.who, "set": names, "cells": cells}
