"""Where the parts of a filesystem lie on its disk, as it was when it was made."""

from bisect import bisect_right
from dataclasses import dataclass

LAYOUTS = "layouts.json"  # in a run directory: the layout of each disk, by where its spec has the disk
ITABLE = "inode table"


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
