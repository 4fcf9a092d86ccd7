"""advice FILE PAGES ORDER ADVICE: read PAGES pages of a mapped file that is not in memory.

ORDER: random or sequential. ADVICE, given to madvise first: none, random, sequential, or willneed for each of the
pages.
"""

import mmap
import os
import sys

from wblab.core.streams import NO_SEED, draw_stream

_OF_ALL = {"random": mmap.MADV_RANDOM, "sequential": mmap.MADV_SEQUENTIAL}


def main(path: str, pages: int, order: str, advice: str) -> None:
    """Read the pages. Raises OSError."""
    fd = os.open(path, os.O_RDONLY)
    size = os.fstat(fd).st_size
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    found = range(size // mmap.PAGESIZE)
    chosen = draw_stream(NO_SEED, "advice").sample(found, pages) if order == "random" else found[:pages]
    with mmap.mmap(fd, size, access=mmap.ACCESS_READ) as memory:
        if advice in _OF_ALL:
            memory.madvise(_OF_ALL[advice])
        for page in chosen if advice == "willneed" else ():
            memory.madvise(mmap.MADV_WILLNEED, page * mmap.PAGESIZE, mmap.PAGESIZE)
        for page in chosen:
            memory[page * mmap.PAGESIZE]


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
