"""The request whose completion ended a wait: its way through the block layer, and the I/O that was ahead of it."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from wblab.analysis.runs.run import Run
from wblab.analysis.why.flushed import NOBODY, UNKNOWN_OWNER, writer_to
from wblab.analysis.why.limits import below, device_name, hold_of, is_hardware
from wblab.analysis.why.limits import is_released as released
from wblab.analysis.why.places import NEVER
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import SUBMITTER, Party, device_number, device_text
from wblab.analysis.why.tasks import is_kernel_thread
from wblab.core.spec import Spec
from wblab.core.units import NS_PER_S, Bytes, format_bytes

BTRFS = "btrfs's workers"  # they also write files' data, and the trace does not show whose
JOURNAL, METADATA, FLUSHER = "the journal", "the filesystem", "the flusher (program unknown)"
_DATA_TOO = "data=journal"
READ = "read by "  # prefix of the names of readers
_FLUSHERS = "kworker/"
JOURNALS = ("jbd2/", "xfsaild/", "xfs-cil/", "xfs-log/")
# A disk has stopped if a request takes so many times as long as others of its size, and so much longer.
_TIMES, _LONGER_NS = 4, NS_PER_S // 5


@dataclass(frozen=True)
class Request:
    """The request whose completion ended a wait.

    disk: in words. handed_ns: when its first bio was submitted. held_ns, held_by: how long it was then delayed before
    it entered the disk's queue, and by what, in words. still_ns: how long the disk completed nothing meanwhile.

    ahead: the bytes that the disk completed from handed_ns to its end, itself included, by who dirtied them. If a delay
    held it for most of the time, they count from its entry into the queue; if a control group's limit did, only those
    of the group count. below: the disk that completed them, in words: itself, or the disk of a loop device's file.
    name: that disk's name in the spec, empty if it has none. is_limited: a limit held it for most of the time, so a
    shorter queue does not help. in_throttle: so did the queue of a limit for the whole disk (block/blk-throttle.c).
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

    @property
    def what(self) -> str:
        """A description in words."""
        return f"a request of {format_bytes(self.size)}" if self.size else "a cache flush"


def request_of(run: Run, recorded: Recorded, span: int) -> Request | None:
    """Return the request that ended the wait that began with a span of `offcpu`; None if its submission is unknown."""
    done, row = recorded.done, recorded.request(span)
    data = done.data(row) if row >= 0 else -1
    if data < 0 or done.first_rank[data] == NEVER:
        return None
    device, first, end = int(done.device[row]), int(done.first_rank[data]), int(done.rank[row])
    handed_ns, done_ns = int(done.first_ns[data]), int(done.ts_ns[row])
    is_released = released(recorded, data)
    if is_released:  # the trace has only its release: it had been submitted when the wait began, or before
        first, handed_ns = (
            min(of, int(column[span]))
            for of, column in ((first, recorded.offcpu.rank), (handed_ns, recorded.offcpu.ts_ns))
        )
    queued_ns = min(int(column[data]) for column in (done.inserted_ns, done.issued_ns)) if done.size[data] else NEVER
    if is_released:
        queued_ns = int(done.first_ns[data])
    held_ns = max(0, queued_ns - handed_ns) if queued_ns != NEVER else 0
    hold = hold_of(run, recorded, data, held_ns)
    was_held = 2 * held_ns > done_ns - handed_ns
    is_limited = hold.is_limit and was_held
    if is_limited and hold.delays:
        first = max(first, done.rank_at(queued_ns))
    bottom = below(run, device)
    ahead = recorded.moved.ahead(bottom, first, end)
    if is_limited and hold.loads:
        ahead = {party: size for party, size in ahead.items() if _load(recorded, party) in hold.loads}
    return Request(
        disk=disk_of(run, device),
        name=device_name(run, bottom),
        device=device,
        sector=int(done.sector[row]),
        size=Bytes(int(done.size[data])),
        handed_ns=handed_ns,
        done_ns=done_ns,
        held_ns=held_ns,
        held_by=hold.words,
        is_limited=is_limited,
        in_throttle=hold.queues and was_held,
        below=disk_of(run, bottom),
        still_ns=_still_ns(run, recorded, device, handed_ns, done_ns),
        ahead=_journalled(run, recorded, bottom, first, _whole(recorded, device, named(recorded, ahead), is_released)),
    )


def _journalled(run: Run, recorded: Recorded, device: int, rank: int, sizes: dict[str, Bytes]) -> dict[str, Bytes]:
    """Return sizes; with data=journal, the journal is named with the task that dirtied most of its data.

    What btrfs's workers write may be metadata or files' data: it is named as theirs.
    """
    name = device_name(run, device)
    if isinstance(run.spec, Spec) and name and run.spec.disk[name].filesystem == "btrfs":
        return {BTRFS if key == METADATA else key: size for key, size in sizes.items()}
    options = run.spec.disk[name].mount_options if isinstance(run.spec, Spec) and name else ()
    owners, _ = recorded.dirtied.at(rank, device)
    if JOURNAL not in sizes or _DATA_TOO not in ",".join(options).split(",") or not owners:
        return sizes
    most = next(iter(owners))
    if 2 * owners[most] <= sum(owners.values()):
        return sizes
    whose = f"{JOURNAL} (data of {recorded.tasks.owner(most)})"
    return {whose if key == JOURNAL else key: size for key, size in sizes.items()}


def disk_of(run: Run, device: int) -> str:
    """Return a device's name for sentences."""
    names = [name for name, disk in run.disks.items() if device_number(disk.device) == device]
    if names:
        return disk_words(run, names[0])
    number = device_text(device)
    known = run.device_names.get(number)
    return f"the disk {known}" if known else f"the device {number}"


def disk_words(run: Run, name: str) -> str:
    """Return a disk's name for sentences: "the disk", with its name if a run has several."""
    return f"the disk *{name}*" if len(run.disks) > 1 else "the disk"


def _still_ns(run: Run, recorded: Recorded, device: int, start_ns: int, end_ns: int) -> int:
    """Return how long a disk had requests but completed none in a span of time, in ns.

    A device that is made of others waits for those: it has 0.
    """
    if not is_hardware(run, device):
        return 0
    rows, service_ns = recorded.done.service_ns(device)
    if len(rows) < 4:
        return 0
    size = recorded.done.size[rows]
    usual_ns = np.median(service_ns / size) * size
    still = (service_ns > _TIMES * usual_ns) & (service_ns > usual_ns + _LONGER_NS)
    done_ns = recorded.done.ts_ns[rows]
    begun_ns = np.maximum(done_ns - service_ns, start_ns)
    inside = np.clip(np.minimum(done_ns, end_ns) - begun_ns - usual_ns, 0, None)
    return int(inside[still].sum())


def named(recorded: Recorded, sizes: dict[Party, Bytes]) -> dict[str, Bytes]:
    """Return sizes by the name of the task that dirtied them or, if no task did, that submitted them."""
    found: Counter[str] = Counter()
    for party, size in sizes.items():
        found[_whose(recorded, party)] += size
    return {name: Bytes(size) for name, size in found.most_common()}


def _whole(recorded: Recorded, device: int, sizes: dict[str, Bytes], is_released: bool) -> dict[str, Bytes]:
    """Return sizes; what a rate limit released belongs to the only program that wrote to the device, if one did."""
    writer = writer_to(recorded.trace, device_text(device)) if is_released and FLUSHER in sizes else UNKNOWN_OWNER
    if writer == UNKNOWN_OWNER:
        return sizes
    found = Counter({name: size for name, size in sizes.items() if name != FLUSHER})
    found[recorded.tasks.owner(writer)] += sizes[FLUSHER]
    return {name: Bytes(size) for name, size in found.most_common()}


def _load(recorded: Recorded, party: Party) -> str:
    return recorded.tasks.load_of(party.owner if party.owner >= 0 else party.submitter)


def _whose(recorded: Recorded, party: Party) -> str:
    by = recorded.tasks.owner(party.submitter)
    is_kernel = is_kernel_thread(by) and not recorded.tasks.load_of(party.submitter)
    if party.is_read:
        return READ + (METADATA if is_kernel else by)
    if party.owner == SUBMITTER:
        return _of_threads(by, METADATA) if is_kernel else by
    if party.owner == NOBODY:
        return _of_threads(by, METADATA)
    if party.owner == UNKNOWN_OWNER:
        return _of_threads(by, FLUSHER if by.startswith(_FLUSHERS) else by)
    return recorded.tasks.owner(party.owner)


def _of_threads(by: str, otherwise: str) -> str:
    return JOURNAL if by.startswith(JOURNALS) else otherwise
