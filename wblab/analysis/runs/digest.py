"""A digest of all measurements of a run: runs with equal digests are equal, also from different machines."""

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError

from wblab.analysis.runs.difference import EXCLUDED
from wblab.analysis.runs.run import Run
from wblab.core import rundir
from wblab.core.errors import InputError

if TYPE_CHECKING:
    from hashlib import _Hash


def digest(run: Run) -> str:
    """Return the SHA-256 of every boundary of every load, the recorded places of its files, and every event.

    An event counts with its time, CPU and fields, except those in `EXCLUDED`. The storage format does not matter.
    Raises InputError for a damaged trace.
    """
    total = sha256()
    for load in sorted(run.loads, key=lambda load: load.name):
        total.update(_bytes(load.name) + _bytes(load.boundaries_ns))
        for file, record in sorted(run.files.get(load.name, {}).items()):
            total.update(_bytes(file) + _bytes(np.array(record.extents, np.int64)))
    if (path := run.path / rundir.TRACE).is_file():
        try:
            with tracecmd.open(path) as trace:
                for name in trace.names:
                    _add(total, trace.events(name))
        except TraceError as error:
            raise InputError(str(error)) from None
    return total.hexdigest()


def _add(total: "_Hash", events: tracecmd.Events) -> None:
    total.update(_bytes(events.name) + _bytes(events.ts_ns) + _bytes(events.cpu))
    for field in (*events.format.common, *events.format.fields):
        if field.name not in EXCLUDED:
            total.update(_bytes(field.name) + _bytes(events.field(field.name)))


def _bytes(value: str | NDArray[np.generic]) -> bytes:
    """Return a value's bytes, preceded by their length, in little-endian order on every machine."""
    if isinstance(value, str):
        data = value.encode()
    elif value.dtype.kind == "O":  # texts, and arrays of varying length
        data = b"".join(_bytes(item) for item in value)
    else:
        data = value.astype(value.dtype.newbyteorder("<")).tobytes()
    return len(data).to_bytes(8, "little") + data
