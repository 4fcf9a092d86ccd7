"""msync FILE PAGES: write to PAGES evenly spread pages of a mapped file, then msync the whole file."""

import os
import sys
from mmap import PAGESIZE, mmap


def main(path: str, pages: int) -> None:
    """Write to the pages and msync the file. Raises OSError."""
    fd = os.open(path, os.O_RDWR)
    size = os.fstat(fd).st_size
    stride = size // PAGESIZE // pages * PAGESIZE
    with mmap(fd, size) as memory:
        for page in range(pages):
            memory[page * stride] = page & 0xFF
        memory.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
