"""How many pages each folio had that an event names by its first page.

The page cache holds a file in folios of one or several pages, and a folio becomes dirty as a whole: the limits count
all of its pages. The events of folios of several pages that come into the cache and leave it say how many they have.
"""

import numpy as np
import tracecmd
from numpy.typing import NDArray
from tracecmd.sequence import Sequence

from wblab.analysis.runs.places import previous, repeated, same

_ADDED, _REMOVED = "mm_filemap_add_to_page_cache", "mm_filemap_delete_from_page_cache"
# Of the same system, and of no use for a pause: only a trace that has the formats of a whole kernel knows it.
_NEVER_WANTED = "filemap:filemap_set_wb_err"
_ORDER = "order"  # since Linux 5.17, before files had large folios
_MOST_ORDER = 20  # 4 GiB: more than any folio has
_MINOR_BITS = 20  # include/linux/kdev_t.h

Numbers = NDArray[np.int64]


def sizes_known(trace: tracecmd.TraceFile) -> bool:
    """Whether a trace shows which folios had several pages. If not, each may have had."""
    if _ADDED in trace.names:
        return True
    wanted = f"filemap:{_ADDED}"
    return wanted in trace.formats and _NEVER_WANTED not in trace.formats  # wanted, and there was no large folio


def pages_of(trace: tracecmd.TraceFile, sequence: Sequence, events: tracecmd.Events) -> Numbers:
    """Return the number of pages of the folio of each event, which names a bdi, an inode and a first page.

    One where the trace does not show that it had more: a folio may have come before the trace began.
    """
    tables = [trace.events(name) for name in (_ADDED, _REMOVED) if name in trace.names]
    tables = [table for table in tables if _ORDER in table]
    if not tables or not len(events):
        return np.ones(len(events), np.int64)
    rank, inode, index, device, order = (
        np.concatenate(columns)
        for columns in zip(
            *(
                (
                    sequence.ranks(table),
                    *(table[name].astype(np.int64) for name in ("i_ino", "index", "s_dev")),
                    # What was there before is gone, and folios of one page are not recorded as they come.
                    np.minimum(table[_ORDER].astype(np.int64), _MOST_ORDER) * (table.name == _ADDED),
                )
                for table in tables
            ),
            strict=True,
        )
    )
    texts = events["name"].tolist()
    numbers = {name: at for at, name in enumerate(dict.fromkeys(texts))}
    bdi = np.array([numbers[name] for name in texts], np.int64)
    page = events["ino"].astype(np.int64), events["index"].astype(np.int64)
    whose = _bdis(device, numbers, bdi, *same(page, (inode, index)))
    key, known = same((bdi, *page), (whose, inode, index))
    last = previous(key, sequence.ranks(events), known, rank)
    return np.append(np.left_shift(1, order), 1)[last]


def pages(trace: tracecmd.TraceFile, sequence: Sequence, events: tracecmd.Events) -> tuple[Numbers, Numbers]:
    """Return the pages of the folios of events: the event of each, and its index in the file. Raises TraceError."""
    event, within = repeated(pages_of(trace, sequence, events), events.name)
    return event, events["index"].astype(np.int64)[event] + within


def _bdis(device: Numbers, numbers: dict[str, int], bdi: Numbers, page: Numbers, known: Numbers) -> Numbers:
    """Return the bdi of the device of each folio that came or left; -1 if unknown.

    A bdi bears the number of a whole disk or, of btrfs, whose devices have the major number 0, a name that says nothing
    of its device. So a device that is none itself is that of the bdi whose events name most of its folios.
    """
    devices, which = np.unique(device, return_inverse=True)
    is_name = np.array([":" not in name for name in numbers])[bdi]
    found = np.full(len(devices), -1)
    for at, each in enumerate(devices.tolist()):
        major, minor = each >> _MINOR_BITS, each & (1 << _MINOR_BITS) - 1
        if (own := numbers.get(f"{major}:{minor}")) is not None:
            found[at] = own
            continue
        named = bdi[np.isin(page, known[which == at]) & (is_name == (major == 0))]
        if len(named):
            found[at] = np.argmax(np.bincount(named))
    return found[which]
