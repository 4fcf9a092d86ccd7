"""Who caused a pause, by its explanation: the chain that explains most of it, the party at its end, a lock's holder."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wblab.analysis.why.account import ASKED, ASLEEP, REQUEST, RUNNABLE, RUNNING, UNEXPLAINED, Chain
from wblab.analysis.why.charges import CACHE, DEVICE, FLUSH, LIMIT, THROTTLE
from wblab.analysis.why.devicelimits import BY_A_PROGRAM
from wblab.analysis.why.explain import NO_ONE, Cause, Explanation
from wblab.analysis.why.parties import JOURNAL, METADATA, READ, each_of, is_of_load, joined, whole_of
from wblab.analysis.why.request import IoRequest
from wblab.analysis.why.spent import Spent
from wblab.core.units import Bytes
from wblab.report.whybehind import THROTTLED, also, culprit, leader

SHARE = 4  # what took at least a fourth of a pause is named
_LEAST = 0.1  # of a pause: a known cause of more than this is the answer, though more is unknown
_OFTEN, _SMALL_BYTES = 10, 64 << 10  # waits in fsync, and the bytes of each, by which a program is known to sync often
_GROUP = 3  # parties that did as much
_LOCKS, _FOR_OTHERS = ("file lock", "lock"), "task"
_LOCKED = "a lock of one of them"


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
        cause = throttled(item) if chain.links[-1][1] == THROTTLED else None
        disk = request.disk if request else f"{cause.disk} {cause.limit.whose}" if cause else ""
        holder = held[0] if (held := lock_of(item)) else ""
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
        sums[kinds_of(chain)] += chain.time_ns
    known = [kinds for kinds, time_ns in sums.items() if kinds[0] != UNEXPLAINED and time_ns > _LEAST * item.pause_ns]
    most = max(known or sums, key=lambda kinds: sums[kinds])
    alike = [at for at, chain in enumerate(item.chains) if kinds_of(chain) == most]
    place = max(alike, key=lambda at: item.chains[at].time_ns)
    return item.chains[place], item.requests[place] if item.requests else None


def kinds_of(chain: Chain) -> tuple[str, str]:
    """Return how a chain ends, and the kind of its last wait."""
    return chain.end, _kind(chain)


def _kind(chain: Chain) -> str:
    return "" if chain.end in ASKED else chain.links[-1][1]


def party(item: Explanation) -> str:
    """Return who caused a pause, by its I/O ahead in the queue or by holding the load; empty if nobody or unknown."""
    chain, _ = main_chain(item)
    if chain.end in ASKED and item.charges:
        main = culprit(item)[0]
        is_set_by_others = main.layer == LIMIT and main.words.endswith(BY_A_PROGRAM)
        return "" if is_set_by_others and is_of_load(item.load, main.party) else _with_others(item, main.party)
    if chain.links[-1][1] == THROTTLED:
        cause = throttled(item)
        return _with_others(item, cause.whose) if cause else _holder(chain)
    if item.polling and is_polled(item, chain):
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
    if chain.end in ASKED and item.charges:
        whole = culprit(item)[0].party
        if len(each_of(whole)) >= _GROUP:
            return READ if whole.startswith(READ) else "several"
        return whole_of(leader(item)[0].party)
    cause = throttled(item) if chain.links[-1][1] == THROTTLED else None
    if cause and cause.whose:
        return "several" if len(cause.named) >= _GROUP else cause.named[0]
    return party(item)


def is_polled(item: Explanation, chain: Chain) -> bool:
    """Whether a load waited by looking again and again, and not for what a chain ends with."""
    return item.polling is not None and item.polling.may_wait and item.polling.holds(chain)


def throttled(item: Explanation) -> Cause | None:
    """Return the waits at a dirty limit, if there were any."""
    return next((cause for cause in item.causes if cause.kind == THROTTLED), None)


def accused(group: Group) -> list[str]:
    """Return all whom the sentence on a group names as causes, and the load itself if it does."""
    item = group.longest
    held = lock_of(item)
    storm, _ = syncing(item)
    names = [
        *([held[0]] if held else []),
        *each_of(group.party),
        *passing(item),
        *([storm] if storm else []),
        *calling(item),
        *kicking(item),
        *(item.shortage.named if item.shortage else ()),
    ]
    return list(dict.fromkeys(names))


def lock_of(item: Explanation) -> tuple[str, str, str] | None:
    """Return who held a lock that a load or its child waited for, who waited, and the kind of lock; None without.

    That is a lock in the main chain, or one for which a fourth of the pause passed in others.
    """
    main = main_chain(item)[0]
    if at := holder_at(main):
        return main.links[at][0], *main.links[at - 1]
    for chain in item.chains:
        at = holder_at(chain)
        if at and SHARE * locked_ns(item, chain.links[at][0]) >= item.pause_ns:
            return chain.links[at][0], *chain.links[at - 1]
    return None


def holder_at(chain: Chain) -> int:
    """Return which link of a chain held a lock that the load or its child waited for; 0 if none did."""
    at = next((at for at, (_, did) in enumerate(chain.links[:-1]) if did in _LOCKS), -1)
    return 0 if at < 0 or any(did != _FOR_OTHERS for _, did in chain.links[:at]) else at + 1


def locked_ns(item: Explanation, holder: str) -> int:
    """Return the time of a pause for which the load waited for a lock that this task held."""
    return sum(each.time_ns for each in item.chains if (at := holder_at(each)) and each.links[at][0] == holder)


def calling(item: Explanation) -> tuple[str, ...]:
    """Return who had called sync, for which others' data were written that stalled a load; empty if it was the load."""
    return _behind_data(item, item.callers)


def kicking(item: Explanation) -> tuple[str, ...]:
    """Return who made the flusher write others' data, or the load's, by RWF_DONTCACHE; empty if it was the load."""
    return _behind_data(item, item.kickers)


def _behind_data(item: Explanation, names: Sequence[str]) -> tuple[str, ...]:
    """Return those who had data written that stalled a load and are not theirs; empty if the load is one of them."""
    chain, _ = main_chain(item)
    main = next(iter(culprit(item)), None) if chain.end == REQUEST and names else None
    if main is None or main.layer not in (DEVICE, THROTTLE) or not main.party or main.party.startswith(READ):
        return ()
    is_own = any(is_of_load(item.load, name) for name in names)
    return () if is_own else tuple(name for name in names if name not in each_of(main.party))


def dropped(item: Explanation) -> Bytes:
    """Return the bytes that a load read again, if these are what it waited for most; else 0."""
    chain, _ = main_chain(item)
    main = next(iter(culprit(item)), None) if chain.end == REQUEST else None
    own = main is not None and main.layer == DEVICE and main.party.startswith(READ)
    is_own = own and any(is_of_load(item.load, name) for name in each_of(main.party if main else ""))
    return item.again if is_own and main and 2 * item.again > main.size else Bytes(0)


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


def spent_in(item: Explanation) -> Spent | None:
    """Return what made the disk slow that a load waited for, by its credits or limit of requests; None if nothing."""
    chain, request = main_chain(item)
    if item.spent is None or (item.polling and is_polled(item, chain)):
        return None
    if chain.end == REQUEST:
        main = next(iter(culprit(item)), None)
        is_at_work = main is not None and main.layer in (DEVICE, THROTTLE, CACHE, FLUSH)
        return item.spent if is_at_work and request and request.name == item.spent.name else None
    cause = throttled(item) if chain.links[-1][1] == THROTTLED else None
    is_disk = cause and not cause.is_limit_alone and next(iter(cause.places), cause.disk) == item.spent.disk
    return item.spent if is_disk else None


def passing(item: Explanation) -> tuple[str, ...]:
    """Return who passed the background limit, where that says more than whose data were ahead; else nobody.

    That is where a load's own data were ahead, or where the owners of the data ahead could not pass it without others.
    Where only others passed it, trials did not bear out that these counted: data that a load waits for are written
    anyway.
    """
    chain, _ = main_chain(item)
    if item.background is None or chain.end != REQUEST or not item.charges or is_polled(item, chain):
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
