"""The final places of a run's files on their disks (extents.json, which is untrusted), and the quality of that layout.

The measures are those of He et al., "Reducing File System Tail Latencies with Chopper" (FAST 2015).
"""

import os
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from wblab.core.errors import InputError
from wblab.core.fiemap import Extent
from wblab.core.rundir import EXTENTS, FileRecord
from wblab.core.spec import Spec
from wblab.lab.formats import RUN, read_object
from wblab.lab.specfile import LiveSpec

LAYOUT_METRICS = ("dspan_bytes", "extents", "layout_index")
_SECTOR_BYTES = 512
_MOST_BYTES = 1 << 60  # of a file, or a disk


def read_extents(path: Path, spec: Spec | LiveSpec) -> dict[str, dict[str, FileRecord]]:
    """Return the places of a run's files, by load and name, for the loads that recorded them.

    Raises InputError for a file that does not fit the run.
    """
    file = path / EXTENTS
    if not isinstance(spec, Spec) or not os.path.lexists(file):
        return {}
    found: dict[str, dict[str, FileRecord]] = {}
    for name, table in read_object(file, RUN.where).items():
        load = spec.load.get(name)
        if load is None or not load.maps_files or not isinstance(table, dict) or set(table) - set(load.files):
            raise InputError(f"{file} is damaged: it does not fit the spec")
        try:
            found[name] = {key: _record(**item) for key, item in table.items()}
        except (TypeError, ValueError):
            raise InputError(f"{file} is damaged: it lacks the places of {name}'s files") from None
    return found


def layout_metrics(files: Mapping[str, FileRecord]) -> dict[str, float]:
    """Return the metrics of a load's files; empty for a load without recorded files, or that wrote nothing.

    dspan_bytes: the largest distance on the disk between the first and the last byte of a file. extents: the number of
    extents of all files, as their filesystem counts them. layout_index: see `layout_index`.
    """
    known = [record.extents for record in files.values() if record.extents]
    if not known:
        return {}
    pieces = [extent for file in known for extent in file]
    spans = [max(item.physical + item.length for item in file) - min(item.physical for item in file) for file in known]
    found = (max(spans), len(pieces), layout_index(pieces))
    return {name: float(value) for name, value in zip(LAYOUT_METRICS, found, strict=True)}


def layout_index(pieces: Iterable[Extent]) -> float:
    """Return the mean distance on the disk between two of these sectors, as a multiple of the smallest possible.

    For n sectors of 512 bytes at x(1) < ... < x(n) the mean is the sum of x(j) - x(i), i < j, over n (n - 1) / 2. For n
    contiguous sectors it is (n + 1) / 3; therefore 1 is the best. It distinguishes layouts with equal spans.
    """
    before = total = 0
    runs = _joined(pieces)
    count = sum(end - first for first, end in runs)
    if count < 2:
        return 1.0
    for first, end in runs:
        # The sum of x (2 k - n + 1) over the sectors x of a contiguous run, where k sectors precede x. With steps t
        # from 0 on, each term is (first + t) (c + 2 t).
        length, c = end - first, 2 * before - count + 1
        total += first * c * length
        total += (2 * first + c) * (length * (length - 1) // 2) + (length - 1) * length * (2 * length - 1) // 3
        before += length
    return 6 * total / (count * (count - 1) * (count + 1))


def _joined(pieces: Iterable[Extent]) -> list[tuple[int, int]]:
    """Return the begins and ends of contiguous runs of sectors, each sector once, in disk order."""
    runs: list[tuple[int, int]] = []
    for first, end in sorted(
        (item.physical // _SECTOR_BYTES, (item.physical + item.length) // _SECTOR_BYTES) for item in pieces
    ):
        if runs and first <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(end, runs[-1][1]))
        else:
            runs.append((first, end))
    return runs


def _record(size: Any, block: Any, extents: Any) -> FileRecord:
    """Return a file's record. Raises TypeError or ValueError for impossible values."""
    pieces = tuple(Extent(*item) for item in extents)
    if not all(type(number) is int for number in (size, block, *(number for item in pieces for number in item))):
        raise TypeError("no whole numbers")
    sound = 0 <= size < _MOST_BYTES and _SECTOR_BYTES <= block <= 1 << 16 and block % _SECTOR_BYTES == 0
    sound = sound and all(
        min(item.logical, item.physical) >= 0 < item.length and max(item) < _MOST_BYTES for item in pieces
    )
    sound = sound and not any(number % _SECTOR_BYTES for item in pieces for number in item)
    sound = sound and all(one.logical + one.length <= two.logical for one, two in pairwise(pieces))
    if not sound:
        raise ValueError("no extents of a file")
    return FileRecord(size, block, pieces)
