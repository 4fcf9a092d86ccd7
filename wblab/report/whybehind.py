"""Sentences on who was ahead of a load at a disk, or what held its request: by the time that each took."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from wblab.analysis.why.account import ASKED, Chain
from wblab.analysis.why.charges import (
    CACHE,
    DEVICE,
    FLUSH,
    GONE,
    LIMIT,
    MAPPER,
    SCHEDULER,
    SERVER,
    STILL,
    THROTTLE,
    Charge,
    culprits,
)
from wblab.analysis.why.explain import Explanation
from wblab.analysis.why.parties import (
    FLUSHER,
    JOURNAL,
    JOURNALS,
    MEMORY,
    METADATA,
    MOST_NAMED,
    READ,
    SWAPPED_MEMORY,
    each_of,
    is_of_load,
    joined,
    together,
    whole_of,
)
from wblab.analysis.why.request import IoRequest
from wblab.core.units import Bytes
from wblab.report.quantities import duration, enumerated, grouped, size

THROTTLED = "throttled"  # a kind of wait
_HALF = 0.5
_NEARLY_ALL = 0.9  # of a pause: a cause of less than this is printed with its time
_LITTLE = 0.01  # of a pause: what took less is not listed
_MOST_OTHERS = 2
_OF_SERVERS = (SERVER, GONE)
_JOINT = (DEVICE, CACHE, LIMIT, THROTTLE, SERVER)  # what several may use at the same time
_THROTTLED_QUEUE = "the limit that makes the disk slow (blk-throttle)"
_UNKNOWN = "nothing, for a reason that the trace does not show"


def culprit(item: Explanation) -> tuple[Charge, ...]:
    """Return the charges of the culprit for which disks worked longest in a pause, the longest first.

    If others took comparable time in the same way, the first charge is that of all of them together. The load itself is
    among them only if it did as they did, and they had more time than it. What a limit delayed counts for the limit,
    whoever's request it was.
    """
    found = _of_all(item)
    if not found or found[0].layer != LIMIT or not found[0].words:
        return found
    main, *others = found
    alike = [each.time_ns for each in item.charges if _is_alike(each, main)]
    return replace(main, time_ns=sum(alike)), *(each for each in others if not _is_alike(each, main))


def _is_alike(charge: Charge, main: Charge) -> bool:
    """Whether the same limit held it."""
    return (charge.layer, charge.words) == (main.layer, main.words)


def _of_all(item: Explanation) -> tuple[Charge, ...]:
    """Return the charges of the culprit, the first that of all who did as much in the same way."""
    found = leader(item)
    if not found or found[0].layer not in _JOINT:
        return found
    main = found[0]
    if main.party.endswith(MEMORY):
        mine = [each for each in found if _way(each) == _way(main)]
        return _in_all(main, mine, SWAPPED_MEMORY), *(each for each in found if each not in mine)
    alike = {each.party: each for each in item.charges if _way(each) == _way(main)}
    named = [alike[party] for party in _alike(item, main, {party: each.time_ns for party, each in alike.items()})]
    if main not in named or len(named) == 1:
        return found
    whole = _in_all(main, named, joined(each.party for each in named))
    return whole, *(each for mine in named for each in _by_party(item)[_whose(mine)] if each not in named)


def _way(charge: Charge) -> tuple[str, str, str]:
    """Return how and at which disk somebody's I/O took time."""
    return charge.layer, charge.disk, charge.words


def _in_all(main: Charge, alike: Sequence[Charge], party: str) -> Charge:
    """Return charges of one way as one, of a party that is all of theirs."""
    return replace(
        main,
        party=party,
        time_ns=sum(each.time_ns for each in alike),
        size=Bytes(sum(each.size for each in alike)),
        is_full=any(each.is_full for each in alike),
    )


def _alike(item: Explanation, main: Charge, times_ns: Mapping[str, int]) -> tuple[str, ...]:
    """Return who took comparable time in the same way as the first. times_ns: by party, in that way."""
    whole_ns = sum(each.time_ns for each in item.charges)
    every = together(times_ns, whole_ns)
    if len(every) > MOST_NAMED:
        return every
    others = together({party: ns for party, ns in times_ns.items() if not is_of_load(item.load, party)}, whole_ns)
    if not is_of_load(item.load, main.party):
        return others
    is_alike = {party.startswith(READ) for party in (*others, main.party)} == {main.party.startswith(READ)}
    is_theirs = is_alike and len(others) > 1 and sum(times_ns[party] for party in others) > main.time_ns
    return (main.party, *others) if is_theirs else (main.party,)


def leader(item: Explanation) -> tuple[Charge, ...]:
    """Return the charges of the one for whom disks worked longest in a pause, the longest first."""
    return next(iter(_by_party(item).values()), ())


def _by_party(item: Explanation) -> dict[str, tuple[Charge, ...]]:
    """Return the charges of each culprit, what it read with what it wrote, the most time first."""
    return culprits(item.charges, _whose)


def _whose(charge: Charge) -> str:
    return whole_of(charge.culprit.removeprefix(READ))


def also(item: Explanation, said: Sequence[str]) -> list[str]:
    """Return which other programs caused a pause together with those said: each by comparable time, in another way."""
    found: Counter[str] = Counter()
    for charge in item.charges:
        if charge.layer in _JOINT and not is_of_load(item.load, charge.party):
            found[whole_of(charge.party)] += charge.time_ns
    for cause in item.causes:
        if cause.kind == THROTTLED and cause.whose:
            whole = sum(cause.counted.values())
            for name, size_ in cause.counted.items():
                found[name] += cause.time_ns * size_ // whole if not is_of_load(item.load, name) else 0
    names, others = together(found, item.pause_ns), {name for name in said if not is_of_load(item.load, name)}
    is_said = bool(others) and others <= {each for name in names for each in each_of(name)}
    return [name for name in names if not others.issuperset(each_of(name))] if is_said else []


def rest(item: Explanation, said: Sequence[str], main: str) -> str:
    """Return what else caused a pause, the most time first, as the end of a sentence; empty if that is little.

    said: who was named already; main: the kind of wait that was told, empty for requests.
    """
    first = next(iter(culprit(item)), None) if not main else None
    listed = [
        _short(each)
        for each in _merged(item.charges)
        if not (first and _is_first(each, first)) and not _is_said(each.party, said)
    ]
    waits_ns = sum(chain.time_ns for chain in item.chains if chain.end not in ASKED and chain.links[-1][1] != main)
    for cause in item.causes if main != THROTTLED else ():
        if cause.kind == THROTTLED:
            data = "while the disk wrote data" if cause.outside else "with data"
            whose = f", {data} from {grouped(cause.named, 'programs')}" if cause.whose else ""
            listed.append((cause.time_ns, f"{duration(cause.time_ns)} near a dirty limit{whose}"))
            waits_ns -= cause.time_ns
    listed.sort(key=lambda each: -each[0])
    shown = [text for time_ns, text in listed if time_ns > _LITTLE * item.pause_ns][:_MOST_OTHERS]
    if waits_ns > _LITTLE * item.pause_ns:
        shown.append(f"other waits {duration(waits_ns)}")
    return f", and the rest has other causes: {enumerated(shown)}" if shown else ""


def _is_first(charge: Charge, first: Charge) -> bool:
    """Whether a charge is what the first one says: of the same limit, or of the same disk if it is nobody's."""
    if first.words:
        return _is_alike(charge, first)
    return not first.party and (charge.layer, charge.disk, charge.party) == (first.layer, first.disk, "")


def _is_said(party: str, said: Sequence[str]) -> bool:
    return bool(party) and set(each_of(whole_of(party))) <= set(said)


def culprit_ns(item: Explanation) -> int:
    """Return the time of a pause that its culprit explains."""
    return sum(charge.time_ns for charge in culprit(item))


def behind(item: Explanation, chain: Chain, request: IoRequest | None, *, one: bool) -> str:
    """Return what a load waited for, if a request ended that. one: the sentence is about one load."""
    they = "it" if one else "they"
    found = culprit(item)
    if not found:
        who = they if len(chain.links) == 1 else _requester(chain)
        return f"the disk was busy with a request that {who} waited for"
    if len(chain.links) > 1 and found[0].party == JOURNAL == _requester(chain) and found[0].layer == DEVICE:
        main = found[0]
        return (
            f"{main.disk} took {duration(main.time_ns)} for {size(main.size)} of the journal, which {they} waited for"
        )
    waited = f"{request.what if request else 'a request'}{_of_whom(item, chain, request)} that {they} waited for"
    part_ns = request.held_ns if request and request.held_ns < _NEARLY_ALL * found[0].time_ns else 0
    held = f"delayed for {duration(found[0].time_ns)}{' in all' if part_ns else ''} {found[0].words}"
    return _without_party(found[0], waited, they, held) or _with_party(
        item, found[0], waited, request, held=held, one=one
    )


def unanswered(item: Explanation, waiter: str) -> str:
    """Return what a server did while a load waited for its answer. waiter: who waited for that, in words."""
    found = culprit(item)
    if not found:
        return f"{waiter} waited for an answer from the server or program behind a mount, which is no disk"
    main = found[0]
    server, took = f"the server of {main.disk}", duration(main.time_ns)
    if main.layer == GONE:
        return f"{server} was gone and answered nobody for {took}, and {waiter} waited for its answer: that is no disk"
    if is_of_load(item.load, main.party):
        of = f"{size(main.size)} of its own" if main.size else "requests of its own"
        return f"{server}, not a disk, took {took} for {of}"
    who = grouped(each_of(main.party), "programs")
    served_it = f"{size(main.size)} from {who}" if main.size else f"requests of {who}"
    return f"{server}, not a disk, worked on {served_it} for {took}, and {waiter} had to wait for its answer"


def _of_whom(item: Explanation, chain: Chain, request: IoRequest | None) -> str:
    """Return from whom a request is that another task than the load waited for: whose data it has, if those are known.

    A journal or a kernel worker submits what programs wrote.
    """
    if len(chain.links) == 1:
        return ""
    whose = request.whose if request and chain.kernel else ""
    is_known = whose and whose != FLUSHER and not whose.startswith((READ, JOURNAL, METADATA))
    if is_known:
        return f" with data from {whose}" if not is_of_load(item.load, whose) else " with its own data"
    return f" from {_requester(chain)}"


def _without_party(main: Charge, waited: str, they: str, held: str) -> str:
    """Return what held a request or kept the disk busy that is nobody's I/O; empty if it is somebody's.

    held: how long what held the request did so, in words.
    """
    took = duration(main.time_ns)
    said = {
        STILL: f"{main.disk} completed nothing for {took}, although it had requests",
        FLUSH: f"{main.disk} took {took} to flush its cache, and {they} waited for that",
        SCHEDULER: f"the I/O scheduler kept {waited} back for {took}, although {main.disk} was idle",
        MAPPER: f"{waited} was {held}",
    }
    if main.layer not in said and not main.party:
        is_unknown = f"held back for {took}, and the trace does not show by what"
        return f"{waited} was {held if main.words else is_unknown}"
    return said.get(main.layer, "")


def _with_party(  # noqa: PLR0911, PLR0913 - one for each way to be ahead
    item: Explanation, main: Charge, waited: str, request: IoRequest | None, *, held: str, one: bool
) -> str:
    """Return whose I/O was ahead of a request."""
    took, amount, own = duration(main.time_ns), size(main.size), "of its own" if one else "of their own"
    who = grouped(each_of(main.party), "readers" if main.party.startswith(READ) else "programs")
    long = f", which took {took}" if not of_it(item) else ""
    is_its_own, after = main.party.removeprefix(READ) == item.load, f"and {waited} was queued behind it"
    if main.layer == LIMIT:
        is_behind = request is not None and main.size > 2 * request.size
        if is_its_own:
            return f"{amount} {own} was {held}"
        return f"{waited} was {held}" + (f", behind {amount} from {who}" if is_behind else "")
    if main.layer == CACHE:
        whose = own if is_its_own else f"from {who}"
        return f"the cache of {main.disk} held {amount} {whose}, and {waited} had to wait until that was written"
    if is_its_own:
        slow = " (blk-throttle)" if main.layer == THROTTLE else ""
        return f"{main.disk}{slow} took {took} for {amount} {own}"
    if main.party.startswith(READ):
        return f"{who} had asked {main.disk} to read {amount}{long}, {after}"
    if main.party == SWAPPED_MEMORY:
        whose = f"{amount} of {SWAPPED_MEMORY}{_mostly(item)}"
        return f"{whose} {'filled' if main.is_full else 'were in'} the queue of {main.disk}{long}, {after}"
    if main.layer == THROTTLE:
        return f"{who} had filled the queue of {_THROTTLED_QUEUE} with {amount}, {after}"
    if request is not None and request.is_by_crypt:
        return f"{who} had {amount} in the queues of dm-crypt and {main.disk}{long}, {after}"
    if main.is_full:
        return f"{who} had filled the queue of {main.disk} with {amount}, {after}"
    return f"{who} had {amount} in the queue of {main.disk}{long}, {after}"


def _mostly(item: Explanation) -> str:
    """Return whose memory most of that is that was written to swap; empty if it is nobody's for the most part."""
    sizes: Counter[str] = Counter()
    for charge in item.charges:
        if charge.party.endswith(MEMORY):
            sizes[charge.party.removesuffix(MEMORY)] += charge.size
    name, most = sizes.most_common(1)[0]
    return f", most of it {name}'s," if 2 * most > sizes.total() else ""


def of_it(item: Explanation) -> str:
    """Return how much of a pause its culprit explains, and what explains the rest; empty if it is nearly all."""
    whole_ns = culprit_ns(item)
    if not whole_ns or whole_ns > _NEARLY_ALL * item.pause_ns:
        return ""
    part, whole = duration(whole_ns), duration(item.pause_ns)
    if part == whole:
        return ""
    text = f"; this explains {part} of the {whole}"
    named = each_of(culprit(item)[0].party) or [culprit(item)[0].culprit]
    return text if whole_ns >= _HALF * item.pause_ns and not also(item, named) else text + rest(item, named, "")


def served(item: Explanation) -> list[str]:
    """Return the times that disks and servers worked for each party while a load waited for them."""
    shown = [each for each in _merged(item.charges) if each.time_ns > _LITTLE * item.pause_ns]
    mounts = list(dict.fromkeys(each.disk for each in shown if each.layer in _OF_SERVERS))
    if len(mounts) == 1 and all(each.layer in _OF_SERVERS for each in shown):
        told = [_short(each, is_said=True)[1] for each in shown]
        return [f"What the server of {mounts[0]} did in these waits: {enumerated(told)}."]
    who = "disks and servers" if mounts else "disks"
    return [f"What {who} did in these waits: {enumerated([_short(each)[1] for each in shown])}."] if shown else []


def _merged(charges: Iterable[Charge]) -> list[Charge]:
    """Return charges, the most time first, those of one limit or mapper as one, whoever's requests these held."""
    found: dict[tuple[str, ...], Charge] = {}
    for each in charges:
        is_held = each.layer in (LIMIT, MAPPER)
        key = (each.layer, each.words) if is_held else (each.layer, each.words, each.party, each.disk)
        old = found.get(key)
        found[key] = replace(old, party="", time_ns=old.time_ns + each.time_ns) if old and is_held else each
    return sorted(found.values(), key=lambda each: -each.time_ns)


def _short(main: Charge, *, is_said: bool = False) -> tuple[int, str]:
    """Return the time of a charge, and that in a few words. is_said: which server it is was said before."""
    amount, took, server = size(main.size), duration(main.time_ns), f"the server of {main.disk}"
    words = {
        DEVICE: f"{amount} {main.party if main.party.startswith(READ) else f'from {main.party}'}",
        CACHE: f"{amount} in its own cache from {main.party}" if main.party else "its own cache",
        THROTTLE: f"{amount} from {main.party} in the limit of the disk" if main.party else "the limit of the disk",
        FLUSH: "flushes of its cache",
        STILL: "nothing, although it had requests",
        SERVER: f"{f'{amount} from' if main.size else 'requests of'} {main.party}{'' if is_said else f' by {server}'}",
        GONE: f"nothing, as {'it' if is_said else server} was gone",
        SCHEDULER: "nothing, as the I/O scheduler kept the request back",
        LIMIT: f"a request that was delayed {main.words}",
        MAPPER: f"a request that was delayed {main.words}",
    }
    return main.time_ns, f"{took} for {words.get(main.layer, _UNKNOWN)}"


def _requester(chain: Chain) -> str:
    """Return who submitted a request, in words."""
    name = chain.links[-1][0]
    if not chain.kernel:
        return name
    return JOURNAL if name.startswith(JOURNALS) else "a kernel worker"
