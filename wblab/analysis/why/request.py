"""The request whose completion ended a wait: its way through the block layer, and the I/O that was ahead of it."""

from collections import Counter
from dataclasses import dataclass

from wblab.analysis.runs.places import NEVER
from wblab.analysis.runs.run import Run
from wblab.analysis.why.devicelimits import MAPPER, below, device_name, disk_of, holds_of, is_by_crypt, is_released
from wblab.analysis.why.parties import Parties
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import Party
from wblab.analysis.why.served import served
from wblab.core.units import Bytes, format_bytes


@dataclass(frozen=True)
class IoRequest:
    """The request whose completion ended a wait.

    disk: in words. handed_ns: when its first bio was submitted. held_ns, held_by: how long it was then delayed before
    it entered the disk's queue, and by what, in words. still_ns: how long the disk completed nothing meanwhile.

    ahead: the bytes that the disk completed from handed_ns to its end, itself included, by who dirtied them. If a delay
    held it for most of the time, they count from its entry into the queue; if a control group's limit did, only those
    of the group count. below: the disk that completed them, in words: itself, or the disk of a loop device's file.
    name: that disk's name in the spec, empty if it has none; loop: that of the loop device above it; asked: that of the
    disk that was asked for it. is_by_crypt: dm-crypt held it for most of the time. whose: the party that has most of
    its data.
    is_limited: a limit held it for most of the time, so a shorter queue does not help. in_throttle: so did the
    queue of a limit for the whole disk (block/blk-throttle.c).
    """

    device: int
    sector: int
    size: Bytes
    handed_ns: int
    done_ns: int
    ahead: dict[str, Bytes]
    disk: str = "the disk"
    name: str = ""
    held_ns: int = 0
    still_ns: int = 0
    held_by: str = ""
    is_limited: bool = False
    in_throttle: bool = False
    below: str = "the disk"
    whose: str = ""
    loop: str = ""
    asked: str = ""
    is_by_crypt: bool = False

    @property
    def what(self) -> str:
        """A description in words."""
        return f"a request of {format_bytes(self.size)}" if self.size else "a cache flush"


def request_of(run: Run, recorded: Recorded, parties: Parties, span: int) -> IoRequest | None:
    """Return the request that ended the wait that began with a span of `offcpu`; None if its submission is unknown."""
    done, row = recorded.done, recorded.request(span)
    data = done.data(row) if row >= 0 else -1
    if data < 0 or done.first_rank[data] == NEVER:
        return None
    device, first, end = int(done.device[row]), int(done.first_rank[data]), int(done.rank[row])
    handed_ns, done_ns = int(done.first_ns[data]), int(done.ts_ns[row])
    is_held = is_released(recorded, data)
    if is_held:  # the trace has only its release: it had been submitted when the wait began, or before
        first, handed_ns = (
            min(of, int(column[span]))
            for of, column in ((first, recorded.offcpu.rank), (handed_ns, recorded.offcpu.ts_ns))
        )
    queued_ns = min(int(column[data]) for column in (done.inserted_ns, done.issued_ns)) if done.size[data] else NEVER
    if is_held:
        queued_ns = int(done.first_ns[data])
    held_ns = max(0, queued_ns - handed_ns) if queued_ns != NEVER else 0
    hold = max(holds_of(run, recorded, data, handed_ns), key=lambda each: each.time_ns, default=None)
    was_held = hold is not None and 2 * hold.time_ns > done_ns - handed_ns
    is_limited = hold is not None and hold.is_limit and was_held
    if hold is not None and is_limited and hold.kind == MAPPER:
        first = max(first, done.rank_at(hold.end_ns))
    bottom = below(run, device)
    ahead = recorded.moved.ahead(bottom, first, end)
    if hold is not None and is_limited and hold.loads:
        ahead = {party: size for party, size in ahead.items() if _load(recorded, party) in hold.loads}
    own = recorded.moved.ahead(device, int(done.rank[data]) - 1, int(done.rank[data]))
    names = parties.renamed(run, bottom, first, is_released=is_held)
    disk = served(run, recorded, bottom)
    inside = disk.within(handed_ns, done_ns)
    return IoRequest(
        disk=disk_of(run, device),
        name=device_name(run, bottom),
        device=device,
        sector=int(done.sector[row]),
        size=Bytes(int(done.size[data])),
        handed_ns=handed_ns,
        done_ns=done_ns,
        held_ns=held_ns,
        held_by=hold.words if hold else "",
        is_limited=is_limited,
        in_throttle=hold is not None and hold.queues and was_held,
        below=disk_of(run, bottom),
        still_ns=int(disk.still_ns[inside].sum()) if bottom == device else 0,
        ahead=_renamed(parties.named(ahead), names),
        whose=next(iter(_renamed(parties.named(own), names)), ""),
        loop=device_name(run, device) if bottom != device else "",
        is_by_crypt=was_held and is_by_crypt(recorded, data),
        asked=device_name(run, int(done.asked[data])),
    )


def _renamed(sizes: dict[str, Bytes], names: dict[str, str]) -> dict[str, Bytes]:
    """Return sizes with some names changed, the largest first."""
    found: Counter[str] = Counter()
    for name, size in sizes.items():
        found[names.get(name, name)] += size
    return {name: Bytes(size) for name, size in found.most_common()}


def _load(recorded: Recorded, party: Party) -> str:
    return recorded.tasks.load_of(party.owner if party.owner >= 0 else party.submitter)
