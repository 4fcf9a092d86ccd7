"""Sentences on who was ahead of a load at a disk, or what held its request: by the time that each took."""

from collections.abc import Iterable

from wblab.analysis.why.account import REQUEST, Chain
from wblab.analysis.why.charges import (
    CACHE,
    DEVICE,
    FLUSH,
    LIMIT,
    MAPPER,
    SCHEDULER,
    STILL,
    THROTTLE,
    Charge,
    culprits,
)
from wblab.analysis.why.explain import Explanation
from wblab.analysis.why.parties import JOURNAL, JOURNALS, READ
from wblab.analysis.why.request import Request
from wblab.report.enumeration import enumerated
from wblab.report.quantities import duration, size

_HALF = 0.5
_NEARLY_ALL = 0.9  # of a pause: a cause of less than this is printed with its time
_LITTLE = 0.01  # of a pause: what took less is not listed
_MOST_OTHERS = 2
_THROTTLED_QUEUE = "the limit that makes the disk slow (blk-throttle)"
_UNKNOWN = "nothing, for a reason that the trace does not show"


def culprit(item: Explanation) -> tuple[Charge, ...]:
    """Return the charges of the culprit for which disks worked longest in a pause, the longest first."""
    return next(iter(culprits(item.charges).values()), ())


def culprit_ns(item: Explanation) -> int:
    """Return the time of a pause that its culprit explains."""
    return sum(charge.time_ns for charge in culprit(item))


def behind(item: Explanation, chain: Chain, request: Request | None, *, one: bool) -> str:
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
    whose = f" from {_requester(chain)}" if len(chain.links) > 1 else ""
    waited = f"{request.what if request else 'a request'}{whose} that {they} waited for"
    return _without_party(item, found[0], waited, they) or _with_party(item, found[0], waited, request, one=one)


def _without_party(item: Explanation, main: Charge, waited: str, they: str) -> str:
    """Return what held a request or kept the disk busy that is nobody's I/O; empty if it is somebody's."""
    took = duration(main.time_ns)
    said = {
        STILL: f"{main.disk} completed nothing for {took}, although it had requests",
        FLUSH: f"{main.disk} took {took} to flush its cache, and {they} waited for that",
        SCHEDULER: f"the I/O scheduler kept {waited} back for {took}, although {main.disk} was idle",
        MAPPER: f"{waited} was delayed for {took} {main.words}",
    }
    if main.layer not in said and not main.party:
        held = f"delayed for {duration(_held_ns(item, main))} {main.words}" if main.words else f"held back for {took}"
        return f"{waited} was {held}" + ("" if main.words else ", and the trace does not show by what")
    return said.get(main.layer, "")


def _with_party(  # noqa: PLR0911 - one for each way to be ahead
    item: Explanation, main: Charge, waited: str, request: Request | None, *, one: bool
) -> str:
    """Return whose I/O was ahead of a request."""
    took, amount, own = duration(main.time_ns), size(main.size), "of its own" if one else "of their own"
    long = f", which took {took}" if not of_it(item) else ""
    is_its_own, after = main.party.removeprefix(READ) == item.load, f"and {waited} was queued behind it"
    if main.layer == LIMIT:
        held = f"delayed for {duration(_held_ns(item, main))} {main.words}"
        is_behind = request is not None and main.size > 2 * request.size
        if is_its_own:
            return f"{amount} {own} was {held}"
        return f"{waited} was {held}" + (f", behind {amount} from {main.party}" if is_behind else "")
    if main.layer == CACHE:
        whose = own if is_its_own else f"from {main.party}"
        return f"the cache of {main.disk} held {amount} {whose}, and {waited} had to wait until that was written"
    if is_its_own:
        slow = " (blk-throttle)" if main.layer == THROTTLE else ""
        return f"{main.disk}{slow} took {took} for {amount} {own}"
    if main.party.startswith(READ):
        return f"{main.party.removeprefix(READ)} had asked {main.disk} to read {amount}{long}, {after}"
    if main.layer == THROTTLE:
        return f"{main.party} had filled the queue of {_THROTTLED_QUEUE} with {amount}, {after}"
    if main.is_full:
        return f"{main.party} had filled the queue of {main.disk} with {amount}, {after}"
    return f"{main.party} had {amount} in the queue of {main.disk}{long}, {after}"


def of_it(item: Explanation) -> str:
    """Return how much of a pause its culprit explains, and what explains the rest; empty if it is nearly all."""
    whole_ns = culprit_ns(item)
    if not whole_ns or whole_ns > _NEARLY_ALL * item.pause_ns:
        return ""
    part, whole = duration(whole_ns), duration(item.pause_ns)
    if part == whole:
        return ""
    text = f"; this explains {part} of the {whole}"
    if whole_ns >= _HALF * item.pause_ns:
        return text
    others = [_short(each) for each in list(culprits(item.charges).values())[1:]]
    rest = [text for time_ns, text in others if time_ns > _LITTLE * item.pause_ns][:_MOST_OTHERS]
    waits = sum(chain.time_ns for chain in item.chains if chain.end != REQUEST)
    if waits > _LITTLE * item.pause_ns:
        rest.append(f"other waits {duration(waits)}")
    return f"{text}, and the rest has other causes: {enumerated(rest)}" if rest else text


def served(item: Explanation) -> list[str]:
    """Return the times that disks worked for each party while a load waited for them."""
    listed = [_short(each) for each in culprits(item.charges).values()]
    shown = [text for time_ns, text in listed if time_ns > _LITTLE * item.pause_ns]
    return [f"What disks did in these waits: {enumerated(shown)}."] if shown else []


def is_own(load: str, party: str) -> bool:
    """Whether a party is a load, or a task of it."""
    name = party.removeprefix(READ)
    return name == load or name.startswith(f"{load}'s ")


def _held_ns(item: Explanation, main: Charge) -> int:
    """Return how long the same limit held requests, whoever else was behind it."""
    return sum(charge.time_ns for charge in item.charges if (charge.layer, charge.words) == (main.layer, main.words))


def _short(charges: Iterable[Charge]) -> tuple[int, str]:
    """Return the time of one culprit's charges, and that in a few words."""
    found = list(charges)
    main, time_ns = found[0], sum(charge.time_ns for charge in found)
    amount, took = size(main.size), duration(time_ns)
    words = {
        DEVICE: f"{amount} {main.party if main.party.startswith(READ) else f'from {main.party}'}",
        CACHE: f"{amount} in its own cache from {main.party}" if main.party else "its own cache",
        THROTTLE: f"{amount} from {main.party} in the limit of the disk" if main.party else "the limit of the disk",
        FLUSH: "flushes of its cache",
        STILL: "nothing, although it had requests",
        SCHEDULER: "nothing, as the I/O scheduler kept the request back",
        LIMIT: f"a request that was delayed {main.words}",
        MAPPER: f"a request that was delayed {main.words}",
    }
    return time_ns, f"{took} for {words.get(main.layer, _UNKNOWN)}"


def _requester(chain: Chain) -> str:
    """Return who submitted a request, in words."""
    name = chain.links[-1][0]
    if not chain.kernel:
        return name
    return JOURNAL if name.startswith(JOURNALS) else "a kernel worker"
