"""Leave the loads exactly as much memory as the spec says, whatever the kernel and the guest's set-up have taken.

Dirty limits in per cent are shares of what is available, so two kernels can be compared only if they leave the same.
The guest gets more memory than the spec says (wblab.host.guestmemory). What is too much is given to a file here: its
pages are neither free nor page cache of a disk, so no limit counts them, and nothing takes them back: not even swap.
"""

import os
import re
from pathlib import Path

from wblab.core.errors import WblabError
from wblab.core.syscalls import MS_NODEV, MS_NOSUID, mount
from wblab.core.units import Bytes, format_bytes

_RESERVE = Path("/run/wblab/reserve")
_RATIO = Path("/proc/sys/vm/dirty_ratio")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TRIES = 32  # the file's own index takes a page now and then; five or six tries are usual
_NODE = re.compile(r"^ +nr_(?:in)?active_file +(\d+)$", re.MULTILINE)  # of a node, in its first zone
_FREE = re.compile(r"^ +pages free +(\d+)$", re.MULTILINE)
_KEPT = re.compile(r"^ +high +(\d+)$", re.MULTILINE)
_PER_CPU = re.compile(r"^ +count: +(\d+)$", re.MULTILINE)
_LOWER_ZONES = re.compile(r"^ +protection: \((.*)\)$", re.MULTILINE)


def dirtyable_pages(zoneinfo: str) -> int:
    """Return how many pages may be dirty, from /proc/zoneinfo: free ones above the watermarks, and the page cache.

    As global_dirtyable_memory() of mm/page-writeback.c counts, but with the free pages in lists of a processor. Those
    lists take free pages, and give them back, by tens.
    """
    free = sum(map(int, _FREE.findall(zoneinfo))) + sum(map(int, _PER_CPU.findall(zoneinfo)))
    kept = sum(map(int, _KEPT.findall(zoneinfo)))
    kept += sum(max(map(int, zone.split(","))) for zone in _LOWER_ZONES.findall(zoneinfo))
    return max(0, free - kept) + sum(map(int, _NODE.findall(zoneinfo)))


def mount_reserve(*, swaps: bool = False) -> None:
    """Mount the filesystem of the file that is to have what is too much; it has no limit of its own.

    swaps: whether memory can be swapped. Kernels know `noswap` since Linux 6.4.
    """
    _RESERVE.mkdir(parents=True)
    mount("tmpfs", _RESERVE, "tmpfs", MS_NOSUID | MS_NODEV, "size=0,noswap" if swaps else "size=0")


def renew_limits() -> None:
    """Let the kernel take its limit on dirty memory, and its rate limits, from what is available now.

    It does so at boot and when a setting changes; later the limit follows only slowly. See writeback_set_ratelimit() of
    mm/page-writeback.c.
    """
    ratio = int(_RATIO.read_text())
    for value in (ratio - 1, ratio):
        _RATIO.write_text(str(value))


def leave(available: Bytes) -> tuple[Bytes, Bytes]:
    """Take or give back memory until just so much is available, to the page; return how much is taken, and available.

    In real time other processes change that meanwhile. Raises WblabError if less is available with nothing taken.
    """
    wanted = available // _PAGE_BYTES
    with (_RESERVE / "pages").open("ab") as file:
        for _ in range(_TRIES):
            taken, more = os.fstat(file.fileno()).st_size // _PAGE_BYTES, _available_pages() - wanted
            if not more:
                break
            if taken + more < 0:
                raise WblabError(
                    f"memory: {format_bytes(available + (taken + more) * _PAGE_BYTES)} is available in the guest, not "
                    f"{format_bytes(available)}: its kernel, trace, loads or agents take more than the lab expects"
                )
            if more > 0:
                os.posix_fallocate(file.fileno(), taken * _PAGE_BYTES, more * _PAGE_BYTES)
            else:
                os.ftruncate(file.fileno(), (taken + more) * _PAGE_BYTES)
    return Bytes(taken * _PAGE_BYTES), Bytes((wanted + more) * _PAGE_BYTES)


def _available_pages() -> int:
    return dirtyable_pages(Path("/proc/zoneinfo").read_text())
