"""A pause explained: its time by cause, the chain of waiting tasks, and the I/O ahead in the queue."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wblab.analysis.runs.pauses import DEFAULT_BOUND_NS
from wblab.analysis.runs.run import LoadCycles, Run
from wblab.analysis.why.account import (
    ANSWER,
    ASKED,
    ASLEEP,
    REQUEST,
    RUNNABLE,
    RUNNING,
    UNEXPLAINED,
    Account,
    Chain,
    Wait,
    account,
    chains,
    followed,
)
from wblab.analysis.why.again import read_again
from wblab.analysis.why.background import Background, background_of, is_kicked, limit_fell, sync_callers
from wblab.analysis.why.blame import Blame, blamed, unexplained_ns
from wblab.analysis.why.charges import UNKNOWN as NOT_SHOWN
from wblab.analysis.why.charges import Charge, Charges, scaled
from wblab.analysis.why.devicelimits import below, device_name, disk_of, stacked
from wblab.analysis.why.dirtylimits import DirtyLimit, limit_of, members
from wblab.analysis.why.flushed import NOBODY
from wblab.analysis.why.heldobjects import FILE, identified, lock_of
from wblab.analysis.why.inodes import Inodes, own_path, read_inodes
from wblab.analysis.why.kinds import what_of
from wblab.analysis.why.memberships import memberships, those_of
from wblab.analysis.why.offcpu import Stack
from wblab.analysis.why.parties import MEMORY, Parties, is_of_load, joined, read_parties, together
from wblab.analysis.why.polling import Polling, polling_of
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.request import IoRequest, request_of
from wblab.analysis.why.requests import Party, device_number
from wblab.analysis.why.served import Shares, as_bytes, served
from wblab.analysis.why.servedrecord import served_disks
from wblab.analysis.why.servers import answers, served_disk
from wblab.analysis.why.shortage import Shortage, is_short, shortage_of
from wblab.analysis.why.spent import Spent, spent_of
from wblab.analysis.why.synced import synced_by
from wblab.core.spec import Spec
from wblab.core.units import Bytes

_CALL = re.compile(r"(?:(?:__x64_|__se_|__do_|k)?sys_|do_(?=p?(?:read|write)v$))(\w+)")
_BTRFS = "btrfs"
_THROTTLED, _FILE_LOCK, _LOCK = "throttled", "file lock", "lock"
NO_ONE = "nobody"  # the processor was idle
_OWN = (ASLEEP, "task", RUNNING, RUNNABLE)  # a load's intended sleep is subtracted from these, in this order


@dataclass(frozen=True)
class Cause:
    """All waits of one kind in a pause, and the longest of them in detail.

    call: the system call; functions: from there down to where it slept. block: the disk's block that it waited for, -1
    if none or unknown; is_of: what the block is a part of, see `objects.identified`, or whose lock it is. file: the
    file that it waited for, or for its lock or a page of it: inode and name, as far as known. written, dirty: while
    throttled, the bytes that the disk completed, and those dirty when that began, by who dirtied them; places: the
    dirty bytes by disk. events: the evidence, as places in the trace. task: the load's child that waited; empty for the
    load itself. limit: while throttled, the limit that did it; dirty and places count only what that limit counts.
    idle_ns: for how long of that time the first disk of `places` served nothing; 0 if that is not known. worked: the
    bytes that it wrote to its medium in that time, by who dirtied them, the most time first. outside: if the load alone
    reached its group's limit, what that disk wrote meanwhile for others, if that took most of the time. gone_ns: how
    much of that time the server of that disk was gone, if it has one.
    """

    kind: str
    what: str
    time_ns: int
    waits: int
    longest_ns: int
    call: str
    functions: Stack
    woken_in: Stack
    waker: str
    block: int
    is_of: str
    file: str
    request: IoRequest | None
    written: dict[str, Bytes]
    dirty: dict[str, Bytes]
    events: tuple[int, ...]
    disk: str = "the disk"
    places: dict[str, Bytes] = field(default_factory=dict)
    task: str = ""
    limit: DirtyLimit = DirtyLimit()
    idle_ns: int = 0
    worked: dict[str, Bytes] = field(default_factory=dict)
    outside: dict[str, Bytes] = field(default_factory=dict)
    gone_ns: int = 0

    @property
    def has_turned_over(self) -> bool:
        """Whether the disk wrote more meanwhile than was dirty when a throttled wait began: then that decides."""
        return sum(self.worked.values()) > sum(self.dirty.values())

    @property
    def whose(self) -> str:
        """Whose data kept a throttled load waiting, of several as `joined`; empty if nobody's or unknown."""
        return "" if self.is_limit_alone or self.is_gone else joined(self.named)

    @property
    def is_gone(self) -> bool:
        """Whether the server of the mount was gone while its limit throttled the load: then nobody's data decide."""
        return 2 * self.gone_ns > self.time_ns

    @property
    def named(self) -> tuple[str, ...]:
        """Those whose data these are, see `together`; or those for whom the disk worked instead."""
        return together(self.counted)

    @property
    def counted(self) -> dict[str, Bytes]:
        """The bytes that decide whose it was, by who dirtied them."""
        return self.outside or (self.worked if self.has_turned_over else self.dirty)

    @property
    def is_limit_alone(self) -> bool:
        """Whether a limit throttled the load while the disk was mostly idle: then nobody's data kept it waiting."""
        return 2 * self.idle_ns > self.time_ns

    @property
    def is_disk_known(self) -> bool:
        """Whether the disk is one of several of the run: of a live run, or one that failed, it is not known which."""
        return "*" in self.disk

    @property
    def is_elsewhere(self) -> bool:
        """Whether dirty bytes are other disks' than the one that the load writes to."""
        others = set(self.places) - {self.disk}
        return bool(others) if self.is_disk_known else len(self.places) > 1


@dataclass(frozen=True)
class Explanation:
    """One pause of a load. Times are ns; `start_ns` is the begin of its cycle, since the run's start.

    parts and chains add up to the pause. requests: for each chain, the request that ended its longest wait, if one did.
    charges: the time of all chains that end with a request or an answer, by what disks and servers did meanwhile.
    ran: if the load, or the task that it waited for, was mostly ready without a processor, how long each other task ran
    meanwhile, the longest first.
    polling: the task whose own sleeps are much of the pause, None if that is no task.
    background: where the longest chain that ends with a request waited for data, the flusher's work that wrote most of
    them, if the background limit began it.
    is_last: whether the run's end stopped the load in this cycle.
    synced: how often tasks of each other party began to sleep in fsync.
    callers: who had called sync or syncfs, if the flusher wrote most of what was ahead of the load for that.
    kickers: the loads that write with RWF_DONTCACHE, if the flusher wrote most of what was ahead because of that.
    again: the bytes that the load asked to read although they had been in memory before.
    spent: a disk whose credits were used up, or that was at its limit of requests, for most of the time that it worked.
    shortage: why memory was short, if the load waited for some for a fourth of the pause or more.
    groups: the control groups of the load and of those whose data or requests count, by name.
    """

    load: str
    number: int
    start_ns: int
    end_ns: int
    pause_ns: int
    parts: dict[str, int]
    chains: tuple[Chain, ...]
    causes: tuple[Cause, ...]
    requests: tuple[IoRequest | None, ...] = ()
    ran: dict[str, int] = field(default_factory=dict)
    charges: tuple[Charge, ...] = ()
    polling: Polling | None = None
    background: Background | None = None
    is_last: bool = False
    spent: Spent | None = None
    synced: Mapping[str, int] = field(default_factory=dict)
    again: Bytes = Bytes(0)
    callers: tuple[str, ...] = ()
    kickers: tuple[str, ...] = ()
    shortage: Shortage | None = None
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def unknown_ns(self) -> int:
        """The time for which the stacks of sleeper and waker are missing or disagree."""
        return self.parts.get(UNEXPLAINED, 0)

    @property
    def blame(self) -> Blame:
        """Whether writeback caused most of it."""
        return blamed(self.chains, self.pause_ns, self._own)

    @property
    def unexplained_ns(self) -> int:
        """The time whose chain ends without a known cause, or for which nothing shows what held its request."""
        not_shown_ns = sum(charge.time_ns for charge in self.charges if charge.layer == NOT_SHOWN)
        return min(self.pause_ns, unexplained_ns(self.chains, self._own) + not_shown_ns)

    @property
    def _own(self) -> Blame:
        return self.polling.blame if self.polling else "not writeback"


def explain(run: Run, recorded: Recorded, load: str = "", bound_ns: int = DEFAULT_BOUND_NS) -> list[Explanation]:
    """Explain each pause over a bound, of one load or of all that are not offenders, in the order of time."""
    chosen = [run.load(load)] if load else [item for item in run.loads if item.load.role != "offender"]
    found = [
        (int(item.boundaries_ns[row]), item, int(row))
        for item in chosen
        for row in np.flatnonzero(item.pauses_ns > bound_ns)
    ]
    if not found:
        return []
    ordered = sorted(found, key=lambda each: each[0])
    inodes, parties = read_inodes(run, recorded), read_parties(recorded)
    explained = [
        _explained(run, recorded, inodes, parties, item, row, number)
        for number, (_, item, row) in enumerate(ordered, 1)
    ]
    groups = memberships(run, parties)
    return [replace(each, groups=those_of(groups, _counted(each))) for each in explained]


def _counted(item: Explanation) -> list[str]:
    """Return a load and the parties whose data, requests or computing counted in a pause of it."""
    ahead = [name for request in item.requests if request for name in request.ahead]
    counted = [name for cause in item.causes for name in cause.counted]
    took = item.shortage.named if item.shortage else ()
    return [item.load, *ahead, *counted, *took, *(charge.party for charge in item.charges), *item.ran, *item.synced]


def _explained(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, inodes: Inodes, parties: Parties, item: LoadCycles, row: int, number: int
) -> Explanation:
    start_ns, end_ns = (int(item.boundaries_ns[at]) for at in (row, row + 1))
    pause_ns = int(item.pauses_ns[row])
    spent, linked = account(recorded, item.pid, start_ns, end_ns), chains(recorded, item.pid, start_ns, end_ns)
    meant_ns = end_ns - start_ns - pause_ns
    until_ns = max((wait.end_ns for wait in spent.waits if wait.kind != ASLEEP), default=end_ns)
    left, parts = _chains_without(linked, meant_ns), without(spent.parts, meant_ns)
    requests = [request_of(run, recorded, parties, chain.row) if chain.end == REQUEST else None for chain in left]
    charges = _charges(run, recorded, inodes, parties, left, (start_ns, end_ns))
    causes = _causes(run, recorded, inodes, parties, item, spent)
    return Explanation(
        load=item.name,
        number=number,
        start_ns=start_ns - run.zero_ns,
        end_ns=end_ns - run.zero_ns,
        pause_ns=pause_ns,
        parts=parts,
        chains=tuple(left),
        requests=tuple(requests),
        causes=tuple(causes),
        ran=_ran(recorded, parties, item.pid, start_ns, end_ns)
        if 2 * parts.get(RUNNABLE, 0) > pause_ns
        else _ran_beside(recorded, parties, left, (start_ns, end_ns), meant_ns),
        charges=charges,
        polling=polling_of(run, recorded, parties, left, pause_ns, (start_ns, until_ns)),
        background=_background(run, recorded, parties, requests),
        spent=spent_of(run, recorded, (start_ns, end_ns)),
        callers=_callers(run, recorded, parties, requests),
        kickers=_kickers(run, recorded, requests),
        again=_again(recorded, parties, item, (start_ns, end_ns)),
        shortage=_shortage(run, recorded, parties, item, (left, charges, causes), (start_ns, end_ns, pause_ns)),
        synced=synced_by(recorded, parties, item.pid, (start_ns, end_ns)),
        is_last=not item.load.ends
        and row == len(item.boundaries_ns) - 2
        and end_ns - until_ns < item.load.idle_ns(row),  # it did not sleep after it
    )


def _callers(run: Run, recorded: Recorded, parties: Parties, requests: list[IoRequest | None]) -> tuple[str, ...]:
    """Return who had called sync, if most data ahead of the first request were written for that."""
    first = next(filter(None, requests), None)
    if first is None:
        return ()
    span = recorded.rank_at(first.handed_ns), recorded.rank_at(first.done_ns)
    return sync_callers(recorded, parties, below(run, first.device), span)


def _kickers(run: Run, recorded: Recorded, requests: list[IoRequest | None]) -> tuple[str, ...]:
    """Return the loads that write to a disk with RWF_DONTCACHE, if most data ahead of the first request are of that."""
    first = next(filter(None, requests), None)
    if first is None or not isinstance(run.spec, Spec):
        return ()
    span = recorded.rank_at(first.handed_ns), recorded.rank_at(first.done_ns)
    device = below(run, first.device)
    if not is_kicked(recorded, device, span):
        return ()
    flagged = [name for name, load in run.spec.load.items() if getattr(load, "dontcache", False)]
    known = recorded.dirtied
    wrote = {recorded.tasks.load_of(key) for key in np.unique(known.pid[known.rank < span[1]]).tolist()}
    return tuple(name for name in flagged if name in wrote and _device_of(run, run.load(name)) == device)


def _shortage(  # noqa: PLR0913, PLR0917
    run: Run,
    recorded: Recorded,
    parties: Parties,
    item: LoadCycles,
    found: tuple[list[Chain], Sequence[Charge], Sequence[Cause]],
    span: tuple[int, int, int],
) -> Shortage | None:
    """Return why memory was short in a pause, if that is what it was about; span: begin and end of its cycle, and it.

    That is if the load waited for memory, or behind memory that the kernel wrote to swap, or at a dirty limit that had
    fallen with the memory that is free. found: its chains, charges and causes.
    """
    (chains_, charges, causes), (start_ns, end_ns, pause_ns) = found, span
    begun_ns = min(int(each.boundaries_ns[0]) for each in run.loads)
    waits = is_short(chains_, pause_ns)
    swapped_ns = sum(charge.time_ns for charge in charges if charge.party.endswith(MEMORY))
    limit_ns = sum(cause.time_ns for cause in causes if cause.kind == _THROTTLED and cause.is_limit_alone)
    has_fallen = 2 * limit_ns > pause_ns and limit_fell(recorded, recorded.rank_at(begun_ns), recorded.rank_at(end_ns))
    if not waits and not has_fallen and 2 * swapped_ns <= pause_ns:
        return None
    known = shortage_of(recorded, parties, item.pid, (start_ns, end_ns), begun_ns)
    return known if waits or known is None else replace(known, back=Bytes(0))


def _again(recorded: Recorded, parties: Parties, item: LoadCycles, span_ns: tuple[int, int]) -> Bytes:
    """Return the bytes that a load asked to read although they had been in memory; 0 if it drops them itself."""
    if getattr(item.load, "cache", "") == "cold":
        return Bytes(0)
    found = read_again(recorded, parties, span_ns)
    return Bytes(sum(size for name, size in found.items() if is_of_load(item.name, name)))


def _background(run: Run, recorded: Recorded, parties: Parties, requests: list[IoRequest | None]) -> Background | None:
    """Return the flusher's work that wrote the data ahead of the first request, if the background limit began it."""
    first = next(filter(None, requests), None)
    if first is None:
        return None
    span = recorded.rank_at(first.handed_ns), recorded.rank_at(first.done_ns)
    name = device_name(run, first.device)
    is_btrfs = isinstance(run.spec, Spec) and bool(name) and run.spec.disk[name].filesystem == _BTRFS
    return background_of(recorded, parties, below(run, first.device), span, is_btrfs=is_btrfs)


def _charges(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, inodes: Inodes, parties: Parties, found: list[Chain], span_ns: tuple[int, int]
) -> tuple[Charge, ...]:
    """Return what disks and servers did while chains waited for them; without the load's intended sleep."""
    charges = Charges(run, recorded, parties)
    waited_ns, meant_ns = 0, 0
    for chain in (each for each in found if each.end in ASKED):
        for row, start_ns, end_ns in chain.spans:
            if chain.end == ANSWER:
                if server := _server(run, recorded, row):
                    charges.answered(answers(run, recorded, inodes, parties, server), start_ns, end_ns)
            else:
                charges.add(recorded.request(row), start_ns, end_ns)
            meant_ns += end_ns - start_ns
        waited_ns += chain.time_ns
    summed = charges.summed(*span_ns)
    return summed if waited_ns == meant_ns else scaled(summed, waited_ns / meant_ns)


def _server(run: Run, recorded: Recorded, row: int) -> str:
    """Return the disk whose server's answer ended the wait that began with a span of `offcpu`; empty if unknown."""
    last = recorded.ends(row)
    return served_disk(run, recorded.name(int(recorded.offcpu.waker[last]), int(recorded.offcpu.wake_rank[last])))


def _ran(recorded: Recorded, parties: Parties, pid: int, start_ns: int, end_ns: int) -> dict[str, int]:
    """Return how long each task ran while this one was ready to run, by name, in ns; the longest first.

    NO_ONE: the processor was idle. Empty for several processors, where other tasks run anyway.
    """
    found: Counter[str] = Counter()
    if np.ptp(recorded.sequence.walked.cpu):
        return {}
    offcpu = recorded.offcpu
    for row in offcpu.rows(pid, start_ns, end_ns):
        ready_ns, on_ns = max(int(offcpu.woken_ns[row]), start_ns), min(int(offcpu.on_ns[row]), end_ns)
        if on_ns > ready_ns:
            ran = offcpu.ran(ready_ns, on_ns)
            found[NO_ONE] += on_ns - ready_ns - sum(ran.values())
            for task, time_ns in ran.items():
                found[parties.owner(recorded.tasks.lives.key(task, recorded.rank_at(on_ns)))] += time_ns
    return {name: time_ns for name, time_ns in found.most_common() if time_ns > 0}


def _ran_beside(
    recorded: Recorded, parties: Parties, found: list[Chain], span_ns: tuple[int, int], meant_ns: int
) -> dict[str, int]:
    """Return how long each task ran in a pause, as `_ran`, if the load mostly waited for one that was ready to run.

    meant_ns: the load's intended sleep in that span.
    """
    chain = found[0] if found else None
    if chain is None or chain.end != RUNNABLE or 2 * chain.time_ns < sum(each.time_ns for each in found):
        return {}
    if len(chain.links) == 1 or np.ptp(recorded.sequence.walked.cpu):
        return {}
    times: Counter[str] = Counter()
    for task, time_ns in recorded.offcpu.ran(*span_ns).items():
        times[parties.owner(recorded.tasks.lives.key(task, recorded.rank_at(span_ns[1])))] += time_ns
    times[NO_ONE] = span_ns[1] - span_ns[0] - meant_ns - times.total()
    return {name: time_ns for name, time_ns in times.most_common() if time_ns > 0 and name != chain.links[-1][0]}


def without(parts: dict[str, int], meant_ns: int) -> dict[str, int]:
    """Return parts without the load's intended sleep; the longest first."""
    left = dict(parts)
    for what in (*_OWN, *left):
        taken = min(meant_ns, left.get(what, 0))
        left[what] = left.get(what, 0) - taken
        meant_ns -= taken
    return {what: time_ns for what, time_ns in sorted(left.items(), key=lambda each: -each[1]) if time_ns}


def _chains_without(found: list[Chain], meant_ns: int) -> list[Chain]:
    """Return chains without the load's intended sleep; the longest first."""
    own = {what: number for number, what in enumerate(_OWN)}
    left = []
    for chain in sorted(
        found, key=lambda each: own.get(each.links[0][1], len(own)) if len(each.links) == 1 else len(own)
    ):
        taken = min(meant_ns, chain.time_ns)
        meant_ns -= taken
        if chain.time_ns > taken:
            left.append(_left_of(chain, taken))
    return sorted(left, key=lambda each: -each.time_ns)


def _left_of(chain: Chain, taken_ns: int) -> Chain:
    """Return a chain without the load's intended sleep, which was the last of its waits."""
    left_ns, meant = chain.time_ns - taken_ns, chain.end == ASLEEP and taken_ns > 0
    longest_ns = min(chain.longest_ns, left_ns)
    waits, last_row = max(1, chain.waits - meant), chain.last_row - meant  # rows are in order of task and time
    return replace(chain, time_ns=left_ns, waits=waits, longest_ns=longest_ns, last_row=last_row)


def _causes(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, inodes: Inodes, parties: Parties, item: LoadCycles, spent: Account
) -> list[Cause]:
    by_kind: dict[tuple[str, str], list[Wait]] = {}
    for wait in (each for own in spent.waits for each in followed(recorded, own)):
        if wait.kind != ASLEEP:
            by_kind.setdefault((recorded.name(int(recorded.offcpu.pid[wait.row])), wait.kind), []).append(wait)
    found = [_cause(run, recorded, inodes, parties, item, kind, waits) for (_, kind), waits in by_kind.items()]
    return sorted(found, key=lambda each: -each.time_ns)


def _cause(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, inodes: Inodes, parties: Parties, item: LoadCycles, kind: str, waits: list[Wait]
) -> Cause:
    longest = max(waits, key=lambda wait: wait.time_ns)
    last = recorded.ends(longest.row)
    stack, spans = recorded.sleep_stack(longest.row), recorded.offcpu
    verdict, pid = recorded.verdict(longest.row), int(spans.pid[longest.row])
    wake_rank = int(spans.wake_rank[last])
    at = recorded.awaited.before(pid, int(spans.rank[longest.row]), _last_sleep(recorded, longest.row))
    block, is_of = _object(run, recorded, inodes, at, stack) if at >= 0 else (NOBODY, "")
    file, file_event = _file(recorded, inodes, pid, longest.row)
    if kind == _LOCK:
        is_of = lock_of(stack)
        file = own_path(run.spec, item.name) if is_of == FILE and pid == item.pid and isinstance(run.spec, Spec) else ""
    if kind == _FILE_LOCK:
        file = recorded.paths.locked(pid, int(spans.rank[longest.row]), recorded.tasks.parents)
    events = [int(recorded.awaited.rank[at]) if at >= 0 else NOBODY, file_event, int(spans.rank[longest.row])]
    request: IoRequest | None = None
    written: dict[str, Bytes] = {}
    dirty: dict[str, Bytes] = {}
    places: dict[str, Bytes] = {}
    gone_ns = 0
    limit, idle_ns, worked, outside = DirtyLimit(), 0, dict[str, Bytes](), dict[str, Bytes]()
    if verdict.context == "request":
        request = request_of(run, recorded, parties, longest.row)
        events.append(int(recorded.done.rank[recorded.request(longest.row)]) if request else NOBODY)
    if kind == _THROTTLED:
        first, end = int(spans.rank[waits[0].row]), int(spans.wake_rank[recorded.ends(waits[-1].row)])
        written = _of_disk(run, recorded, parties, item, first, end)
        limit = limit_of(run, recorded, waits)
        dirty, places, most = _dirty(run, recorded, parties, first, limit)
        span_ns = int(spans.ts_ns[waits[0].row]), int(spans.woken_ns[recorded.ends(waits[-1].row)])
        if (served_one := device_name(run, most)) in served_disks(run):
            did = answers(run, recorded, inodes, parties, served_one).within(*span_ns)
            idle_ns, worked, gone_ns = span_ns[1] - span_ns[0] - did.whole_ns, did.sizes, did.gone_ns
            written = worked if most == _device_of(run, item) else written
        else:
            idle_ns, worked, others = _worked(run, recorded, parties, most, span_ns, limit)
            outside = others if is_of_load(item.name, next(iter(worked or dirty), "")) else outside
    return Cause(
        kind=kind,
        task=recorded.name(pid) if pid != item.pid else "",
        what=what_of(kind),
        time_ns=sum(wait.time_ns for wait in waits),
        waits=len(waits),
        longest_ns=longest.time_ns,
        call=call_of(stack),
        functions=_functions(stack),
        woken_in=recorded.wake_stack(last),
        waker=recorded.name(int(spans.waker[last]), wake_rank) if verdict.context in ("task", "answer") else "",
        block=block,
        is_of=is_of,
        file=file,
        request=request,
        disk=disk_of(run, device) if (device := _device_of(run, item)) >= 0 else "the disk",
        places=places,
        limit=limit,
        idle_ns=idle_ns,
        worked=worked,
        outside=outside,
        gone_ns=gone_ns,
        written=written,
        dirty=dirty,
        events=tuple(rank for rank in (*events, wake_rank) if rank >= 0),
    )


def _object(run: Run, recorded: Recorded, inodes: Inodes, row: int, stack: Stack) -> tuple[int, str]:
    """Return the block of a row of `awaited`, and what it is according to the layout and the sleeper's stack."""
    block, device = (int(column[row]) for column in (recorded.awaited.block, recorded.awaited.device))
    names = [name for name, disk in run.disks.items() if device_number(disk.device) == device]
    layout = run.layouts.get(names[0]) if names else None
    known = [inodes.said((device, inode)) for inode in (layout.inodes(block) if layout else ())]
    files = [said for said in known if "," in said]
    return block, identified(block, layout, stack) + (f", among them {' and '.join(files)}" if files else "")


def _file(recorded: Recorded, inodes: Inodes, pid: int, row: int) -> tuple[str, int]:
    """Return the file that a task waited for, and the place in the trace of the event that names it; empty, -1 if none.

    An event names the file whose page a task will wait for. For an inode under writeback, it is the inode that the
    flusher last began to write before it woke the task.
    """
    spans, last = recorded.offcpu, recorded.ends(row)
    if recorded.verdict(row).kind.name == "inode under writeback":
        of, at = inodes.written, inodes.written.before(int(spans.waker[last]), int(spans.wake_rank[last]))
    else:
        of, at = inodes.waited, inodes.waited.before(pid, int(spans.rank[row]), _last_sleep(recorded, row))
    if at < 0:
        return "", NOBODY
    return inodes.said((int(of.device[at]), int(of.inode[at]))), int(of.rank[at])


def _last_sleep(recorded: Recorded, row: int) -> int:
    """Return the place in the trace of a task's last sleep before a span of `offcpu`; -1 if it had none."""
    spans = recorded.offcpu
    return int(spans.rank[row - 1]) if row and spans.pid[row - 1] == spans.pid[row] else NOBODY


def _dirty(
    run: Run, recorded: Recorded, parties: Parties, rank: int, limit: DirtyLimit
) -> tuple[dict[str, Bytes], dict[str, Bytes], int]:
    """Return the bytes that a limit counts at a place in the trace: by who dirtied them, by disk, and the first disk.

    Those of a loop device are its file's disk's, where they are written next.
    """
    pids = members(run, recorded, limit) if limit.of == "group" else None
    owners, devices = recorded.dirtied.at(rank, limit.device, pids)
    by_disk: Counter[int] = Counter()
    for device, size in devices.items():
        by_disk[below(run, device)] += size
    places = {disk_of(run, device): Bytes(size) for device, size in by_disk.most_common()}
    most = next((device for device, _ in by_disk.most_common()), limit.device)
    return parties.named({Party(key, NOBODY): size for key, size in owners.items()}), places, most


def _worked(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, parties: Parties, device: int, span_ns: tuple[int, int], limit: DirtyLimit
) -> tuple[int, dict[str, Bytes], dict[str, Bytes]]:
    """Return for how long of a span of time a disk was idle, and what it wrote to its medium in that time, by party.

    Of a disk that is made of others, of the busiest of these; for a group's limit, only what the group had dirtied, and
    apart from that what others had, if that took most of the time. 0 and nothing if that is not known.
    """
    parts = [device_number(run.disks[name].device) for name in stacked(run, device_name(run, device))]
    known = [each for each in parts or [device] if len(served(run, recorded, each).rows)]
    if not known:
        return 0, {}, {}
    busiest = min(known, key=lambda each: served(run, recorded, each).idle_ns(*span_ns))
    disk = served(run, recorded, busiest)
    shares = disk.drained(*span_ns)
    idle_ns = disk.idle_ns(*span_ns)
    if shares:
        idle_ns = min(idle_ns, max(0, span_ns[1] - span_ns[0] - round(sum(time_ns for time_ns, _ in shares.values()))))
    shares = shares or disk.shares(*span_ns)
    others: Shares = {}
    if limit.of == "group":
        own = members(run, recorded, limit)
        others = {party: share for party, share in shares.items() if party.owner not in own}
        shares = {party: share for party, share in shares.items() if party.owner in own}
    is_most = 2 * sum(time_ns for time_ns, _ in others.values()) > span_ns[1] - span_ns[0]
    return idle_ns, parties.named(as_bytes(shares)), parties.named(as_bytes(others)) if is_most else {}


def _of_disk(  # noqa: PLR0913, PLR0917
    run: Run, recorded: Recorded, parties: Parties, item: LoadCycles, first: int, last: int
) -> dict[str, Bytes]:
    """Return the bytes that the load's disk completed between two places in the trace, by who dirtied them."""
    device = _device_of(run, item)
    return parties.named(recorded.moved.ahead(device, first, last)) if device >= 0 else {}


def _device_of(run: Run, item: LoadCycles) -> int:
    """Return the device that completes what a load writes; -1 if unknown. For a loop device, the one of its file."""
    disk = run.disks.get(run.spec.disk_of(item.name)) if isinstance(run.spec, Spec) else None
    return below(run, device_number(disk.device)) if disk else NOBODY


def call_of(stack: Stack) -> str:
    """Return the system call of a stack; empty for a kernel thread."""
    return next((match[1] for name in reversed(stack) if (match := _CALL.fullmatch(name))), "")


def _functions(stack: Stack) -> Stack:
    """Return the functions of a stack from the system call to the sleep, without those of scheduler and tracer."""
    first = max(
        (at + 1 for at, name in enumerate(stack) if name in ("schedule", "__schedule", "io_schedule")), default=0
    )
    last = next((at + 1 for at, name in enumerate(stack) if _CALL.fullmatch(name)), len(stack))
    return tuple(reversed(stack[first:last]))
