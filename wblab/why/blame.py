"""Whether writeback is to blame for a pause: by what its chains end with."""

from collections.abc import Sequence
from typing import Literal

from wblab.why.account import ASLEEP, CUT_OFF, RUNNABLE, RUNNING, STOPPED, UNTOLD, Chain
from wblab.why.kinds import UNKNOWN
from wblab.why.tasks import is_kernel_thread

# writeback: or the journal, a disk, or memory that is to become free. not known: the trace cannot tell.
Blame = Literal["writeback", "not writeback", "not known"]

# Who waits for these until a time is over may ask again and again for something else.
_ASKED = ("task", "io_uring", "file lock", "lock", "sleep", UNKNOWN.name)


def blamed(chains: Sequence[Chain], pause_ns: int) -> Blame:
    """Return what most of a pause says. A pause of which neither says most is not known."""
    sums: dict[Blame, int] = {"writeback": 0, "not writeback": 0, "not known": 0}
    polls = is_polling(chains, pause_ns)
    for chain in chains:
        sums[_of(chain, polls)] += chain.time_ns
    most = max(sums, key=lambda blame: sums[blame])
    return most if 2 * sums[most] > pause_ns else "not known"


def is_polling(chains: Sequence[Chain], pause_ns: int) -> bool:
    """Whether much of a pause was sleep in many goes, as of who asks again and again whether something is done.

    For what it asks no trace tells.
    """
    asleep = [chain for chain in chains if chain.end == ASLEEP]
    goes, slept_ns = sum(chain.waits for chain in asleep), sum(chain.time_ns for chain in asleep)
    longest_ns = max((chain.longest_ns for chain in asleep), default=0)
    return goes > 1 and 4 * slept_ns > pause_ns and 2 * longest_ns < slept_ns


def untold_ns(chains: Sequence[Chain], pause_ns: int) -> int:
    """Return for how long nobody can tell from the trace why a pause went on: for what who polls asked, neither."""
    ends = (UNTOLD, CUT_OFF, ASLEEP) if is_polling(chains, pause_ns) else (UNTOLD, CUT_OFF)
    return sum(chain.time_ns for chain in chains if chain.end in ends)


def _of(chain: Chain, polls: bool) -> Blame:
    name, did = chain.links[-1]
    if chain.end == "request" or (chain.end == RUNNING and is_kernel_thread(name)):
        return "writeback"
    if chain.end == "timer":
        return "not known" if did in _ASKED else "writeback"
    if chain.end == ASLEEP:
        return "not known" if polls else "not writeback"
    if chain.end == STOPPED:  # who froze a filesystem has it written first
        return "not known" if did == "frozen" else "not writeback"
    return "not writeback" if chain.end in (RUNNING, RUNNABLE) else "not known"
