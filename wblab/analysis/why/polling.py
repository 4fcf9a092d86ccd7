"""Tasks that look again and again for something: the trace shows their sleeps, not what they look for.

Such a task may wait for another one that waits for the disk, so its sleeps acquit nobody. What the trace does show is
who went on before its last look, after writeback had kept it for most of that time: the task may have waited for that.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wblab.analysis.runs.run import Run
from wblab.analysis.why.account import ASLEEP, REQUEST, RUNNABLE, RUNNING, Chain, chains
from wblab.analysis.why.blame import Blame, blame_of, is_own_sleep
from wblab.analysis.why.parties import Parties
from wblab.analysis.why.paths import FileChange
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.request import IoRequest, request_of

_SHARE = 4  # of a pause, at least a fourth is spent asleep
_MOST = 2
_LITTLE = 0.01  # of a pause: what is left of the load's own sleep after the one that it meant
_JUST = 0.01  # of a pause: a task that runs, rather than sleeps, may look all the time


@dataclass(frozen=True)
class KeptByWriteback:
    """A task that writeback kept for most of the time, and that then went on before another one's last look.

    kept_ns: how long; chain, request: the longest of its waits, and the request that ended it, if one did. did: what it
    then did with the file that the other one looked for, in words; empty if that is not known.
    """

    name: str
    load: str
    kept_ns: int
    chain: Chain
    request: IoRequest | None
    did: str = ""


@dataclass(frozen=True)
class Polling:
    """A task that looked for something, as far as its sleeps show.

    times: how often it slept or waited with a timeout; 0 if it ran all the time. kept: what it may have waited for.
    sought: the file that it looked for and that somebody changed before its last look; empty if the trace has none. by:
    who changed it, and how.
    """

    task: str
    times: int
    longest_ns: int
    is_asleep: bool
    kept: tuple[KeptByWriteback, ...]
    sought: str = ""
    by: str = ""

    @property
    def is_known(self) -> bool:
        """Whether it waited for a task that writeback had kept: that changed the file that it looked for."""
        return any(each.did for each in self.kept)

    @property
    def may_wait(self) -> bool:
        """Whether it may have waited for something else: it looked more than once, or somebody went on meanwhile."""
        return self.times > 1 or bool(self.kept)

    @property
    def blame(self) -> Blame:
        """Whether writeback caused what it did by itself, asleep or running."""
        if self.is_known:
            return "writeback"
        return "not known" if self.may_wait else "not writeback"

    def holds(self, chain: Chain) -> bool:
        """Whether a chain of the pause is part of it."""
        if self.times:
            return is_own_sleep(chain)
        return chain.end in (RUNNING, RUNNABLE) and chain.links[-1][0] == self.task


def polling_of(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, parties: Parties, found: Sequence[Chain], pause_ns: int, span_ns: tuple[int, int]
) -> Polling | None:
    """Return what the chains of a pause show of polling; None if its time was spent otherwise. span_ns: its time."""
    start_ns, end_ns = span_ns
    slept = [each for each in found if is_own_sleep(each) and each.time_ns > _LITTLE * pause_ns]
    if _SHARE * sum(each.time_ns for each in slept) > pause_ns:
        spans, longest = recorded.offcpu, max(slept, key=lambda each: each.time_ns)
        last = max((each.last_row for each in slept), key=lambda row: int(spans.ts_ns[row]))
        window_ns = int(spans.ts_ns[last]), _last_look_ns(recorded, last, end_ns)
        own = {int(spans.pid[row]) for each in slept for row in (each.row, each.last_row)}
        own |= {recorded.tasks.parents[pid] for pid in own if pid in recorded.tasks.parents}  # a shell looks itself
        ranks = np.searchsorted(recorded.sequence.ts_ns, [start_ns, *window_ns]).tolist()
        change = _change(recorded, own, ranks)
        kept = _kept(run, recorded, parties, start_ns, window_ns, own)
        sought, by = _sought(recorded, change)
        return Polling(
            task=_sleeper(recorded, longest),
            times=sum(each.waits for each in slept),
            longest_ns=max(each.longest_ns for each in slept),
            is_asleep=all(each.end == ASLEEP for each in slept),
            kept=_by_change(recorded, kept, change),
            sought=sought,
            by=by,
        )
    ran = [each for each in found if each.end in (RUNNING, RUNNABLE) and len(each.links) > 1]
    ran = [each for each in ran if not each.kernel]
    if 2 * sum(each.time_ns for each in ran) <= pause_ns:
        return None
    name = ran[0].links[-1][0]
    own = {pid for pid in np.unique(recorded.offcpu.pid).tolist() if recorded.name(pid) == name}
    window_ns = end_ns - round(_JUST * pause_ns), end_ns
    kept = _kept(run, recorded, parties, start_ns, window_ns, own)
    change = _change(recorded, own, np.searchsorted(recorded.sequence.ts_ns, [start_ns, *window_ns]).tolist())
    others = _by_change(recorded, kept, change)
    sought, by = _sought(recorded, change)
    return Polling(name, 0, ran[0].longest_ns, False, others, sought, by) if others else None


def _last_look_ns(recorded: Recorded, row: int, end_ns: int) -> int:
    """Return when the last look ended: after a sleep, or a wait in the same place that somebody ended in time."""
    spans = recorded.offcpu
    woken_ns = int(spans.woken_ns[recorded.ends(row)])
    later = spans.rows(int(spans.pid[row]), woken_ns, end_ns)
    again = [
        each
        for each in later
        if each > row
        and recorded.sleep_stack(each) == recorded.sleep_stack(row)
        and recorded.verdict(each).context == "task"
    ]
    return min(end_ns, int(spans.woken_ns[recorded.ends(again[0])])) if again else woken_ns


def _sought(recorded: Recorded, change: FileChange | None) -> tuple[str, str]:
    """Return the file that was looked for, and who changed it, in words; empty if the trace does not show it."""
    return (change.path, f"{recorded.name(change.pid)} {change.did}") if change else ("", "")


def _change(recorded: Recorded, pids: set[int], ranks: Sequence[int]) -> FileChange | None:
    """Return the last change, by another task, of a file that tasks had looked for again and again; None if none.

    ranks: the places in the trace of the first look, of the one before the last, and of the last.
    """
    first, before, last = ranks
    looked = recorded.paths.looked(pids, first, last)
    own = [each for each in recorded.paths.changed(before, last) if each.pid not in pids and looked.get(each.path, 0)]
    return max(own, key=lambda each: (looked[each.path] > 1, each.rank), default=None)


def _by_change(
    recorded: Recorded, kept: tuple[KeptByWriteback, ...], change: FileChange | None
) -> tuple[KeptByWriteback, ...]:
    """Return of some tasks the one that made a change, or whose load did; all of them if the change is not known."""
    if change is None:
        return kept
    name, load = recorded.name(change.pid), recorded.tasks.load_of(change.pid)
    did = f"{change.did} {change.path}"
    return tuple(replace(each, did=did) for each in kept if each.name == name or each.load == load != "")


def _sleeper(recorded: Recorded, chain: Chain) -> str:
    """Return who slept; if its children did so in turn, the parent, which looks in between."""
    pids = recorded.offcpu.pid
    are_children = len(chain.links) > 1 and pids[chain.row] != pids[chain.last_row]
    return chain.links[-2 if are_children else -1][0]


def _kept(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, parties: Parties, start_ns: int, window_ns: tuple[int, int], without: set[int]
) -> tuple[KeptByWriteback, ...]:
    """Return the tasks that went on in a window, after writeback had kept them for most of the time; longest first."""
    spans, (from_ns, until_ns) = recorded.offcpu, window_ns
    blocked_ns = np.minimum(spans.woken_ns, until_ns) - np.maximum(spans.ts_ns, start_ns)
    tasks, places = np.unique(spans.pid, return_inverse=True)
    sums_ns = np.bincount(places, np.maximum(blocked_ns, 0), len(tasks))
    went = np.unique(spans.pid[(spans.woken_ns > max(from_ns, start_ns)) & (spans.woken_ns <= until_ns)])
    found = []
    for pid in np.intersect1d(tasks[2 * sums_ns > until_ns - start_ns], went).tolist():
        if pid in without or recorded.tasks.is_kernel(pid):
            continue
        its = [each for each in chains(recorded, pid, start_ns, until_ns) if blame_of(each) == "writeback"]
        kept_ns = sum(each.time_ns for each in its)
        if 2 * kept_ns > until_ns - start_ns:
            request = request_of(run, recorded, parties, its[0].row) if its[0].end == REQUEST else None
            found.append(KeptByWriteback(recorded.name(pid), recorded.tasks.load_of(pid), kept_ns, its[0], request))
    by_itself = [each for each in found if not any(_waited_for(each, other) for other in found)]
    return tuple(sorted(by_itself, key=lambda each: -each.kept_ns)[:_MOST])


def _waited_for(one: KeptByWriteback, other: KeptByWriteback) -> bool:
    """Whether a task only waited for another of its own load, such as its child."""
    return one.load == other.load != "" and other.name in {name for name, _ in one.chain.links[1:]}
