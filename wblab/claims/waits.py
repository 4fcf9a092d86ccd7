"""What long pauses of loads consist of: which waits, in which system call, and who held whom (wblab.why)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wblab.core.errors import InputError
from wblab.data.run import Run
from wblab.report.quantities import percent
from wblab.why.account import UNTOLD, account
from wblab.why.explain import call_of
from wblab.why.told import Explained, explanations_of

INODE = "inode under writeback"  # a wait for I_SYNC: see wblab.why.kinds
_MOST_UNKNOWN = 0.5  # of paused time; a kernel that records no stacks has more
_LEAST_SHOWN = 0.005


@dataclass(frozen=True)
class Waits:
    """Pauses over a bound taken apart, in ns: what they consist of, by kind of wait, and what of that was in openat.

    inode_ns: when the load, or who held it, link by link, waited for an inode that was being written.
    """

    paused_ns: int
    parts: Mapping[str, int]
    opens: Mapping[str, int]
    inode_ns: int

    @property
    def inode_share(self) -> float:
        """The share of the pauses that were waits for an inode that was being written, in %."""
        return 100 * self.inode_ns / self.paused_ns

    @property
    def open_share(self) -> float:
        """The share of the pauses that were waits in openat, in %."""
        return 100 * sum(self.opens.values()) / self.paused_ns


def waits_of(run: Run, names: Sequence[str], bound_ns: int) -> Waits | None:
    """Return what the pauses of these loads consist of; None without pauses, or where nothing recorded tells it."""
    try:
        told = explanations_of(run, names, bound_ns)
    except InputError:
        return None
    parts: Counter[str] = Counter()
    opens: Counter[str] = Counter()
    for item in told:
        parts.update(item.explanation.parts)
        opens.update(_in_openat(run, item))
    chains = [chain for item in told for chain in item.explanation.chains]
    inode_ns = sum(chain.time_ns for chain in chains if any(what == INODE for _, what in chain.links))
    paused_ns = parts.total()
    if not paused_ns or parts[UNTOLD] > _MOST_UNKNOWN * paused_ns:
        return None
    return Waits(paused_ns, parts, opens, inode_ns)


def share_text(parts: Sequence[Mapping[str, int]], whole_ns: int) -> str:
    """Return what some sums consist of, in words, as shares of a whole; the most first."""
    total: Counter[str] = Counter()
    for each in parts:
        total.update(each)
    said = [
        f"{what} {percent(time_ns / whole_ns)}"
        for what, time_ns in total.most_common()
        if time_ns > _LEAST_SHOWN * whole_ns
    ]
    return ", ".join(said) or "nothing"


def _in_openat(run: Run, told: Explained) -> Mapping[str, int]:
    """Return the waits of a pause that were in openat, in ns by kind."""
    item, recorded = told.explanation, told.recorded
    span_ns = (item.start_ns + run.zero_ns, item.end_ns + run.zero_ns)
    found: Counter[str] = Counter()
    for wait in account(recorded, run.load(item.load).pid, *span_ns).waits:
        if call_of(recorded.sleep_stack(wait.row)) == "openat":
            found[wait.kind] += wait.time_ns
    return found
