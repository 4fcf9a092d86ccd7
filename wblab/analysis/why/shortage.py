"""Why memory was short when a load waited for some: who had taken it, and what of the load had been swapped out."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from wblab.analysis.why.account import Chain
from wblab.analysis.why.memorypages import Pages, cached_pages, own_pages
from wblab.analysis.why.parties import Parties, together
from wblab.analysis.why.recorded import Recorded
from wblab.core.units import Bytes

SWAP_IN, SWAP_OUT, RECLAIM = "swap-in", "swap-out", "reclaim"  # kinds of wait
_SHORT = frozenset((SWAP_IN, SWAP_OUT, RECLAIM))
_PART = 4  # of a pause: less than a fourth in such waits is not worth a word


@dataclass(frozen=True)
class Shortage:
    """Who took memory until a load waited for some.

    back: the bytes of its own memory that the load got back from swap in the pause. own: what each program had taken
    since the loads began, whether it was swapped out since or not. cache: what it had added to the page cache, as far
    as that was still there.
    """

    back: Bytes = Bytes(0)
    cache: Mapping[str, Bytes] = field(default_factory=dict)
    own: Mapping[str, Bytes] = field(default_factory=dict)

    @property
    def taken(self) -> dict[str, Bytes]:
        """What each program took, the most first."""
        found = Counter({**self.cache}) + Counter({**self.own})
        return {name: Bytes(size) for name, size in found.most_common()}

    @property
    def named(self) -> tuple[str, ...]:
        """Who took most of it; nobody if that is not known."""
        return together(self.taken) if self.taken else ()


def is_short(chains: list[Chain], pause_ns: int) -> bool:
    """Whether a load, or the task that it waited for, waited for memory for a fourth of a pause."""
    return _PART * sum(each.time_ns for each in chains if any(did in _SHORT for _, did in each.links)) >= pause_ns


def shortage_of(
    recorded: Recorded, parties: Parties, pid: int, span_ns: tuple[int, int], start_ns: int
) -> Shortage | None:
    """Return why memory was short for a load in a span of time; None if the trace has no counts of pages.

    start_ns: when the loads began. Before, those that exist get their memory.
    """
    tasks = recorded.tasks
    own, swapped = recorded.once("own pages", lambda: own_pages(recorded.trace, recorded.sequence, tasks))
    cache, left = recorded.once("cached pages", lambda: cached_pages(recorded.trace, recorded.sequence, tasks))
    if not len(own.rank):
        return None
    first, last = (recorded.rank_at(ns) for ns in span_ns)
    begin = recorded.rank_at(start_ns)
    is_mine = (swapped.owner == tasks.lives.key(pid, last)) & (swapped.rank >= first) & (swapped.rank < last)
    back = -swapped.size[is_mine & (swapped.size < 0)].sum()
    taken = [pages.of((pages.rank >= begin) & (pages.rank < last)) for pages in (own, swapped)]
    held = cache.of((cache.rank >= begin) & (cache.rank < last) & (left > last))
    return Shortage(Bytes(int(back)), _summed(parties, [held]), _summed(parties, taken))


def _summed(parties: Parties, found: Iterable[Pages]) -> dict[str, Bytes]:
    """Return the bytes by program, the most first."""
    sums: Counter[str] = Counter()
    for pages in found:
        owners, which = np.unique(pages.owner, return_inverse=True)
        for owner, size in zip(owners.tolist(), np.bincount(which, pages.size).tolist(), strict=True):
            if owner >= 0 and not parties.recorded.tasks.is_kernel(owner):
                sums[parties.owner(owner)] += round(size)
    return {name: Bytes(size) for name, size in sums.most_common() if size > 0}
