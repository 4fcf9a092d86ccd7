"""Whether writeback caused a pause, judged by the ends of its chains."""

from collections.abc import Sequence
from typing import Literal

from wblab.analysis.why.account import ASKED, ASLEEP, CUT_OFF, RUNNABLE, RUNNING, STOPPED, UNEXPLAINED, Chain
from wblab.analysis.why.kinds import UNKNOWN

# writeback: also the journal, a disk, a filesystem's server or memory reclaim. not known: the trace does not show it.
Blame = Literal["writeback", "not writeback", "not known"]

# What a task waited for is not known if a timer or a signal ended its wait for one of these: it may be polling, and
# nobody shows who held a lock.
_ASKED = ("task", "io_uring", "file lock", "lock", "sleep", UNKNOWN.name)
_TIMED = ("task", "io_uring")  # kinds of wait that a timeout of the task's own may end


def blamed(chains: Sequence[Chain], pause_ns: int, own: Blame = "not writeback") -> Blame:
    """Return the verdict of most of a pause's time; not known if no verdict has more than half.

    own: the verdict on what a task did by itself, asleep or running: see `polling`.
    """
    sums: dict[Blame, int] = {"writeback": 0, "not writeback": 0, "not known": 0}
    for chain in chains:
        sums[blame_of(chain, own)] += chain.time_ns
    most = max(sums, key=lambda blame: sums[blame])
    return most if 2 * sums[most] > pause_ns else "not known"


def is_own_sleep(chain: Chain) -> bool:
    """Whether a task's own timer ended a chain: a sleep, or the timeout of a wait for another task."""
    return chain.end == ASLEEP or (chain.end == "timer" and chain.links[-1][1] in _TIMED)


def unexplained_ns(chains: Sequence[Chain], own: Blame = "not writeback") -> int:
    """Return how much of a pause the trace does not explain, in ns; that includes what a program polled for."""
    ends = (UNEXPLAINED, ASLEEP) if own == "not known" else (UNEXPLAINED,)
    return sum(
        chain.time_ns
        for chain in chains
        if chain.end in ends or (chain.end == CUT_OFF and chain.links[-1][1] in _ASKED)
    )


def blame_of(chain: Chain, own: Blame = "not writeback") -> Blame:
    """Return the verdict of one chain by its end."""
    did = chain.links[-1][1]
    if chain.end in ASKED or (chain.end == RUNNING and chain.kernel):
        return "writeback"
    if chain.end == ASLEEP or (is_own_sleep(chain) and own == "writeback"):
        return own
    if chain.end in ("timer", CUT_OFF):
        return "not known" if did in _ASKED else "writeback"
    if chain.end == STOPPED:  # freezing a filesystem writes its data first
        return "not known" if did == "frozen" else "not writeback"
    if chain.end in (RUNNING, RUNNABLE):
        return own if len(chain.links) > 1 else "not writeback"
    return "not known"
