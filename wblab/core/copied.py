"""What a run does from a moment on: when loads are stopped, when the first phase begins, when it ends, and how.

A guest can be copied while it runs (linux-uml/patches: `um: copy a running guest`). A copy finds in a page of its
kernel's what it is to do otherwise than the guest that it was; in that guest the page is empty. Reading the page takes
no system call and so no virtual time: up to a change, a copy is to the nanosecond the run that has the change from the
start.
"""

import mmap
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wblab.core.errors import InputError
from wblab.core.loads.base import NEVER
from wblab.core.spec import Spec

PAGE = "/proc/um_copy"  # in a guest whose kernel can be copied
PAGE_BYTES = 4096
_NUMBER = struct.Struct("<q")
_FIXED = 4  # is it a copy that is told something; time limit; first phase; is it brief
_MOST_LOADS = PAGE_BYTES // _NUMBER.size - _FIXED


@dataclass(frozen=True)
class Course:
    """The course of a run; times are ns after the loads' start.

    until_ns: when each load is stopped, by name and in their order. first_phase_ns: when the first phase begins; the
    others follow from its file. is_brief: only the loads' times count: the trace and the disks are left as they are.
    """

    time_limit_ns: int
    first_phase_ns: int
    until_ns: Mapping[str, int]
    is_brief: bool = False

    @classmethod
    def of(cls, spec: Spec, first_phase_ns: int, *, is_brief: bool = False) -> "Course":
        """Return the course that a spec says."""
        until_ns = {name: load.until for name, load in spec.load.items()}
        return cls(spec.time_limit, first_phase_ns, until_ns, is_brief)

    @property
    def is_cut(self) -> bool:
        """Whether the time limit is no failure: then loads that still run are stopped for good."""
        return any(until_ns < NEVER for until_ns in self.until_ns.values())

    @classmethod
    def told(cls, page: mmap.mmap | bytes, loads: Sequence[str]) -> "Course":
        """Return the course that a page says of these loads."""
        _, limit_ns, first_ns, is_brief, *until_ns = struct.unpack_from(f"<{_FIXED + len(loads)}q", page)
        return cls(limit_ns, first_ns, dict(zip(loads, until_ns, strict=True)), bool(is_brief))

    def page(self) -> bytes:
        """Return what a copy finds in its page. Raises InputError for more loads than have room."""
        if len(self.until_ns) > _MOST_LOADS:
            raise InputError(f"{len(self.until_ns)} loads: a copy of a guest has room for {_MOST_LOADS}")
        numbers = (1, self.time_limit_ns, self.first_phase_ns, int(self.is_brief), *self.until_ns.values())
        return b"".join(map(_NUMBER.pack, numbers)).ljust(PAGE_BYTES, b"\0")
