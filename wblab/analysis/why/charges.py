"""The time for which a load waited for disks, charged to whom they worked for, or to what held its request."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from wblab.analysis.runs.places import NEVER
from wblab.analysis.runs.run import Run
from wblab.analysis.why.devicelimits import LIMIT as LIMITED
from wblab.analysis.why.devicelimits import QUEUE, Hold, below, disk_of, holds_of, is_released, limited, loads_of
from wblab.analysis.why.parties import Parties
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import Numbers, device_number
from wblab.analysis.why.served import Served, Shares, served, shared
from wblab.analysis.why.servers import Answers
from wblab.core.units import Bytes

# device: it served data. cache: it wrote data from its own cache to the medium. flush: it flushed, and nothing is known
# to have been in its cache. still: it had requests and completed none. limit, throttle: a limit held the request, of a
# control group or of the whole disk. mapper: a device mapper did. scheduler: the I/O scheduler did, with an idle disk.
# server: a filesystem's server worked on requests. gone: it was gone.
Layer = Literal[
    "device", "cache", "flush", "still", "limit", "throttle", "mapper", "scheduler", "server", "gone", "unknown"
]
DEVICE: Layer = "device"
CACHE: Layer = "cache"
FLUSH: Layer = "flush"
STILL: Layer = "still"
LIMIT: Layer = "limit"
THROTTLE: Layer = "throttle"
MAPPER: Layer = "mapper"
SCHEDULER: Layer = "scheduler"
SERVER: Layer = "server"
GONE: Layer = "gone"
UNKNOWN: Layer = "unknown"

_TAG_WAITS = "blk_mq_get_tag"
Span = tuple[int, int]


@dataclass(frozen=True)
class Charge:
    """The part of a pause for which a layer worked for one party. size: the party's bytes that it moved in that time.

    party: empty if none is known. disk: in words. words: what held the request, if something did. is_full: a task
    waited meanwhile for a free request of the disk's queue.
    """

    layer: Layer
    party: str
    disk: str
    time_ns: int
    size: Bytes
    words: str = ""
    is_full: bool = False

    @property
    def culprit(self) -> str:
        """The party or, if none is known, what was at work."""
        return self.party or f"{self.layer} {self.disk} {self.words}"


class Charges:
    """Charges of one pause, summed up."""

    def __init__(self, run: Run, recorded: Recorded, parties: Parties) -> None:
        self._run, self._recorded, self._parties = run, recorded, parties
        self._found: dict[tuple[Layer, str, int, str], tuple[float, float]] = {}
        self._rank, self._is_released = 0, False  # of the request that is being charged

    def add(self, row: int, start_ns: int, end_ns: int) -> None:
        """Charge the part of a wait in which a request was under way. row: the request of `Recorded.done`, -1: none."""
        done = self._recorded.done
        if row < 0:
            return
        data = done.data(row)
        data = row if data < 0 else data
        self._rank, self._is_released = int(done.first_rank[data]), is_released(self._recorded, data)
        left = [(start_ns, end_ns)]
        for hold in holds_of(self._run, self._recorded, data, start_ns):
            if hold.kind != QUEUE and hold.is_known:
                held, left = _cut(left, (hold.start_ns, hold.end_ns))
                for span in held:
                    self._hold(data, hold, span)
        device = below(self._run, int(done.device[row]))
        disk = served(self._run, self._recorded, device)
        for flush in self._flushes(disk, row, data):
            flushed, left = _cut(left, flush)
            for span in flushed:
                self._drain(disk, device, span, FLUSH)
        for span in left:
            self._serve(disk, device, data, span)

    def answered(self, server: Answers, start_ns: int, end_ns: int) -> None:
        """Charge a wait for the answer of a filesystem's server, by what that did meanwhile."""
        device = device_number(self._run.disks[server.disk].device)
        did = server.within(start_ns, end_ns)
        for party, (time_ns, size) in did.shares.items():
            self._add(SERVER, party, device, time_ns, size)
        self._rest(device, did.gone_ns, GONE)
        self._rest(device, end_ns - start_ns - did.whole_ns, UNKNOWN)

    def summed(self, start_ns: int, end_ns: int) -> tuple[Charge, ...]:
        """Return the charges, the most time first. start_ns, end_ns: of the pause."""
        full = {
            device: bool(np.any((ts_ns < end_ns) & (woken_ns > start_ns)))
            for device, (ts_ns, woken_ns) in _full(self._recorded).items()
        }
        found = [
            Charge(
                layer,
                party,
                disk_of(self._run, device),
                round(time_ns),
                Bytes(round(size)),
                words,
                full.get(device, False),
            )
            for (layer, party, device, words), (time_ns, size) in self._found.items()
            if time_ns >= 1
        ]
        return tuple(sorted(found, key=lambda charge: -charge.time_ns))

    def _add(self, layer: Layer, party: str, device: int, time_ns: float, size: float = 0, words: str = "") -> None:  # noqa: PLR0913, PLR0917
        key = (layer, party, device, words)
        time, bytes_ = self._found.get(key, (0.0, 0.0))
        self._found[key] = (time + time_ns, bytes_ + size)

    def _shares(self, layer: Layer, device: int, shares: Shares, words: str = "") -> float:
        """Add shares by party; return their time."""
        names = self._parties.renamed(self._run, device, self._rank, is_released=self._is_released)
        for party, (time_ns, size) in shares.items():
            name = self._parties.of(party)
            self._add(layer, names.get(name, name), device, time_ns, size, words)
        return sum(time_ns for time_ns, _ in shares.values())

    def _hold(self, row: int, hold: Hold, span: Span) -> None:
        """Charge what held a request; the time of a limit by the bytes that it released meanwhile."""
        done, device = self._recorded.done, int(self._recorded.done.device[row])
        time_ns = span[1] - span[0]
        if hold.kind != LIMITED:
            return self._add(MAPPER, hold.party, int(done.asked[row]), time_ns, 0, hold.words)
        rows = self._released(hold, device)
        if hold.loads:
            rows = np.array([at for at in rows.tolist() if loads_of(self._recorded, at) & hold.loads], np.int64)
        rows = rows if len(rows) else np.array([row])
        size = done.size[rows].astype(float)
        part = np.full(len(rows), time_ns / hold.time_ns)
        shares = shared(self._recorded, rows, size / size.sum() * time_ns, part)
        charged_ns = self._shares(THROTTLE if hold.queues else LIMIT, device, shares, hold.words)
        return self._rest(device, time_ns - charged_ns, LIMIT, hold.words)

    def _released(self, hold: Hold, device: int) -> Numbers:
        """Return the requests of a device that a limit released while it held another one, up to that."""
        done = self._recorded.done
        if self._is_released:  # the trace has only the release
            rows = np.flatnonzero((done.device == device) & (done.size > 0) & (done.first_ns > hold.start_ns))
            rows = rows[done.first_ns[rows] <= hold.end_ns]
            return np.array([at for at in rows.tolist() if is_released(self._recorded, at)], np.int64)
        rows = limited(self._recorded, device)
        queued_ns = np.minimum(done.inserted_ns[rows], done.issued_ns[rows])
        return rows[(queued_ns > hold.start_ns) & (queued_ns <= hold.end_ns)]

    def _flushes(self, disk: Served, row: int, data: int) -> Iterator[Span]:
        """Yield when a disk did the flushes that a request asked for: before its data were queued, and after them."""
        done = self._recorded.done
        if not (done.is_flush[row] or done.asks_flush[data] or row != data):
            return
        handed_ns, done_ns = int(done.first_ns[data]), int(done.ts_ns[row])
        queued_ns = min(int(done.inserted_ns[data]), int(done.issued_ns[data])) if done.size[data] else NEVER
        inside = np.flatnonzero((disk.is_flush > 0) & (disk.done_ns > handed_ns) & (disk.done_ns <= done_ns))
        for at in inside.tolist():
            issued_ns = int(done.issued_ns[disk.rows[at]])
            if issued_ns == NEVER or (queued_ns < disk.done_ns[at] and issued_ns < done.ts_ns[data] and data != row):
                continue
            sooner = (disk.is_flush == 0) & (done.issued_ns[disk.rows] <= issued_ns)
            before = sooner & (disk.done_ns <= disk.done_ns[at])
            yield max(issued_ns, int(disk.done_ns[before].max(initial=0))), int(disk.done_ns[at])

    def _drain(self, disk: Served, device: int, span: Span, layer: Layer) -> None:
        """Charge time for which a disk wrote its own cache to the medium."""
        charged_ns = self._shares(CACHE, device, disk.drained(*span))
        self._rest(device, span[1] - span[0] - charged_ns, layer)

    def _serve(self, disk: Served, device: int, row: int, span: Span) -> None:
        """Charge time for which a request was in the queue or in the disk, by what the disk did meanwhile."""
        done, at = self._recorded.done, disk.within(*span)
        begun_ns, done_ns = np.maximum(disk.begun_ns[at], span[0]), np.minimum(disk.done_ns[at], span[1])
        time_ns = np.maximum(0, done_ns - begun_ns)
        for each in np.flatnonzero(disk.is_flush[at]).tolist():
            self._drain(disk, device, (int(begun_ns[each]), int(done_ns[each])), FLUSH)
        whole_ns = np.maximum(1, disk.done_ns[at] - disk.begun_ns[at])
        still_ns = float((time_ns * disk.still_ns[at] / whole_ns).sum())
        cached_ns = float((time_ns * disk.cached_ns[at] / whole_ns).sum())
        own_ns = time_ns * (1 - (disk.still_ns[at] + disk.cached_ns[at]) / whole_ns) * (disk.is_flush[at] == 0)
        part = np.where(disk.done_ns[at] > disk.begun_ns[at], time_ns / whole_ns, 1.0)
        data = np.flatnonzero(disk.is_flush[at] == 0)
        shares = shared(self._recorded, disk.rows[at][data], own_ns[data], part[data])
        charged_ns = self._shares(DEVICE, device, shares)
        self._rest(device, float(own_ns.sum()) - charged_ns, UNKNOWN)
        self._rest(device, still_ns, STILL)
        if cached_ns >= 1:
            drained = disk.drained(*span)
            whole = sum(time for time, _ in drained.values())
            scale = cached_ns / whole if whole else 0.0
            self._shares(
                CACHE, device, {party: (time * scale, size * scale) for party, (time, size) in drained.items()}
            )
            self._rest(device, cached_ns if not whole else 0, CACHE)
        idle_ns = span[1] - span[0] - float(time_ns.sum())
        if idle_ns >= 1:
            first_ns, last_ns = max(span[0], int(done.inserted_ns[row])), min(span[1], int(done.issued_ns[row]))
            inside_ns = min(idle_ns, max(0, last_ns - first_ns))
            self._rest(device, inside_ns, SCHEDULER)
            self._rest(device, idle_ns - inside_ns, UNKNOWN)

    def _rest(self, device: int, time_ns: float, layer: Layer, words: str = "") -> None:
        if time_ns >= 1:
            self._add(layer, "", device, time_ns, 0, words)


def culprits(
    charges: Iterable[Charge], whose: Callable[[Charge], str] = lambda charge: charge.culprit
) -> dict[str, tuple[Charge, ...]]:
    """Return the charges of each culprit, the most time first. whose: by whom they are told apart."""
    found: dict[str, list[Charge]] = {}
    for charge in charges:
        found.setdefault(whose(charge), []).append(charge)
    ordered = sorted(found.items(), key=lambda item: -sum(charge.time_ns for charge in item[1]))
    return {name: tuple(each) for name, each in ordered}


def scaled(charges: Iterable[Charge], share: float) -> tuple[Charge, ...]:
    """Return charges with this share of their time."""
    return tuple(replace(charge, time_ns=round(charge.time_ns * share)) for charge in charges)


def _cut(spans: list[Span], out: Span) -> tuple[list[Span], list[Span]]:
    """Return the parts of spans inside and outside another span."""
    inside, left = [], []
    for start_ns, end_ns in spans:
        first_ns, last_ns = max(start_ns, out[0]), min(end_ns, out[1])
        if first_ns >= last_ns:
            left.append((start_ns, end_ns))
            continue
        inside.append((first_ns, last_ns))
        left += [span for span in ((start_ns, first_ns), (last_ns, end_ns)) if span[0] < span[1]]
    return inside, left


def _full(recorded: Recorded) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    """Return when tasks waited for a free request, by device: begin and end in ns."""
    return recorded.once("full", lambda: _tag_waits(recorded))


def _tag_waits(recorded: Recorded) -> dict[int, tuple[np.ndarray, np.ndarray]]:
    spans = recorded.offcpu
    chosen = [at for at, stack in enumerate(recorded.stacks.known) if _TAG_WAITS in stack]
    found: dict[int, list[tuple[int, int]]] = {}
    for row in np.flatnonzero(np.isin(spans.stack, chosen)).tolist():
        request = recorded.request(row)
        if request >= 0:
            device = int(recorded.done.device[request])
            found.setdefault(device, []).append((int(spans.ts_ns[row]), int(spans.woken_ns[row])))
    return {device: tuple(np.array(each).T) for device, each in found.items()}
