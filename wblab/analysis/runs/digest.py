"""A digest of all measurements of a run: runs with equal digests are equal, also from different machines."""

from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd import TraceError

from wblab.analysis.runs.difference import EXCLUDED
from wblab.analysis.runs.metrics import UNPLUG
from wblab.analysis.runs.run import Run
from wblab.core import rundir
from wblab.core.errors import InputError

if TYPE_CHECKING:
    from hashlib import _Hash

    from wblab.analysis.runs.comparison import Difference


# What two builds of one kernel differ by: less is no difference between kernels.
#
# Seeds do not reach all that decides a run. Where a timer fires depends on the build to fractions of a microsecond,
# and a
# tick of the kernel's clock rounds that up. It is the same with all seeds, so no number of seeds takes it out.

# Linux 7.2.11 with and without five filesystems, 15 presets, 3 to 20 seeds: 5 of 314 figures differed, by 1.7 to 4.6 %
# or by one tick.
SHARE = 0.05
_TICK_S = 0.01  # CONFIG_HZ=100
_OF_TICK = 0.01

NOTE = (
    f"two builds of one kernel with other options differ too, in a few figures by up to {SHARE:.0%} or by one tick of "
    f"its clock ({_TICK_S * 1000:.0f} ms), with all seeds alike: smaller differences say nothing of a kernel"
).replace("%", " %")


def is_of_build(item: "Difference") -> bool:
    """Whether two builds of one kernel may differ by as much."""
    return (item.relative is not None and abs(item.relative) < SHARE) or _is_one_tick(item)


def _is_one_tick(item: "Difference") -> bool:
    """Whether times differ by one tick with every seed; or at most by one, where ticks decide when a thing ends."""
    found = item.interval
    if item.about.metric == UNPLUG:
        return abs(found.estimate) < _TICK_S * (1 + _OF_TICK)
    return item.about.metric.endswith("_s") and all(
        end is not None and abs(abs(end) - _TICK_S) < _OF_TICK * _TICK_S for end in (found.low, found.high)
    )


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
