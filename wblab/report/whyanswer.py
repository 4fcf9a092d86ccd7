"""The answer of `wblab why`: one sentence for each cause says who stalled whom, for how long and how."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from wblab.analysis.why.account import ASLEEP, CUT_OFF, REQUEST, RUNNABLE, RUNNING, STOPPED, UNEXPLAINED, Chain
from wblab.analysis.why.blame import is_own_sleep
from wblab.analysis.why.charges import CACHE, DEVICE, FLUSH, LIMIT, MAPPER, THROTTLE
from wblab.analysis.why.devicelimits import BY_A_PROGRAM
from wblab.analysis.why.dirtylimits import DirtyLimit
from wblab.analysis.why.explain import NO_ONE, Cause, Explanation
from wblab.analysis.why.kinds import UNKNOWN, what_of
from wblab.analysis.why.parties import JOURNAL, METADATA, READ, each_of, is_of_load, joined
from wblab.analysis.why.request import IoRequest
from wblab.analysis.why.spent import Spent
from wblab.core.drivers import SHORT_BYTES
from wblab.core.spec import Spec
from wblab.core.units import Bytes, format_bytes
from wblab.lab.callings import introduced
from wblab.lab.disks import short_queue_settings
from wblab.report.dirtylimittext import group_words, lifted, looked, slows
from wblab.report.quantities import duration, enumerated, grouped, in_series, percent, quantity, size
from wblab.report.whybehind import THROTTLED, also, behind, culprit, leader, of_it, rest

_RECLAIM = "reclaim"
_ASKED = "flusher"  # the kind of wait of a task that asked the flusher to write, as sync and syncfs do
_HALF = 0.5
_NEARLY_ALL = 0.9  # of a pause: a cause of less than this is printed with its time
_LEAST = 0.1  # of a pause: a known cause of more than this is the answer, though more is unknown
_MOST_LOADS = 3
_OFTEN, _SMALL_BYTES = 10, 64 << 10  # waits in fsync, and the bytes of each, by which a program is known to sync often
_GROUP = 3  # parties that did as much
_FILE_LOCK, _LOCKS, _FOR_OTHERS = "file lock", ("file lock", "lock"), "task"
_LOCKED = "a lock of one of them"
_NOT_KNOWN = (UNEXPLAINED, UNKNOWN.name)
_SHARE = 4  # a call is named if at least a fourth of a pause passed in it
_DM_RESUME = "dm_resume"
_FOR_CHILDREN = ("wait4", "waitid", "clone", "clone3", "vfork")  # they say nothing of what the child waited for
# How a queue of 4 requests changed the longest pause, by the kind of wait that the disk's queue caused.
_MEASURED = {"journal writes block": "23.8 s became 0.66 s", "commit": "3.5 s became 0.46 s"}


@dataclass(frozen=True)
class Group:
    """Pauses of one cause. items: in the order of time; party: who caused them, empty if unknown."""

    items: tuple[Explanation, ...]
    party: str

    @property
    def longest(self) -> Explanation:
        """The longest pause."""
        return max(self.items, key=lambda item: item.pause_ns)

    @property
    def pause_ns(self) -> int:
        """Their sum in ns."""
        return sum(item.pause_ns for item in self.items)


def groups(found: Iterable[Explanation]) -> list[Group]:
    """Group pauses by the end of their main chain, the party that caused most of it, the disk, and a lock's holder.

    A holder that was stalled itself is no victim of its lock: its pauses are in another group. Known causes come first,
    then the most time.
    """
    by: dict[tuple[str, ...], list[Explanation]] = {}
    every = list(found)
    stalled = {item.load for item in every}
    for item in every:
        chain, request = main_chain(item)
        cause = _throttled(item) if chain.links[-1][1] == THROTTLED else None
        disk = request.disk if request else f"{cause.disk} {cause.limit.whose}" if cause else ""
        holder = held[0] if (held := _lock_of(item)) else ""
        lock = _LOCKED if any(is_of_load(load, holder) for load in stalled) else holder
        by.setdefault((chain.end, _kind(chain), _first(item), disk, lock), []).append(item)
    made = [Group(tuple(items), party(max(items, key=lambda item: item.pause_ns))) for items in by.values()]
    least_ns = _LEAST * sum(group.pause_ns for group in made)

    def order(group: Group) -> tuple[bool, int]:
        """What is not known comes after what is, unless that is little."""
        is_known = main_chain(group.longest)[0].end != UNEXPLAINED
        return not (is_known and group.pause_ns > least_ns), -group.pause_ns

    return sorted(made, key=order)


def main_chain(item: Explanation) -> tuple[Chain, IoRequest | None]:
    """Return the longest chain of those whose end explains most of a pause, and the request that ended it, if any.

    A known end comes before an unknown one, unless it explains little.
    """
    sums: Counter[tuple[str, str]] = Counter()
    for chain in item.chains:
        sums[_kinds(chain)] += chain.time_ns
    known = [kinds for kinds, time_ns in sums.items() if kinds[0] != UNEXPLAINED and time_ns > _LEAST * item.pause_ns]
    most = max(known or sums, key=lambda kinds: sums[kinds])
    alike = [at for at, chain in enumerate(item.chains) if _kinds(chain) == most]
    place = max(alike, key=lambda at: item.chains[at].time_ns)
    return item.chains[place], item.requests[place] if item.requests else None


def _kinds(chain: Chain) -> tuple[str, str]:
    return chain.end, _kind(chain)


def _kind(chain: Chain) -> str:
    return "" if chain.end == REQUEST else chain.links[-1][1]


def party(item: Explanation) -> str:
    """Return who caused a pause, by its I/O ahead in the queue or by holding the load; empty if nobody or unknown."""
    chain, _ = main_chain(item)
    if chain.end == REQUEST and item.charges:
        main = culprit(item)[0]
        is_set_by_others = main.layer == LIMIT and main.words.endswith(BY_A_PROGRAM)
        return "" if is_set_by_others and is_of_load(item.load, main.party) else _with_others(item, main.party)
    if chain.links[-1][1] == THROTTLED:
        cause = _throttled(item)
        return _with_others(item, cause.whose) if cause else _holder(chain)
    if item.polling and _is_polled(item, chain):
        kept = item.polling.kept
        return next(iter(kept[0].request.ahead), "") if len(kept) == 1 and kept[0].request else ""
    if chain.end == RUNNABLE and item.ran and not (len(chain.links) > 1 and NO_ONE in list(item.ran)[:1]):
        return next(iter(item.ran))
    return _holder(chain) if chain.end in (RUNNING, RUNNABLE, ASLEEP) else ""


def _holder(chain: Chain) -> str:
    """Return whom a load waited for at the end of a chain; empty if for no task."""
    return chain.links[-1][0] if len(chain.links) > 1 else ""


def _with_others(item: Explanation, told: str) -> str:
    """Return a party, or with others that did as much in another way."""
    if not told:
        return ""
    return joined([told, *others]) if (others := also(item, each_of(told))) else told


def _first(item: Explanation) -> str:
    """Return who caused most of a pause, of several parties; empty if nobody or unknown.

    Of a group of which each did as much, any may be the first, so the group has one name.
    """
    chain, _ = main_chain(item)
    if chain.end == REQUEST and item.charges:
        whole = culprit(item)[0].party
        if len(each_of(whole)) >= _GROUP:
            return READ if whole.startswith(READ) else "several"
        return leader(item)[0].party
    cause = _throttled(item) if chain.links[-1][1] == THROTTLED else None
    if cause and cause.whose:
        return "several" if len(cause.named) >= _GROUP else cause.named[0]
    return party(item)


def _is_polled(item: Explanation, chain: Chain) -> bool:
    return item.polling is not None and item.polling.may_wait and item.polling.holds(chain)


def _throttled(item: Explanation) -> Cause | None:
    return next((cause for cause in item.causes if cause.kind == THROTTLED), None)


def sentence(group: Group, kinds: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return one sentence for pauses of one cause: who stalled whom, for how long and how.

    kinds: of the run's loads, by name. Each of these has what a reader calls it beside its name.
    """
    loads = list(dict.fromkeys(item.load for item in group.items))
    calls = list(dict.fromkeys(filter(None, map(_called, group.items))))
    times = {1: "once", 2: "twice"}.get(len(group.items), f"{len(group.items)} times")
    upto = "for" if len(group.items) == 1 else "for up to"
    where = f" in {_listed(calls)}" if calls else ""
    were = "was" if len(loads) == 1 else "were"
    stalled = f"{_listed(loads)} {were} stalled {times}{where}, {upto} {duration(group.longest.pause_ns)}"
    return introduced(f"{stalled}: {reason(group)}.", kinds)


def containers(group: Group) -> list[str]:
    """Return a line on the control groups of those who are named as the cause of pauses, or none.

    A container is a control group, and its path has the container's name or number.
    """
    item = group.longest
    named = [name for name in each_of(party(item)) if name in item.groups]
    places: dict[str, list[str]] = {}
    for name in named:
        places.setdefault(item.groups[name], []).append(name)
    said = [
        f"{enumerated(names)} {'is' if len(names) == 1 else 'are'} in the control group {place}"
        for place, names in places.items()
    ]
    return [f"{'; '.join(said)}."] if said else []


def reason(group: Group) -> str:
    """Return the part of the sentence that says why."""
    item = group.longest
    alone = "it" if len({each.load for each in group.items}) == 1 else "they"
    beside = (_passed, _asked, _spent, _synced, _again)
    return f"{_locked(group, alone)}{_because(group)}{_of_it(item)}{''.join(say(item) for say in beside)}"


def _asked(item: Explanation) -> str:
    """Return who had called sync, for which the flusher wrote the data ahead of a load, as a clause."""
    names = calling(item)
    return f"; the flusher wrote that because {enumerated(names)} had called sync" if names else ""


def calling(item: Explanation) -> tuple[str, ...]:
    """Return who had called sync, for which others' data were written that stalled a load; empty if it was the load."""
    chain, _ = main_chain(item)
    main = next(iter(culprit(item)), None) if chain.end == REQUEST and item.callers else None
    if main is None or main.layer not in (DEVICE, THROTTLE) or not main.party or main.party.startswith(READ):
        return ()
    is_own = any(is_of_load(item.load, name) for name in item.callers)
    return () if is_own else tuple(name for name in item.callers if name not in each_of(main.party))


def _again(item: Explanation) -> str:
    """Return that a load read what had been in memory before, as a clause; empty if that was less than half of it."""
    size_ = dropped(item)
    return f"; it had to read {size(size_)} again, which had been dropped from memory" if size_ else ""


def dropped(item: Explanation) -> Bytes:
    """Return the bytes that a load read again, if these are what it waited for most; else 0."""
    chain, _ = main_chain(item)
    main = next(iter(culprit(item)), None) if chain.end == REQUEST else None
    own = main is not None and main.layer == DEVICE and main.party.startswith(READ)
    is_own = own and any(is_of_load(item.load, name) for name in each_of(main.party if main else ""))
    return item.again if is_own and main and 2 * item.again > main.size else Bytes(0)


def _synced(item: Explanation) -> str:
    """Return who called fsync often, which fills a disk with little data, as a clause; empty if nobody did."""
    who, times = syncing(item)
    return f"; {who} wrote little and called fsync often: it waited {times} times in that meanwhile" if who else ""


def syncing(item: Explanation) -> tuple[str, int]:
    """Return who filled the disk with many small fsyncs, and how often it waited in these; empty if nobody did.

    That is whose data were ahead, or for whom a journal wrote or the disk flushed its cache.
    """
    chain, _ = main_chain(item)
    main = next(iter(culprit(item)), None) if chain.end == REQUEST else None
    if main is None or main.layer not in (DEVICE, FLUSH, CACHE) or main.party.startswith(READ):
        return "", 0
    who, times = next(iter(item.synced.items()), ("", 0))
    others = [name for name in each_of(main.party) if not name.startswith((JOURNAL, METADATA))]
    is_theirs = who in others or not others
    is_most = 2 * times > sum(item.synced.values())
    is_small = main.size <= times * _SMALL_BYTES
    return (who, times) if times >= _OFTEN and is_most and is_theirs and is_small else ("", 0)


def _spent(item: Explanation) -> str:
    """Return why the disk that a load waited for was slow, if by its credits or limit of requests, as a clause."""
    found = spent_in(item)
    if found is None:
        return ""
    if found.of == "requests":
        return f"; {found.disk} was at its limit of {found.rate} requests per second"
    left = quantity(found.rate, "bytes/s")
    return f"; {found.disk} had used up its credits of {size(found.burst_bytes)}, and did no more than {left}"


def spent_in(item: Explanation) -> Spent | None:
    """Return what made the disk slow that a load waited for, by its credits or limit of requests; None if nothing."""
    chain, request = main_chain(item)
    if item.spent is None or (item.polling and _is_polled(item, chain)):
        return None
    if chain.end == REQUEST:
        main = next(iter(culprit(item)), None)
        is_at_work = main is not None and main.layer in (DEVICE, THROTTLE, CACHE, FLUSH)
        return item.spent if is_at_work and request and request.name == item.spent.name else None
    cause = _throttled(item) if chain.links[-1][1] == THROTTLED else None
    is_disk = cause and not cause.is_limit_alone and next(iter(cause.places), cause.disk) == item.spent.disk
    return item.spent if is_disk else None


def accused(group: Group) -> list[str]:
    """Return all whom the sentence on a group names as causes, and the load itself if it does."""
    item = group.longest
    held = _lock_of(item)
    storm, _ = syncing(item)
    names = [
        *([held[0]] if held else []),
        *each_of(group.party),
        *_passing(item),
        *([storm] if storm else []),
        *calling(item),
    ]
    return list(dict.fromkeys(names))


def _passed(item: Explanation) -> str:
    """Return who passed the background limit, for which data were written that stalled a load, as a clause."""
    names, background = _passing(item), item.background
    if not names or background is None:
        return ""
    whose = enumerated([f"{size(background.dirty[name])} from {name}" for name in names])
    return f"; the flusher wrote that as more than the background limit of {size(background.limit)} was dirty: {whose}"


def _passing(item: Explanation) -> tuple[str, ...]:
    """Return who passed the background limit, where that says more than whose data were ahead; else nobody.

    That is where a load's own data were ahead, or where the owners of the data ahead could not pass it without others.
    Where only others passed it, trials did not bear out that these counted: data that a load waits for are written
    anyway.
    """
    chain, _ = main_chain(item)
    if item.background is None or chain.end != REQUEST or not item.charges or _is_polled(item, chain):
        return ()
    main = culprit(item)[0]
    if main.layer not in (DEVICE, THROTTLE) or not main.party or main.party.startswith(READ):
        return ()
    if main.size >= item.background.limit:  # these data would have passed it alone
        return ()
    said, needed = each_of(main.party), item.background.needed
    names = item.background.named if is_of_load(item.load, main.party) else needed if set(needed) & set(said) else ()
    is_own = any(is_of_load(item.load, name) for name in names)
    return names if set(names) - set(said) and not is_own else ()


def _locked(group: Group, alone: str) -> str:
    """Return who held the lock that a load or its child waited for, as the begin of a sentence; empty without one."""
    item = group.longest
    held = _lock_of(item)
    if held is None:
        return ""
    holder, waiter, did = held
    if any(is_of_load(each.load, holder) for each in group.items):  # it is one of them, who waited for another one
        alone = item.load
    found = [each for each in item.causes if each.kind == did and (each.task or item.load) == waiter]
    cause = found[0] if found else None
    of = (cause.file or cause.is_of) if cause else ""
    if did == _FILE_LOCK:
        what = f"the lock on {of}" if of else "a lock on a file (flock, fcntl)"
    else:
        what = f"the lock of {of}" if of else "a lock of the kernel"
    main = _holder_at(main_chain(item)[0])
    part = "" if main else f", {duration(_locked_ns(item, holder))} in all"
    return f"{holder} held {what} that {alone} waited for{part}; "


def _lock_of(item: Explanation) -> tuple[str, str, str] | None:
    """Return who held a lock that a load or its child waited for, who waited, and the kind of lock; None without.

    That is a lock in the main chain, or one for which a fourth of the pause passed in others.
    """
    main = main_chain(item)[0]
    if at := _holder_at(main):
        return main.links[at][0], *main.links[at - 1]
    for chain in item.chains:
        at = _holder_at(chain)
        if at and _SHARE * _locked_ns(item, chain.links[at][0]) >= item.pause_ns:
            return chain.links[at][0], *chain.links[at - 1]
    return None


def _holder_at(chain: Chain) -> int:
    """Return which link of a chain held a lock that the load or its child waited for; 0 if none did."""
    at = next((at for at, (_, did) in enumerate(chain.links[:-1]) if did in _LOCKS), -1)
    return 0 if at < 0 or any(did != _FOR_OTHERS for _, did in chain.links[:at]) else at + 1


def _locked_ns(item: Explanation, holder: str) -> int:
    """Return the time of a pause for which the load waited for a lock that this task held."""
    return sum(each.time_ns for each in item.chains if (at := _holder_at(each)) and each.links[at][0] == holder)


def _called(item: Explanation) -> str:
    """Return the system call in which most of a pause passed, and which child of the load made it; empty if unknown."""
    cause = item.causes[0] if item.causes else None
    if cause is None or not cause.call or cause.call in _FOR_CHILDREN or _SHARE * cause.time_ns < item.pause_ns:
        return ""
    child = cause.task.removeprefix(f"{item.load}'s ")
    return f"{cause.call}() of its {child}" if child else f"{cause.call}()"


def _of_it(item: Explanation) -> str:
    """Return how much of a pause its main cause explains; empty where that is nearly all of it, in one wait."""
    main, _ = main_chain(item)
    if main.end == REQUEST and item.charges:
        return "" if _is_polled(item, main) else of_it(item)
    if main.time_ns > _NEARLY_ALL * item.pause_ns or main.end == UNEXPLAINED or _is_polled(item, main):
        return ""
    alike_ns = sum(chain.time_ns for chain in item.chains if _kinds(chain) == _kinds(main))
    this = "this explains" if main.longest_ns > _NEARLY_ALL * alike_ns else "this and similar waits explain"
    part, whole = duration(alike_ns), duration(item.pause_ns)
    left_ns = item.pause_ns - alike_ns
    more = ", and the trace does not show the rest" if item.unexplained_ns > _NEARLY_ALL * left_ns else ""
    cause = _throttled(item) if main.links[-1][1] == THROTTLED else None
    if cause and cause.whose and also(item, cause.named):
        more = rest(item, cause.named, THROTTLED)
    return f"; {this} {part} of the {whole}{more}" if part != whole else ""


def _because(group: Group) -> str:  # noqa: PLR0911 - one for each end of a chain
    item = group.longest
    chain, request = main_chain(item)
    name, did = chain.links[-1]
    alone, were, them = (
        ("it", "was", "it") if len({each.load for each in group.items}) == 1 else ("they", "were", "them")
    )
    is_said = len(chain.links) == 1 or _holder_at(chain)
    holder = f"{name}, which {alone} waited for," if not is_said else name if len(chain.links) > 1 else alone
    if item.polling and _is_polled(item, chain):
        return looked(item.polling)
    if chain.end == REQUEST:
        return behind(item, chain, request, one=alone == "it")
    if did == THROTTLED:
        return _at_the_limit(item)
    if chain.end == RUNNING:
        if len(chain.links) == 1:
            return f"{alone} {were} running, not waiting"
        return f"{holder} was running: not caused by writeback"
    if chain.end == RUNNABLE:
        who = next(iter(item.ran), "")
        if who == NO_ONE:
            is_it = holder == alone
            return (
                f"{holder} {were if is_it else 'was'} ready and the processor was idle, "
                f"but a limit such as cpu.max kept {them if is_it else 'it'} from running"
            )
        had = f"{who} had the processor" if who else "had no processor"
        return f"{holder} {were if holder == alone else 'was'} ready to run, but {had}: not caused by writeback"
    if chain.end == STOPPED:
        return _frozen(item) if did == "frozen" else f"{name} was stopped by a signal or a freezer"
    if chain.end == ASLEEP:
        return f"{holder} slept on a timer of its own: not caused by writeback"
    if chain.end == CUT_OFF:
        return _cut_off(item, holder, did)
    if chain.end == UNEXPLAINED:
        return _unexplained(item, alone)
    if is_own_sleep(chain):
        return f"{holder} waited with a timeout, and the trace does not show what for"
    return f"{holder} waited {what_of(did)}" if did == _RECLAIM else f"{holder} waited for a timer ({did})"


def _cut_off(item: Explanation, holder: str, did: str) -> str:
    """Return what a signal cut off, and where it came from: the end of the run, or a program."""
    cause = next((each for each in item.causes if each.kind == did and each.waker), None)
    if item.is_last:
        ended = "the run ended, and with it this wait"
    else:
        ended = f"a signal{f' from {cause.waker}' if cause else ''} ended this wait"
    if did == UNKNOWN.name:
        return f"{ended}, so the trace does not show what it was for"
    return f"{holder} waited {what_of(did)}, until {ended}"


def _frozen(item: Explanation) -> str:
    """Return what froze a filesystem, by where it was thawed."""
    cause = next((cause for cause in item.causes if cause.kind == "frozen"), None)
    if cause is None or _DM_RESUME not in cause.woken_in:
        return "the filesystem was frozen (fsfreeze)"
    who = cause.waker or "a program"
    return f"{who} had suspended the filesystem's disk (device mapper), which freezes the filesystem"


def _unexplained(item: Explanation, alone: str) -> str:
    """Return what is known of a pause whose chain ends in the unknown: what it waited for, or what the trace lacks."""
    main, _ = main_chain(item)
    first = next((cause for cause in item.causes if cause.kind not in _NOT_KNOWN), None)
    if first and first.time_ns > _HALF * item.pause_ns:
        return f"{alone} waited {first.what}; the trace does not show what delayed that"
    is_missing = len(main.links) == 1 and main.links[0][1] == UNEXPLAINED
    if is_missing and any(each.end != UNEXPLAINED for each in item.chains):
        return "the trace does not have most of that time, so the cause is not known"
    return "the cause is not known"


def _at_the_limit(item: Explanation) -> str:
    cause = _throttled(item)
    limit = cause.limit if cause else DirtyLimit()
    slowed = slows(limit)
    if cause and cause.is_limit_alone:
        disk, idle = next(iter(cause.places), cause.disk), duration(cause.idle_ns)
        return f"{slowed}; {disk} was idle for {idle} of that time: the cause is the limit, not the disk"
    if cause is None or not cause.dirty:
        return slowed
    total = sum(cause.counted.values())
    share = percent(sum(cause.counted[name] for name in cause.named) / total)
    whose, waiting = (
        f"{share} of it from {grouped(cause.named, 'programs')}",
        f"{size(total)} were waiting to be written",
    )
    if cause.outside or cause.has_turned_over:
        of = " of others" if cause.outside else ""
        return f"{slowed}; meanwhile {next(iter(cause.places), cause.disk)} wrote {size(total)}{of}, {whose}"
    if limit.of == "disk":
        return f"{waiting} to {next(iter(cause.places))}, {whose}, and {slowed}"
    if limit.of == "group":
        return f"{waiting} for {group_words(limit)}, {whose}, and {slowed}"
    text = f"{waiting}, {whose}, and {slowed}"
    if cause.is_elsewhere:
        most = next(iter(cause.places))
        text += f". {size(cause.places[most])} of it were for {most}"
        if cause.is_disk_known and cause.disk != most:
            own = cause.places.get(cause.disk)
            text += f", {size(own) if own else 'nothing'} for {cause.disk}, which {item.load} writes to"
    return text


@dataclass(frozen=True)
class MeasuredRemedy:
    """What may shorten such pauses. measured: its effect in the lab, empty if none.

    setting: KEY=VALUE; or queue: the name of the disk whose queue is to be short.
    """

    what: str
    measured: str
    setting: str = ""
    queue: str = ""

    def settings(self, spec: Spec) -> list[str]:
        """Return what to set in a spec, each KEY=VALUE."""
        return [self.setting] if self.setting else short_queue_settings(spec, self.queue)


_LOW_LIMIT = MeasuredRemedy(
    "a dirty limit of 4 MiB", "19.5 s became 3.6 s on Linux 6.1", "sysctl.vm.dirty_bytes=4194304"
)


def remedy(group: Group) -> MeasuredRemedy | None:
    """Return a setting that shortened such pauses in the lab, or may shorten them; None if the lab knows none.

    Figures: the matrices remedies, commit and two-disks, in docs/explanation/what-helps.md.
    """
    chain, request = main_chain(group.longest)
    if chain.end == REQUEST and request and request.name and group.party and not group.party.startswith(READ):
        measured = next((_MEASURED[did] for _, did in chain.links if did in _MEASURED), "")
        if any(did == _ASKED for _, did in chain.links):  # sync waits for all data, whatever the queue's length
            return None
        main = next(iter(culprit(group.longest)), None)
        if main and main.layer not in (DEVICE, THROTTLE):  # a short queue bounds no limit, and not the disk's cache
            return None
        own = any(is_of_load(each.load, group.party) for each in group.items)
        if request.is_limited or group.party.startswith(JOURNAL) or own:
            return None
        if request.in_throttle:  # its queue is not the disk's, and has no bound but the dirty limit
            return _LOW_LIMIT
        return MeasuredRemedy(
            f"a queue of {format_bytes(SHORT_BYTES)} for {request.below}", measured, queue=request.name
        )
    cause = _throttled(group.longest) if chain.links[-1][1] == THROTTLED else None
    return _against_throttling(cause) if cause else None


def _against_throttling(cause: Cause) -> MeasuredRemedy | None:
    if cause.limit.of != "machine":
        told, setting = lifted(cause.limit, next(iter(cause.places), cause.disk))
        return MeasuredRemedy(told, "", setting) if setting else None
    most = next(iter(cause.places), cause.disk)
    if most != cause.disk and most.startswith("the disk *"):
        name = most.removeprefix("the disk *").removesuffix("*")
        return MeasuredRemedy(f"a queue of {format_bytes(SHORT_BYTES)} for {most}", "8.2 s became 0.06 s", queue=name)
    return None


def by_itself(group: Group) -> str:
    """Return how to end pauses that a setting, a signal or a freeze caused; empty for other causes."""
    chain, _ = main_chain(group.longest)
    if chain.end == STOPPED:
        return "It continues when that is undone."
    main = next(iter(culprit(group.longest)), None)
    if chain.end == REQUEST and main and main.layer == MAPPER and main.party:
        return "It continues when that is undone."
    if chain.end == REQUEST and main and main.layer in (LIMIT, MAPPER):
        return f"To end it, change what delays the request: {main.words.removeprefix('by ')}."
    return ""


def _listed(words: Sequence[str]) -> str:
    words = short if len(words) > _MOST_LOADS and len(short := in_series(words)) <= _MOST_LOADS else words
    shown = list(words[:_MOST_LOADS]) + ([f"{len(words) - _MOST_LOADS} more"] if len(words) > _MOST_LOADS else [])
    return enumerated(shown)
