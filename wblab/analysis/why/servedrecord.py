"""The record of the requests that a filesystem's server answered, as a run has it for each disk that is served."""

import numpy as np
from numpy.typing import NDArray

from wblab.analysis.runs.places import PAGE
from wblab.analysis.runs.run import Run, int64_row
from wblab.analysis.why.requests import SentPages, device_number
from wblab.core.errors import InputError
from wblab.core.files import read_bytes
from wblab.core.rundir import SERVED_COLUMNS, served_requests
from wblab.core.spec import Spec
from wblab.core.stacks import SERVED

Numbers = NDArray[np.int64]
_MOST_BYTES = 1 << 28
_MOST_PAGES = 1 << 24
_WRITE = 16  # FUSE_WRITE


def served_disks(run: Run) -> list[str]:
    """Return the disks that are served and of which a run has a record."""
    if not isinstance(run.spec, Spec):
        return []
    named = [name for name, disk in run.spec.disk.items() if disk.model == SERVED and name in run.disks]
    return [name for name in named if (run.path / served_requests(name)).exists()]


def columns_of(rows: Numbers) -> dict[str, Numbers]:
    """Return the columns of a record by name."""
    return {name: rows[:, at] for at, name in enumerate(SERVED_COLUMNS)}


def sent_pages(run: Run) -> SentPages | None:
    """Return the pages that servers got; None if the run has none. Raises InputError for a damaged record."""
    found = []
    for name in served_disks(run):
        rows = read_served(run, name)
        column = columns_of(rows[(rows[:, 1] == _WRITE) & (rows[:, SERVED_COLUMNS.index("size")] > 0)])
        first, last = column["offset"] // PAGE, (column["offset"] + column["size"] - 1) // PAGE
        count = last - first + 1
        if count.sum() > _MOST_PAGES:
            raise InputError(f"{run.path / served_requests(name)} is damaged: it has more pages than a run can write")
        row = np.repeat(np.arange(len(count)), count)
        index = first[row] + np.arange(len(row)) - np.append(0, np.cumsum(count))[row]
        device = np.full(len(row), device_number(run.disks[name].device))
        found.append((device, column["node"][row], index, column["read_ns"][row], column["answered_ns"][row]))
    return SentPages(*(np.concatenate(each) for each in zip(*found, strict=True))) if found else None


def read_served(run: Run, disk: str) -> Numbers:
    """Return the record of a disk: a row for each request, with SERVED_COLUMNS. Raises InputError if it is damaged."""
    path = run.path / served_requests(disk)
    try:
        row = int64_row(read_bytes(path, _MOST_BYTES))
        if len(row) % len(SERVED_COLUMNS) or (row < 0).any():
            raise ValueError("it does not hold rows of requests")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except Exception as error:  # a parser may raise anything for a damaged header
        raise InputError(f"{path} is damaged: {error}") from None
    return row.reshape(-1, len(SERVED_COLUMNS))
