"""The course of this run as it is at any moment: a copy of a guest may be told another one."""

import mmap
import os

from wblab.core.copied import PAGE, PAGE_BYTES, Course
from wblab.guest.due import Deadline


class Told:
    """The course of this run: as it was said at first, or as the page of a copy says."""

    def __init__(self, said: Course, page: str = PAGE) -> None:
        self._said, self._loads = said.page(), tuple(said.until_ns)
        try:
            fd = os.open(page, os.O_RDONLY)
        except FileNotFoundError:  # a kernel that makes no copies
            self._page = mmap.mmap(-1, PAGE_BYTES)
            return
        try:
            self._page = mmap.mmap(fd, PAGE_BYTES, mmap.MAP_SHARED, mmap.PROT_READ)
        finally:
            os.close(fd)

    def course(self) -> Course:
        """Return the course of the run as it is now.

        It is made of a page in any case: what a copy does otherwise would take other memory.
        """
        return Course.told(self._page if self._page[0] else self._said, self._loads)

    def deadline(self, start_ns: int) -> Deadline:
        """Return when the loads are waited for no longer. start_ns: CLOCK_MONOTONIC at the loads' start."""
        return Deadline(lambda: start_ns + self.course().time_limit_ns, lambda: self.course().is_cut)
