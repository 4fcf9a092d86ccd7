"""The answer of `wblab why` in one sentence for each cause: who stopped whom, for how long, through what."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wblab.core.units import NS_PER_S, Bytes, format_bytes
from wblab.why.account import ASLEEP, CUT_OFF, REQUEST, RUNNABLE, RUNNING, STOPPED, UNTOLD, Chain
from wblab.why.blame import is_polling
from wblab.why.explain import NO_ONE, Cause, Explanation
from wblab.why.request import JOURNAL, JOURNALS, READ, Request
from wblab.why.tasks import is_kernel_thread

_THROTTLED = "throttled"
_ASKED = "flusher"  # the kind of wait of who asked the flusher to write, as sync and syncfs do
_HALF = 0.5
_NEARLY_ALL = 0.9  # of a pause: of less it is said how much
_SMALL = 100_000  # bytes: less is not told in MB
_MOST_LOADS = 3
# What a queue of 4 requests made of the longest pause, by the wait that was behind the disk's queue.
_MEASURED = {"journal writes block": "15.6 s became 1.3 s", "commit": "7.5 s became 0.35 s"}


@dataclass(frozen=True)
class Group:
    """Pauses of one cause. items: in the order of time; longest: that of them; party: who stopped them, if known."""

    items: tuple[Explanation, ...]
    party: str

    @property
    def longest(self) -> Explanation:
        """The longest of them."""
        return max(self.items, key=lambda item: item.pause_ns)

    @property
    def pause_ns(self) -> int:
        """How long all of them were."""
        return sum(item.pause_ns for item in self.items)


def groups(found: Iterable[Explanation]) -> list[Group]:
    """Return pauses by cause: with what the most of each ended, and whose bytes stood before; the most time first."""
    by: dict[tuple[str, ...], list[Explanation]] = {}
    for item in found:
        chain, request = _main(item)
        cause = _throttled(item) if chain.links[-1][1] == _THROTTLED else None
        disk = request.disk if request else cause.disk if cause else ""
        by.setdefault((chain.end, _kind(chain), party(item), disk), []).append(item)
    return sorted((Group(tuple(items), key[2]) for key, items in by.items()), key=lambda group: -group.pause_ns)


def _main(item: Explanation) -> tuple[Chain, Request | None]:
    """Return the chain that most of a pause was, and the request that it ended with."""
    place = max(range(len(item.chains)), key=lambda at: item.chains[at].time_ns)
    return item.chains[place], item.requests[place] if item.requests else None


def _kind(chain: Chain) -> str:
    return "" if chain.end == REQUEST else chain.links[-1][1]


def party(item: Explanation) -> str:
    """Return whose bytes stopped a pause's load, or who held it; empty where nobody did, or it is not known."""
    chain, request = _main(item)
    if request and request.still_ns < _HALF * (request.done_ns - request.handed_ns):
        return next(iter(request.ahead), "")
    if chain.links[-1][1] == _THROTTLED:
        cause = _throttled(item)
        return next(iter(cause.dirty), "") if cause else ""
    if len(chain.links) == 1:
        return next(iter(item.ran), "") if chain.end == RUNNABLE else ""
    return chain.links[-1][0] if chain.end in (RUNNING, RUNNABLE, ASLEEP) else ""


def _throttled(item: Explanation) -> Cause | None:
    return next((cause for cause in item.causes if cause.kind == _THROTTLED), None)


def sentence(group: Group) -> str:
    """Return who stopped whom, for how long and through what, of pauses of one cause."""
    loads = list(dict.fromkeys(item.load for item in group.items))
    calls = list(dict.fromkeys(item.causes[0].call for item in group.items if item.causes and item.causes[0].call))
    times = "once" if len(group.items) == 1 else f"{len(group.items)} times"
    upto = "for" if len(group.items) == 1 else "for up to"
    where = f" in {_listed(calls)}" if calls else ""
    because = f"{_because(group)}{_of_it(group.longest)}"
    return f"{_listed(loads)} stopped {upto} {_s(group.longest.pause_ns)}{where}, {times}: {because}."


def _of_it(item: Explanation) -> str:
    """Return for how much of a pause its main cause stands; empty where for nearly all, in one wait."""
    main, request = _main(item)
    if main.time_ns > _NEARLY_ALL * item.pause_ns or main.end == UNTOLD:
        return ""
    requests = item.requests or (None,) * len(item.chains)
    alike_ns = sum(
        chain.time_ns
        for chain, each in zip(item.chains, requests, strict=True)
        if chain.end == main.end and _first(each) == _first(request) and (request or _kind(chain) == _kind(main))
    )
    this = "this" if main.longest_ns > _NEARLY_ALL * alike_ns else "this, with waits like it,"
    part, whole = _s(alike_ns), _s(item.pause_ns)
    return f"; {this} was {part} of the {whole}" if part != whole else ""


def _first(request: Request | None) -> str:
    return next(iter(request.ahead), "") if request else ""


def _because(group: Group) -> str:  # noqa: PLR0911 - one for each way in which a chain ends
    item = group.longest
    chain, request = _main(item)
    name, did = chain.links[-1]
    alone = "it" if len({each.load for each in group.items}) == 1 else "they"
    held = f"{name}, which held {'it' if len(group.items) == 1 else 'them'}," if len(chain.links) > 1 else alone
    if chain.end == REQUEST:
        return _behind(chain, request, alone == "it")
    if did == _THROTTLED:
        return _at_the_limit(item)
    if chain.end == RUNNING:
        if len(chain.links) == 1:
            return "it was at work itself" if alone == "it" else "they were at work themselves"
        return f"{held} was at work: no fault of writeback"
    if chain.end == RUNNABLE:
        who = next(iter(item.ran), "")
        if who == NO_ONE and len(chain.links) == 1:
            return f"{alone} could have run on the idle processor, but was not let, as by cpu.max of a control group"
        had = f"{who} had the processor" if who and len(chain.links) == 1 else "had no processor"
        return f"{held} could have run, but {had}: no fault of writeback"
    if chain.end == STOPPED:
        return f"somebody had {'frozen the filesystem' if did == 'frozen' else f'stopped {name}'}"
    if is_polling(item.chains, item.pause_ns):
        return f"{name} slept again and again, as who asks whether something is done; for what, the trace cannot tell"
    if chain.end == ASLEEP:
        return f"{held} slept, by a timer of its own: no fault of writeback"
    if chain.end == CUT_OFF:
        return "a signal cut off what it waited for, and the trace does not tell what that was"
    if chain.end == UNTOLD:
        return "why is not known"
    return f"{held} waited for a time to pass ({did})"


def _behind(chain: Chain, request: Request | None, one: bool) -> str:
    if request is None:
        who = ("it" if one else "they") if len(chain.links) == 1 else _requester(chain.links[-1][0])
        return f"a request for which {who} waited was with the disk"
    took_ns = request.done_ns - request.handed_ns
    whose = _requester(chain.links[-1][0]) if len(chain.links) > 1 else ""
    waited = f"{request.what}{whose and f' of {whose}'}, for which {'it' if one else 'they'} waited,"
    if request.still_ns > _HALF * took_ns:
        return f"{request.disk} stood still for {_s(request.still_ns)}: it had requests and finished none"
    first, total = next(iter(request.ahead), ""), sum(request.ahead.values())
    if request.is_limited:
        behind = f", behind {_mb(request.ahead[first])} of {first}" if total > 2 * request.size else ""
        return f"{waited} was held back for {_s(request.held_ns)}, {request.held_by}{behind}"
    if first.startswith(READ):
        did = f"{first.removeprefix(READ)} had asked {request.below} to read"
    else:
        did = f"{first or 'somebody'} had filled the queue of {request.below} with"
    share = request.ahead.get(first, 0) / total if total else 1
    return f"{did} {_mb(round(share * total))}, and {waited} stood behind that"


def _requester(name: str) -> str:
    if name.startswith(JOURNALS):
        return JOURNAL
    return "a worker of the kernel" if is_kernel_thread(name) else name


def _at_the_limit(item: Explanation) -> str:
    cause = _throttled(item)
    if cause is None or not cause.dirty:
        return "the kernel held it back near the dirty limit"
    first, total = next(iter(cause.dirty)), sum(cause.dirty.values())
    share = f"{cause.dirty[first] / total:.0%}"
    text = (
        f"{_mb(total)} were dirty or being written, {share} of it by {first}, and near the limit writers are held back"
    )
    if set(cause.places) - {cause.disk}:
        most = next(iter(cause.places))
        text += f". {_mb(cause.places[most])} of it were for {most}"
        if cause.disk != most:
            text += f", {_mb(cause.places.get(cause.disk, Bytes(0)))} for {cause.disk}, to which {item.load} writes"
    return text


@dataclass(frozen=True)
class Remedy:
    """What may end such pauses. setting: to try it with; measured: what became of which pause in the lab, if any."""

    what: str
    setting: str
    measured: str


def remedy(group: Group) -> Remedy | None:
    """Return what ended such pauses in the lab's runs, or may; None where nothing is known to.

    Measured by the matrices remedies, commit and two-disks: docs/explanation/what-helps.md.
    """
    chain, request = _main(group.longest)
    if chain.end == REQUEST and request and request.name and group.party and not group.party.startswith(READ):
        measured = next((_MEASURED[did] for _, did in chain.links if did in _MEASURED), "")
        if any(did == _ASKED for _, did in chain.links):  # who has all written waits for all, in whatever queue
            return None
        own = group.party.partition("'s ")[0] in {each.load for each in group.items}  # a child of its own too
        if request.is_limited or group.party.startswith(JOURNAL) or own:
            return None
        what = f"a queue of 4 requests for {request.below}"
        return Remedy(what, f"disk.{request.name}.queue.nr_requests=4", measured)
    cause = _throttled(group.longest) if chain.links[-1][1] == _THROTTLED else None
    if cause and cause.places and (most := next(iter(cause.places))) != cause.disk and most.startswith("the disk *"):
        name = most.removeprefix("the disk *").removesuffix("*")
        return Remedy(f"a queue of 4 requests for {most}", f"disk.{name}.queue.nr_requests=4", "3.8 s became 0.06 s")
    return None


def by_itself(group: Group) -> str:
    """Return what plainly ends such pauses, where a setting or somebody's act stopped them; else empty."""
    chain, request = _main(group.longest)
    if chain.end == STOPPED:
        return "It goes on when that is taken back."
    if chain.end == REQUEST and request and request.is_limited:
        return f"What ends it is to change what holds it back: {request.held_by.removeprefix('by ')}."
    return ""


def _listed(words: Sequence[str]) -> str:
    shown = list(words[:_MOST_LOADS]) + ([f"{len(words) - _MOST_LOADS} more"] if len(words) > _MOST_LOADS else [])
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]])) if shown else ""


def _mb(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= _SMALL else format_bytes(Bytes(size))


def _s(time_ns: int) -> str:
    return f"{time_ns / NS_PER_S:.1f} s" if time_ns >= NS_PER_S else f"{time_ns / NS_PER_S:.2f} s"
