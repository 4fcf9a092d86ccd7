"""Whether writeback caused a pause, judged by the ends of its chains."""

from collections.abc import Sequence
from typing import Literal

from wblab.analysis.why.account import ASLEEP, CUT_OFF, RUNNABLE, RUNNING, STOPPED, UNEXPLAINED, Chain
from wblab.analysis.why.kinds import UNKNOWN
from wblab.analysis.why.tasks import is_kernel_thread

# writeback: also the journal, a disk or memory reclaim. not known: the trace does not show it.
Blame = Literal["writeback", "not writeback", "not known"]

# What a task waited for is not known if a timer or a signal ended its wait for one of these: it may be polling, and
# nobody shows who held a lock.
_ASKED = ("task", "io_uring", "file lock", "lock", "sleep", UNKNOWN.name)


def blamed(chains: Sequence[Chain], pause_ns: int) -> Blame:
    """Return the verdict of most of a pause's time; not known if no verdict has more than half."""
    sums: dict[Blame, int] = {"writeback": 0, "not writeback": 0, "not known": 0}
    polls = is_polling(chains, pause_ns)
    for chain in chains:
        sums[_of(chain, polls)] += chain.time_ns
    most = max(sums, key=lambda blame: sums[blame])
    return most if 2 * sums[most] > pause_ns else "not known"


def is_polling(chains: Sequence[Chain], pause_ns: int) -> bool:
    """Whether much of a pause was many short sleeps, as of a program that polls.

    A trace does not show what it polls for.
    """
    asleep = [chain for chain in chains if chain.end == ASLEEP]
    sleeps, slept_ns = sum(chain.waits for chain in asleep), sum(chain.time_ns for chain in asleep)
    longest_ns = max((chain.longest_ns for chain in asleep), default=0)
    return sleeps > 1 and 4 * slept_ns > pause_ns and 2 * longest_ns < slept_ns


def unexplained_ns(chains: Sequence[Chain], pause_ns: int) -> int:
    """Return how much of a pause the trace does not explain, in ns; that includes what a program polled for."""
    ends = (UNEXPLAINED, ASLEEP) if is_polling(chains, pause_ns) else (UNEXPLAINED,)
    return sum(
        chain.time_ns
        for chain in chains
        if chain.end in ends or (chain.end == CUT_OFF and chain.links[-1][1] in _ASKED)
    )


def _of(chain: Chain, polls: bool) -> Blame:
    name, did = chain.links[-1]
    if chain.end == "request" or (chain.end == RUNNING and is_kernel_thread(name)):
        return "writeback"
    if chain.end in ("timer", CUT_OFF):
        return "not known" if did in _ASKED else "writeback"
    if chain.end == ASLEEP:
        return "not known" if polls else "not writeback"
    if chain.end == STOPPED:  # freezing a filesystem writes its data first
        return "not known" if did == "frozen" else "not writeback"
    return "not writeback" if chain.end in (RUNNING, RUNNABLE) else "not known"
