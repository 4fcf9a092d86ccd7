"""The waits in long pauses of loads: of which kind, in which system call, and behind which task, from `why`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import UNEXPLAINED, account
from wblab.analysis.why.explain import call_of
from wblab.analysis.why.explanations import Explained, explanations_of
from wblab.core.errors import InputError
from wblab.report.quantities import percent

INODE = "inode under writeback"  # a wait for I_SYNC: see wblab.analysis.why.kinds
_MOST_UNKNOWN = 0.5  # of paused time; it is more if the kernel records no stacks
_LEAST_SHOWN = 0.005


@dataclass(frozen=True)
class Waits:
    """Pauses over a threshold split by kind of wait, in ns; opens: the part in openat.

    inode_ns: time in which the load, or a task in the chain that blocks it, waited for an inode being written.
    """

    paused_ns: int
    parts: Mapping[str, int]
    opens: Mapping[str, int]
    inode_ns: int

    @property
    def inode_share(self) -> float:
        """The share of paused time spent waiting for an inode being written, in %."""
        return 100 * self.inode_ns / self.paused_ns

    @property
    def open_share(self) -> float:
        """The share of paused time spent in openat, in %."""
        return 100 * sum(self.opens.values()) / self.paused_ns


def waits_of(run: Run, names: Sequence[str], bound_ns: int) -> Waits | None:
    """Return the waits in these loads' pauses; None without pauses, or if nothing recorded explains them."""
    try:
        explained = explanations_of(run, names, bound_ns)
    except InputError:
        return None
    parts: Counter[str] = Counter()
    opens: Counter[str] = Counter()
    for item in explained:
        parts.update(item.explanation.parts)
        opens.update(_in_openat(run, item))
    chains = [chain for item in explained for chain in item.explanation.chains]
    inode_ns = sum(chain.time_ns for chain in chains if any(what == INODE for _, what in chain.links))
    paused_ns = parts.total()
    if not paused_ns or parts[UNEXPLAINED] > _MOST_UNKNOWN * paused_ns:
        return None
    return Waits(paused_ns, parts, opens, inode_ns)


def share_text(parts: Sequence[Mapping[str, int]], whole_ns: int) -> str:
    """Return the parts, added up, as text: each as a share of the whole, largest first."""
    total: Counter[str] = Counter()
    for each in parts:
        total.update(each)
    shares = [
        f"{what} {percent(time_ns / whole_ns)}"
        for what, time_ns in total.most_common()
        if time_ns > _LEAST_SHOWN * whole_ns
    ]
    return ", ".join(shares) or "nothing"


def _in_openat(run: Run, explained: Explained) -> Mapping[str, int]:
    """Return a pause's waits in openat, in ns by kind."""
    item, recorded = explained.explanation, explained.recorded
    span_ns = (item.start_ns + run.zero_ns, item.end_ns + run.zero_ns)
    found: Counter[str] = Counter()
    for wait in account(recorded, run.load(item.load).pid, *span_ns).waits:
        if call_of(recorded.sleep_stack(wait.row)) == "openat":
            found[wait.kind] += wait.time_ns
    return found
