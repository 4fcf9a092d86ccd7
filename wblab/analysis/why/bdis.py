"""Devices of bdis that events name: a device's own number or, for btrfs, a name that says nothing of its device."""

import re

import numpy as np
import tracecmd
from numpy.typing import NDArray

from wblab.analysis.why.places import same

Numbers = NDArray[np.int64]

NONE = -1
_BTRFS = re.compile(r"btrfs-\d{1,9}")
_TREES = 1  # include/uapi/linux/btrfs_tree.h: the inode of the filesystem's own blocks


def with_btrfs(
    events: tracecmd.Events, device: Numbers, pages: tuple[Numbers, Numbers, Numbers]
) -> tuple[Numbers, Numbers]:
    """Return the devices of events, also of those that name a bdi of btrfs; and which of them are a file's.

    device: as far as the names say it. pages: device, inode and index of the pages that were written: the device to
    which most of a btrfs's pages were written is its own.
    """
    texts, inode, index = events["name"], events["ino"].astype(np.int64), events["index"].astype(np.int64)
    named = [name for name in dict.fromkeys(texts.tolist()) if _BTRFS.fullmatch(name)]
    device, of_file = device.copy(), inode != device
    for name in named:
        rows = np.flatnonzero(texts == name)
        key, known = same(pages[1:], (inode[rows], index[rows]))
        found, counts = np.unique(pages[0][(pages[1] > _TREES) & np.isin(key, known)], return_counts=True)
        if len(found):
            device[rows] = found[np.argmax(counts)]
            of_file[rows] = inode[rows] > _TREES
    return device, of_file
