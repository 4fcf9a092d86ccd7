"""The answer of `wblab why`: one sentence for each cause says who stalled whom, for how long and how."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from wblab.analysis.why.account import ASKED, ASLEEP, CUT_OFF, REQUEST, RUNNABLE, RUNNING, STOPPED, UNEXPLAINED
from wblab.analysis.why.blame import is_own_sleep
from wblab.analysis.why.dirtylimits import DirtyLimit
from wblab.analysis.why.explain import NO_ONE, Cause, Explanation
from wblab.analysis.why.kinds import UNKNOWN, what_of
from wblab.analysis.why.parties import each_of, is_of_load
from wblab.analysis.why.shortage import Shortage
from wblab.core.units import Bytes
from wblab.lab.callings import introduced
from wblab.report.dirtylimittext import group_words, looked, slows
from wblab.report.quantities import duration, enumerated, grouped, in_series, percent, quantity, size
from wblab.report.whybehind import THROTTLED, also, behind, of_it, rest, unanswered
from wblab.report.whycause import (
    SHARE,
    Group,
    calling,
    dropped,
    holder_at,
    is_polled,
    kicking,
    kinds_of,
    lock_of,
    locked_ns,
    main_chain,
    party,
    passing,
    spent_in,
    syncing,
    throttled,
)

_FOR_MEMORY = ("reclaim", "swap-out")  # a timer looks again whether there is some
_HALF = 0.5
_NEARLY_ALL = 0.9  # of a pause: a cause of less than this is printed with its time
_MOST_LOADS = 3
_FILE_LOCK = "file lock"
_NOT_KNOWN = (UNEXPLAINED, UNKNOWN.name)
_DM_RESUME = "dm_resume"
_FOR_CHILDREN = ("wait4", "waitid", "clone", "clone3", "vfork")  # they say nothing of what the child waited for


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
    took = item.shortage.named if item.shortage else ()
    named = [name for name in dict.fromkeys((*each_of(party(item)), *took)) if name in item.groups]
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
    beside = (_passed, _asked, _kicked, _spent, _synced, _again, _short)
    return f"{_locked(group, alone)}{_because(group)}{_of_it(item)}{''.join(say(item) for say in beside)}"


def _asked(item: Explanation) -> str:
    """Return who had called sync, for which the flusher wrote the data ahead of a load, as a clause."""
    names = calling(item)
    return f"; the flusher wrote that because {enumerated(names)} had called sync" if names else ""


def _kicked(item: Explanation) -> str:
    """Return whose writes with RWF_DONTCACHE made the flusher write what was ahead of a load, as a clause."""
    names = kicking(item)
    writes = "write" if len(names) > 1 else "writes"
    return f"; the flusher wrote that because {enumerated(names)} {writes} with RWF_DONTCACHE" if names else ""


def _again(item: Explanation) -> str:
    """Return that a load read what had been in memory before, as a clause; empty if that was less than half of it."""
    size_ = dropped(item)
    return f"; it had to read {size(size_)} again, which had been dropped from memory" if size_ else ""


def _synced(item: Explanation) -> str:
    """Return who called fsync often, which fills a disk with little data, as a clause; empty if nobody did."""
    who, times = syncing(item)
    return f"; {who} wrote little and called fsync often: it waited {times} times in that meanwhile" if who else ""


def _spent(item: Explanation) -> str:
    """Return why the disk that a load waited for was slow, if by its credits or limit of requests, as a clause."""
    found = spent_in(item)
    if found is None:
        return ""
    if found.of == "requests":
        return f"; {found.disk} was at its limit of {found.rate} requests per second"
    left = quantity(found.rate, "bytes/s")
    return f"; {found.disk} had used up its credits of {size(found.burst_bytes)}, and did no more than {left}"


def _short(item: Explanation) -> str:
    """Return why memory was short, as a clause: what of the load had been swapped out, and who had taken memory."""
    found = item.shortage
    if found is None or not (found.back or found.named):
        return ""
    back = f"{size(found.back)} of its memory had been swapped out" if found.back else "memory was short"
    return f"; {back}{f': {enumerated([_took(found, name) for name in found.named])}' if found.named else ''}"


def _took(found: Shortage, name: str) -> str:
    """Return how much memory a program had taken since the loads began, and for what."""
    cache, own = found.cache.get(name, Bytes(0)), found.own.get(name, Bytes(0))
    return f"{name} had taken {size(own)}" if own >= cache else f"{name} had filled {size(cache)} of the page cache"


def _passed(item: Explanation) -> str:
    """Return who passed the background limit, for which data were written that stalled a load, as a clause."""
    names, background = passing(item), item.background
    if not names or background is None:
        return ""
    whose = enumerated([f"{size(background.dirty[name])} from {name}" for name in names])
    return f"; the flusher wrote that as more than the background limit of {size(background.limit)} was dirty: {whose}"


def _locked(group: Group, alone: str) -> str:
    """Return who held the lock that a load or its child waited for, as the begin of a sentence; empty without one."""
    item = group.longest
    held = lock_of(item)
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
    main = holder_at(main_chain(item)[0])
    part = "" if main else f", {duration(locked_ns(item, holder))} in all"
    return f"{holder} held {what} that {alone} waited for{part}; "


def _called(item: Explanation) -> str:
    """Return the system call in which most of a pause passed, and which child of the load made it; empty if unknown."""
    cause = item.causes[0] if item.causes else None
    if cause is None or not cause.call or cause.call in _FOR_CHILDREN or SHARE * cause.time_ns < item.pause_ns:
        return ""
    child = cause.task.removeprefix(f"{item.load}'s ")
    return f"{cause.call}() of its {child}" if child else f"{cause.call}()"


def _of_it(item: Explanation) -> str:
    """Return how much of a pause its main cause explains; empty where that is nearly all of it, in one wait."""
    main, _ = main_chain(item)
    if main.end in ASKED and item.charges:
        return "" if is_polled(item, main) else of_it(item)
    if main.time_ns > _NEARLY_ALL * item.pause_ns or main.end == UNEXPLAINED or is_polled(item, main):
        return ""
    alike_ns = sum(chain.time_ns for chain in item.chains if kinds_of(chain) == kinds_of(main))
    this = "this explains" if main.longest_ns > _NEARLY_ALL * alike_ns else "this and similar waits explain"
    part, whole = duration(alike_ns), duration(item.pause_ns)
    left_ns = item.pause_ns - alike_ns
    more = ", and the trace does not show the rest" if item.unexplained_ns > _NEARLY_ALL * left_ns else ""
    cause = throttled(item) if main.links[-1][1] == THROTTLED else None
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
    is_said = len(chain.links) == 1 or holder_at(chain)
    holder = f"{name}, which {alone} waited for," if not is_said else name if len(chain.links) > 1 else alone
    if item.polling and is_polled(item, chain):
        return looked(item.polling)
    if chain.end in ASKED:
        return behind(item, chain, request, one=alone == "it") if chain.end == REQUEST else unanswered(item, holder)
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
    return f"{holder} waited {what_of(did)}" if did in _FOR_MEMORY else f"{holder} waited for a timer ({did})"


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
    cause = throttled(item)
    if cause is None or not cause.is_gone:
        return _limited(item, cause)
    mount, gone = next(iter(cause.places), cause.disk), duration(cause.gone_ns)
    return f"the server of {mount} was gone and answered nobody for {gone}, and {slows(cause.limit)}: that is no disk"


def _limited(item: Explanation, cause: Cause | None) -> str:
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


def _listed(words: Sequence[str]) -> str:
    words = short if len(words) > _MOST_LOADS and len(short := in_series(words)) <= _MOST_LOADS else words
    shown = list(words[:_MOST_LOADS]) + ([f"{len(words) - _MOST_LOADS} more"] if len(words) > _MOST_LOADS else [])
    return enumerated(shown)
