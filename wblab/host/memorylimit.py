"""Whether a guest's processes take more of the host's memory than they may."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wblab.core.units import format_bytes
from wblab.host.unlinked import Unlinked, devices, unlinked_files
from wblab.host.usage import page_table_bytes, private_bytes

# A kernel hands files to its processes through sockets, a few at a time: on a busy machine a look finds one now and
# then, never all the time.
_MOST_UNDER_WAY = 64
_LONGEST_UNDER_WAY = 10  # looks, one after the other
# For an instant, a kernel that starts has a page that it shares with a process and that nobody has open.
_LONGEST_MAPPED = 3
# Each takes memory of the host's kernel (struct vm_area_struct, and its place in a tree), beside the page tables. A run
# has some thousands.
_MOST_MAPPINGS, _MAPPING_BYTES = 1 << 20, 256


@dataclass(frozen=True)
class Bounds:
    """What processes may take: files without a name up to own_bytes, and memory_bytes besides; and their number."""

    own_bytes: int
    memory_bytes: int
    processes: int


@dataclass(frozen=True)
class Usage:
    """What processes take, by their numbers: memory of their own, page tables, and files without a name.

    files: on these devices, of at most so many mappings. By default, as /proc says.
    """

    private_bytes: Callable[[Sequence[int]], int] = private_bytes
    page_table_bytes: Callable[[Sequence[int]], int] = page_table_bytes
    files: Callable[[Sequence[int], frozenset[int], int], Unlinked] = unlinked_files


_USAGE = Usage()


class Look:
    """Looks at a guest's processes again and again, and says what is too much."""

    def __init__(self, bounds: Bounds, scratch: Path, usage: Usage = _USAGE) -> None:
        self._bounds, self._usage = bounds, usage
        self._devices = devices(scratch)
        self._under_way = self._mapped = 0  # looks in a row at which there was some

    def excess(self, pids: Sequence[int]) -> str:
        """Return what these processes take too much of; empty where all is within bounds."""
        bounds = self._bounds
        if len(pids) > bounds.processes:
            return f"it had more than {bounds.processes} processes"
        now = self._usage.files(pids, self._devices, _MOST_MAPPINGS)
        self._under_way = self._under_way + 1 if now.under_way else 0
        self._mapped = self._mapped + 1 if now.mapped else 0
        if now.mappings > _MOST_MAPPINGS:
            return f"its processes had more than {_MOST_MAPPINGS:,} mappings"
        of_kernel = self._usage.page_table_bytes(pids) + now.mappings * _MAPPING_BYTES
        if (
            self._usage.private_bytes(pids) + of_kernel + max(0, now.taken_bytes - bounds.own_bytes)
            > bounds.memory_bytes
        ):
            return f"its processes took more than {format_bytes(bounds.memory_bytes)} of memory"
        if now.hidden or self._mapped >= _LONGEST_MAPPED or self._under_way >= _LONGEST_UNDER_WAY:
            return "its processes hide files that they hold in memory"
        if now.under_way > _MOST_UNDER_WAY or now.channels > 2 * bounds.processes:
            return "its processes have too many sockets, pipes, or files in them"
        return ""
