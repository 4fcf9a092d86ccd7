"""Attribution of a loop device's I/O: its worker's writes to the file belong to the writers of the loop device."""

import numpy as np
import tracecmd
from numpy.typing import NDArray

from wblab.analysis.why.offcpu import switched_names
from wblab.analysis.why.places import SECTORS_OF_PAGE, previous, same

Numbers = NDArray[np.int64]

_LOOP = 7  # include/uapi/linux/major.h
_WORKERS = ("kworker/", "loop")  # drivers/block/loop.c; a thread of its own before Linux 5.12


def through_loops(
    trace: tracecmd.TraceFile,
    pieces: tuple[Numbers, Numbers, Numbers, Numbers],
    owner: Numbers,
    submitter: Numbers,
    minor_bits: int,
) -> tuple[Numbers, Numbers]:
    """Return the owners and submitters of written pieces; for a page that a worker dirtied, those of the device's page.

    pieces: device, sector, page of the file, and place in the trace. A page of the file corresponds to a page of the
    loop device; with several loop devices, to the one where that page was written last.
    """
    device, sector, page, rank = pieces
    looped = np.flatnonzero(device >> minor_bits == _LOOP)
    if not len(looped):
        return owner, submitter
    names = {**switched_names(trace), **trace.comms}
    workers = [pid for pid, name in names.items() if name.startswith(_WORKERS)]
    carried = np.flatnonzero((device >> minor_bits != _LOOP) & np.isin(owner, workers))
    key, known = same((page[carried],), (sector[looped] // SECTORS_OF_PAGE,))
    last = previous(key, rank[carried], known, rank[looped])
    found = last >= 0
    owner, submitter = owner.copy(), submitter.copy()
    owner[carried[found]], submitter[carried[found]] = owner[looped[last[found]]], submitter[looped[last[found]]]
    return owner, submitter
