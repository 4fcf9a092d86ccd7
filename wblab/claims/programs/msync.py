"""msync FILE PAGES: write to so many pages of a mapped file, evenly spread, and msync all of it."""

import os
import sys
from mmap import PAGESIZE, mmap


def main(path: str, pages: int) -> None:
    """Do it. Raises OSError."""
    fd = os.open(path, os.O_RDWR)
    size = os.fstat(fd).st_size
    stride = size // PAGESIZE // pages * PAGESIZE
    with mmap(fd, size) as memory:
        for page in range(pages):
            memory[page * stride] = page & 0xFF
        memory.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
