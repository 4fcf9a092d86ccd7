"""Marks as data for the script of a page (`assets/timeline.js`), reduced to what a zoomed screen can show.

Times are whole microseconds, each as the difference from the one before; the first counts from the loads' start.
Values have four significant digits, and null draws nothing. A colour is two: on a light page and on a dark one.
"""

from functools import singledispatch
from typing import Any

import numpy as np

from wblab.core.units import NS_PER_S
from wblab.lab.printable import printable
from wblab.plot.lines import visible
from wblab.plot.marks import (
    BAR,
    Bars,
    Blocks,
    Counts,
    Label,
    LevelMarks,
    Line,
    Mark,
    Pane,
    PointMarks,
    Rules,
    Spans,
    Stack,
    Times,
    Values,
    names,
)
from wblab.plot.style import on_dark

# More than a screen has pixels, so that a zoomed span keeps its detail; few enough for a file of less than 1 MB.
BLOCK_COLUMNS = 12_000  # of all loads together
_LINE_COLUMNS = 3_000  # of all lines of a pane together
_POINT_COLUMNS = 6_000  # of all tasks of a pane together
_DIGITS = 4
_NS_PER_US = 1_000

Data = dict[str, Any]  # as JSON has it


def pane_data(pane: Pane, zero_ns: int, block_columns: int = BLOCK_COLUMNS) -> Data:
    """Return a pane's marks, its axis and what its legend explains; times count from `zero_ns`."""
    axis = pane.axis
    ticks = None if axis.ticks is None else [[float(place), text] for place, text in axis.ticks.items()]
    return {
        "name": printable(pane.head),
        "what": printable(pane.what),
        "height": pane.height,
        "axis": {
            "unit": axis.unit,
            "low": float(axis.low),
            "high": float(axis.high),
            "log": axis.is_log,
            "ticks": ticks,
            "count": axis.count,
        },
        "legend": [printable(name) for name in pane.explained],
        "marks": [mark_data(mark, zero_ns, _columns(mark, pane, block_columns)) for mark in pane.marks],
    }


def mark_data(mark: Mark, zero_ns: int, columns: int = _LINE_COLUMNS) -> Data:
    """Return one mark."""
    return {"kind": type(mark).__name__} | _data(mark, zero_ns, columns)


def colours(colour: str) -> list[str]:
    """Return a colour on a light page and on a dark one."""
    return [colour, on_dark(colour)]


def _columns(mark: Mark, pane: Pane, block_columns: int) -> int:
    if isinstance(mark, Blocks):
        return block_columns
    most = _POINT_COLUMNS if isinstance(mark, PointMarks) else _LINE_COLUMNS
    return most // max(1, len(names(tuple(each for each in pane.marks if type(each) is type(mark)))))


def _steps(times_ns: Times, zero_ns: int) -> list[int]:
    """Return times as differences in µs."""
    times_us = (np.asarray(times_ns, np.int64) - zero_ns) // _NS_PER_US
    steps: list[int] = np.diff(times_us, prepend=0).tolist()
    return steps


def _numbers(values: Values) -> list[float | int | None]:
    """Return values with few digits, whole ones as whole numbers."""
    given = np.asarray(values, np.float64)
    is_known = np.isfinite(given)
    sizes = np.where(is_known & (given != 0), np.abs(given), 1.0)
    power = _DIGITS - 1 - np.floor(np.log10(sizes))
    scale = 10.0 ** np.abs(power)
    known = np.where(is_known, given, 0.0)
    rounded = np.where(power >= 0, np.round(known * scale) / scale, np.round(known / scale) * scale)
    found: list[float] = rounded.tolist()
    whole: list[bool] = (rounded == np.floor(rounded)).tolist()
    return [
        (int(value) if is_whole else value) if is_there else None
        for value, is_whole, is_there in zip(found, whole, is_known.tolist(), strict=True)
    ]


@singledispatch
def _data(mark: Mark, zero_ns: int, columns: int) -> Data:
    raise NotImplementedError(type(mark))


@_data.register(Line)
@_data.register(PointMarks)
def _(mark: Line | PointMarks, zero_ns: int, columns: int) -> Data:
    at = visible(mark.times_ns, mark.values, columns)
    size = {"width": mark.width} if isinstance(mark, Line) else {"size": mark.size}
    said = {} if mark.said is None else {"said": _numbers(mark.said[at])}
    return _named(mark, mark.times_ns[at], zero_ns) | {"y": _numbers(mark.values[at])} | size | said


@_data.register
def _(mark: LevelMarks, zero_ns: int, columns: int) -> Data:
    return _named(mark, mark.edges_ns, zero_ns) | {"y": _numbers(mark.values), "width": mark.width}


@_data.register
def _(mark: Stack, zero_ns: int, columns: int) -> Data:
    at = visible(mark.times_ns, mark.tops, columns)
    layers = [
        {
            "name": printable(layer.name),
            "colour": colours(layer.colour),
            "words": layer.words,
            "y": _numbers(layer.values[at]),
        }
        for layer in mark.layers
    ]
    return {"x": _steps(mark.times_ns[at], zero_ns), "layers": layers}


@_data.register
def _(mark: Blocks, zero_ns: int, columns: int) -> Data:
    """Return the blocks. What only some have, a pause or a text, is by the number of the block."""
    blocks = mark.reduced(columns)
    paused = np.flatnonzero(blocks.paused)
    rows = paused.tolist()
    pauses = dict(zip(rows, _numbers(blocks.pauses_s[paused]), strict=True))
    hover = {} if blocks.hover is None else {row: _lines(blocks.hover[row]) for row in rows if blocks.hover[row]}
    parts = [
        {
            "name": part.name,
            "colour": colours(part.colour),
            "hatched": part.is_hatched,
            "group": part.group,
            "y": {row: value for row, value in zip(rows, _numbers(part.seconds[paused]), strict=True) if value},
        }
        for part in blocks.parts
    ]
    return {
        "name": printable(blocks.name),
        "colour": colours(blocks.colour),
        "group": blocks.group,
        "x": _steps(blocks.edges_ns, zero_ns),
        "y": _numbers(blocks.durations_s),
        "full": float(blocks.full_s),
        "many": np.flatnonzero(blocks.counts > 1).tolist(),
        "pauses": pauses,
        "parts": parts,
        "hover": hover,
    }


@_data.register
def _(mark: Counts, zero_ns: int, columns: int) -> Data:
    """Return the cells that have any, as places in time, among the values, and their counts."""
    classes = [{"name": name, "least": least, "colour": colours(of)} for name, (least, of) in mark.classes.items()]
    across, up = np.nonzero(mark.counts)
    return {
        "x": _steps(mark.edges_ns, zero_ns),
        "values": _numbers(mark.values),
        "cells": [across.tolist(), up.tolist(), mark.counts[across, up].tolist()],
        "classes": classes,
        "words": mark.words,
        "lines": list(mark.lines),
    }


@_data.register
def _(mark: Bars, zero_ns: int, columns: int) -> Data:
    bars = [
        {
            "row": bar.row,
            "colour": colours(bar.colour),
            "text": printable(bar.text),
            "spans": [[(time_ns - zero_ns) / NS_PER_S for time_ns in span] for span in bar.spans_ns],
        }
        for bar in mark.bars
    ]
    arrows = [[(time_ns - zero_ns) / NS_PER_S, above, below] for time_ns, above, below in mark.arrows]
    return {"x": [], "bars": bars, "arrows": arrows, "share": BAR}


@_data.register
def _(mark: Label, zero_ns: int, columns: int) -> Data:
    at = {"x": (mark.time_ns - zero_ns) / NS_PER_S, "y": float(mark.value)}
    return at | {"text": printable(mark.text), "colour": colours(mark.colour), "side": mark.side}


@_data.register
def _(mark: Rules, zero_ns: int, columns: int) -> Data:
    look = {"width": mark.width, "dashed": mark.is_dashed, "opacity": mark.opacity, "group": mark.group}
    return {"x": _steps(np.array(mark.times_ns, np.int64), zero_ns), "colour": colours(mark.colour)} | look


@_data.register
def _(mark: Spans, zero_ns: int, columns: int) -> Data:
    edges_ns = np.array(mark.spans_ns, np.int64).ravel()  # a start and an end each
    return {
        "x": _steps(edges_ns, zero_ns),
        "colour": colours(mark.colour),
        "opacity": mark.opacity,
        "group": mark.group,
    }


def _named(mark: Line | LevelMarks | PointMarks, times_ns: Times, zero_ns: int) -> Data:
    name = {"name": printable(mark.name), "colour": colours(mark.colour), "words": mark.words}
    return name | {"x": _steps(times_ns, zero_ns)}


def _lines(text: str) -> list[str]:
    return [printable(line) for line in text.splitlines()]
