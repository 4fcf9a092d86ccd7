"""The kernel's throttling of writers: thresholds, setpoint, position ratio and dirty limit, computed as it does.

The source is mm/page-writeback.c of Linux 7.3; the docstrings name its functions. Everything is in whole pages and
rounded as in the kernel, so that results can be compared with a trace. Each argument is a number or an array; arrays
are computed item by item. Dirty pages include those under writeback, as in balance_dirty_pages. Left out are
strictlimit devices (FUSE), memory cgroups, and the allowance of about a quarter above both thresholds for real-time
tasks.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Pages = NDArray[np.int64]
Floats = NDArray[np.float64]

BANDWIDTH_INTERVAL_NS = 200_000_000  # the dirty limit is updated no more often than this

_SHIFT = 10  # RATELIMIT_CALC_SHIFT: the kernel's position ratio is in 1/1024
_ONE = 1 << _SHIFT
_UINT_MAX = 2**32 - 1


@dataclass(frozen=True)
class DirtyLimits:
    """The limits of dirty pages, in pages: the fields of the trace event global_dirty_state.

    limit: the dirty limit, see `dirty_limit`; it counts as at least the threshold.
    """

    background: ArrayLike
    threshold: ArrayLike
    limit: ArrayLike


def dirty_thresholds(  # noqa: PLR0913, PLR0917 - the kernel's own settings
    dirtyable_pages: ArrayLike,
    dirty_ratio: int = 20,
    background_ratio: int = 10,
    dirty_bytes: int | None = None,
    dirty_background_bytes: int | None = None,
    page_bytes: int = 4096,
) -> tuple[Pages, Pages]:
    """Return the background threshold and the dirty threshold, in pages (domain_dirty_limits).

    A setting in bytes that is not None or 0 replaces its ratio and is rounded up to pages. A background threshold that
    is not below the dirty threshold becomes half of it.

    Args:
        dirtyable_pages: free pages and file pages less the reserve (global_dirtyable_memory); it changes all the time.
        dirty_ratio: vm.dirty_ratio, in per cent; rounded down to 1/page_bytes before it is applied.
        background_ratio: vm.dirty_background_ratio, in per cent, rounded in the same way.
        dirty_bytes: vm.dirty_bytes.
        dirty_background_bytes: vm.dirty_background_bytes.
        page_bytes: the size of a page.
    """
    dirtyable = _pages(dirtyable_pages)

    def pages(ratio: int, size: int | None) -> Pages:
        if size:
            return np.full_like(dirtyable, -(-size // page_bytes))
        return ratio * page_bytes // 100 * dirtyable // page_bytes

    threshold = np.minimum(pages(dirty_ratio, dirty_bytes), _UINT_MAX)
    background = pages(background_ratio, dirty_background_bytes)
    return np.where(background >= threshold, threshold // 2, background), threshold


def freerun(background: ArrayLike, threshold: ArrayLike) -> Pages:
    """Return the number of dirty pages up to which no writer is throttled (dirty_freerun_ceiling)."""
    return (_pages(background) + _pages(threshold)) // 2


def hard_dirty_limit(threshold: ArrayLike, limit: ArrayLike) -> Pages:
    """Return the number of dirty pages from which a writer's rate is 0: the threshold or, if higher, the dirty limit.

    The trace event balance_dirty_pages has this as `limit`, global_dirty_state the dirty limit alone.
    """
    return np.maximum(_pages(threshold), _pages(limit))


def setpoint(background: ArrayLike, threshold: ArrayLike, limit: ArrayLike) -> Pages:
    """Return the number of dirty pages at which throttling aims: halfway from freerun to the hard dirty limit.

    This is the field `setpoint` of the trace event balance_dirty_pages, and `setpoint` in wb_position_ratio.
    """
    return (freerun(background, threshold) + hard_dirty_limit(threshold, limit)) // 2


def position_ratio(dirty: ArrayLike, setpoint: ArrayLike, limit: ArrayLike) -> Floats:
    """Return the factor on a writer's rate for a number of dirty pages: 1 + ((setpoint - dirty)/(limit - setpoint))³.

    It is about 2 at freerun, always 2 far below, 1 at the setpoint, and 0 from the limit on (pos_ratio_polynom, called
    by wb_position_ratio). The kernel computes in whole 1/1024, and divides by an odd number to avoid dividing by 0. Its
    values, returned here exactly, differ from the polynomial by up to 5/1024 + 3/(limit - setpoint + 1).

    Args:
        dirty: the dirty pages.
        setpoint: at the same time, in pages, below the limit.
        limit: the hard dirty limit, in pages.
    """
    return _position(dirty, setpoint, limit) / _ONE


def dirty_limit(thresholds: ArrayLike, dirty: ArrayLike, start: int) -> Pages:
    """Return the dirty limit of the whole system after each of a series of updates, in pages (update_dirty_limit).

    An update raises it to a higher threshold at once. Towards a lower threshold, or the dirty pages if they are more,
    it moves 1/32 of the way, rounded down. So it takes 4.4 s of updates at the shortest interval to move half the way,
    and it never moves the last 31 pages. Dirty pages never raise it.

    It starts above the threshold because nothing lowers it before a writer is throttled. writeback_set_ratelimit sets
    it to the current threshold. This happens at boot (page_writeback_init, and as each CPU comes online), before there
    are reserves, slabs and processes. Later it happens only if the value of vm.dirty_ratio or vm.dirty_bytes changes,
    or if CPUs or memory are added or removed. The threshold itself is recomputed at each use (domain_dirty_limits) and
    shrinks with the dirtyable memory.

    Only a writer above freerun makes an update, in balance_dirty_pages, if the bandwidth of its device is older than
    BANDWIDTH_INTERVAL_NS (__wb_update_bandwidth, domain_update_dirty_limit). The flusher also refreshes that bandwidth,
    but makes no update (wb_update_bandwidth). An update does not lower the limit while the dirty pages are at it, as
    they are when writers wait for a slow device.

    Args:
        thresholds: the dirty threshold at each update.
        dirty: the dirty pages at each update.
        start: the dirty limit before the first update, in pages.
    """
    limit, limits = int(start), []
    rows = np.broadcast_arrays(np.atleast_1d(_pages(thresholds)), _pages(dirty))
    for threshold, pages in zip(*(row.tolist() for row in rows), strict=True):
        if limit < threshold:
            limit = threshold
        else:
            limit -= max(0, limit - max(threshold, pages)) >> 5
        limits.append(limit)
    return np.array(limits, dtype=np.int64)


def flush_time_s(background_bytes: ArrayLike, write_bps: ArrayLike) -> Floats:
    """Return the time that a device takes to write as many bytes as the background threshold, in s.

    This is the lab's bound for a pause that lasts one flush. It is an estimate: the kernel does not limit a flush to
    the background threshold, and dirty memory may reach the hard dirty limit.

    Args:
        background_bytes: the background threshold, in bytes.
        write_bps: the throughput of the device, in bytes/s, above 0.
    """
    return np.asarray(background_bytes, np.float64) / np.asarray(write_bps, np.float64)


def _pages(value: ArrayLike) -> Pages:
    return np.asarray(value, dtype=np.int64)


def _position(dirty: ArrayLike, setpoint: ArrayLike, limit: ArrayLike) -> Pages:
    """Return the position ratio in 1/1024."""
    pages, center, end = _pages(dirty), _pages(setpoint), _pages(limit)
    below = (center - pages) << _SHIFT
    x = np.sign(below) * (np.abs(below) // ((end - center) | 1))  # truncated to 0, as in C
    x = np.clip(x, -2 * _ONE, 2 * _ONE)  # avoids overflow far out, where the result is clamped anyway
    cubic = ((x * x >> _SHIFT) * x >> _SHIFT) + _ONE
    return np.where(pages >= end, 0, np.clip(cubic, 0, 2 * _ONE))
