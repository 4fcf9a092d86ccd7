"""Where the parts of a filesystem lie on its disk, as it was when it was made.

The host records it in layouts.json of a run, which is untrusted when it is read back.
"""

import os
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from wblab.core.errors import InputError, WblabError
from wblab.core.spec import Spec
from wblab.core.tables import from_table
from wblab.lab.formats import RUN, read_object
from wblab.lab.printable import printable
from wblab.lab.specfile import LiveSpec

LAYOUTS = "layouts.json"  # in a run directory: the layout of each disk, by where its spec has the disk
ITABLE = "inode table"
_MOST_BLOCKS = 1 << 48
_LONGEST = 64  # letters in a region's description


@dataclass(frozen=True)
class Region:
    """Blocks that are one part of a filesystem. group: the block group that it describes, -1 of all of them."""

    what: str
    group: int
    first: int
    count: int


@dataclass(frozen=True)
class Layout:
    """The parts of a filesystem whose place is fixed, in the order of their blocks: what is in none is given as needed.

    block_bytes: of a block. inode_bytes, group_inodes: of an inode, and how many of them a group has.
    """

    block_bytes: int
    inode_bytes: int
    group_inodes: int
    regions: tuple[Region, ...]

    def region(self, block: int) -> Region | None:
        """Return what a block is a part of; None where the place has no fixed use."""
        at = bisect_right(self.regions, block, key=lambda region: region.first) - 1
        found = self.regions[at] if at >= 0 else None
        return found if found and block < found.first + found.count else None

    def inodes(self, block: int) -> range:
        """Return the numbers of the inodes in a block of an inode table; none in another one."""
        region = self.region(block)
        if region is None or region.what != ITABLE:
            return range(0)
        per_block = self.block_bytes // self.inode_bytes
        before = (block - region.first) * per_block
        first = region.group * self.group_inodes + before + 1
        return range(first, first + max(0, min(per_block, self.group_inodes - before)))


def read_layouts(path: Path, spec: Spec | LiveSpec) -> dict[str, Layout]:
    """Return the known layouts of a run's disks, by name.

    Raises InputError for a file that does not fit the run.
    """
    file = path / LAYOUTS
    if not isinstance(spec, Spec) or not os.path.lexists(file):
        return {}
    names = {spec.disk_key(name): name for name in spec.disk}
    found = {}
    for key, table in read_object(file, RUN.where).items():
        try:
            layout = from_table(Layout, table, exact=True)
        except WblabError as error:
            raise InputError(f"{file} is damaged: {printable(str(error))}") from None
        if key not in names or not _is_sound(layout):
            raise InputError(f"{file} is damaged: it does not fit the spec")
        found[names[key]] = layout
    return found


def _is_sound(layout: Layout) -> bool:
    regions = layout.regions
    return (
        1 <= layout.inode_bytes <= layout.block_bytes <= 1 << 16
        and 1 <= layout.group_inodes < _MOST_BLOCKS
        and all(0 <= item.first < _MOST_BLOCKS and 0 < item.count < _MOST_BLOCKS for item in regions)
        and all(-1 <= item.group < _MOST_BLOCKS for item in regions)
        and all(one.first <= two.first for one, two in pairwise(regions))
        and all(len(item.what) <= _LONGEST and item.what == printable(item.what) for item in regions)
    )
