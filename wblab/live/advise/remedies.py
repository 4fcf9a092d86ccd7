"""Remedies as data: what each sets, in terms that suit any machine, and a machine with the remedy applied.

["queue-512kib"]
about = "at most 512 KiB in the disk's queue"
queue = "512KiB"                   # fewer requests, and smaller ones where the fewest hold more; also 125ms
["dirty-0.5s"]
dirty = "500ms"                    # written by the disk in 500 ms; also 5% (of memory), 5% of the limit, 64MiB
background = "250ms"
["both"]
together = ["queue-512kib", "dirty-0.5s"]

A remedy only lowers: a limit that is already lower, or a queue that is already shorter, stays unchanged.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args

from wblab.core.drivers import FEWEST_REQUESTS, Scheduler
from wblab.core.errors import InputError, nearest
from wblab.core.tables import from_table
from wblab.core.units import NS_PER_S, Nanoseconds, parse_bytes, parse_time
from wblab.lab.places import REMEDIES
from wblab.lab.specfile import read_toml
from wblab.live.changes.permitted import WHOLE
from wblab.live.disks.queue import MachineQueue
from wblab.live.twin.described import Machine, OffenderLimits
from wblab.machine.block import shortened

# Amounts of dirty memory or queued data in a remedy: absolute, or relative to the disk's rate or the memory.

_MIB, _PAGE_BYTES = 1 << 20, 4096
_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,3})?) ?%")
_OF_LIMIT = " of the limit"
_TIME = re.compile(r".*[0-9 ](ns|us|µs|ms|s|min|h)")


def share(text: str) -> float | None:
    """Return '5%' as 0.05; None if the text is not a percentage. Raises InputError outside 0 to 100 %."""
    match = _SHARE.fullmatch(text.strip())
    if match is None:
        return None
    if not 0 < float(match[1]) <= 100:
        raise InputError(f"{text!r} is not a percentage above 0 and up to 100 %")
    return float(match[1]) / 100


def in_bytes(text: str, machine: Machine) -> int:
    """Return an amount in bytes: '500ms' at the disk's write rate, '5%' of the memory, or '64MiB'.

    '5% of the limit' is relative to the dirty threshold, in whole pages. Other computed amounts are rounded to whole
    MiB, or below 4 MiB to whole pages: measurements are no more exact. Raises InputError.
    """
    text = text.strip()
    if text.endswith(_OF_LIMIT) and (part := share(text.removesuffix(_OF_LIMIT))) is not None:
        return int(part * machine.dirty_bytes) // _PAGE_BYTES * _PAGE_BYTES
    if (part := share(text)) is not None:
        return _rounded(int(part * machine.memory_bytes))
    if _TIME.fullmatch(text):
        return _rounded(parse_time(text) * machine.write_bps // NS_PER_S)
    try:
        return parse_bytes(text)
    except InputError:
        raise InputError(
            f"{text!r} is not an amount: write for example 500ms of the disk, 5% of memory, 5% of the limit, or 64MiB"
        ) from None


def _rounded(size: int) -> int:
    grain = _MIB if size >= 4 * _MIB else _PAGE_BYTES
    return size // grain * grain


NOW = "now"  # the machine with its current settings
_NAME = re.compile(r"[a-z0-9][a-z0-9.+%-]{0,39}")
_LEAST_BYTES = 1 << 20  # with less, the disk idles while it waits for its writers
_EXPIRE, _PERIOD = "vm.dirty_expire_centisecs", "vm.dirty_writeback_centisecs"
NS_PER_CENTISECOND = NS_PER_S // 100


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """What a remedy sets. dirty, background, own_limit, queue, memory_high: amounts (see `in_bytes`); empty: unchanged.

    about: a description. own_limit: strict limit on this disk's dirty memory. wbt: target latency of WBT. expire: age
    at which a dirty page is written. period: time between wake-ups of the flusher. nr_requests: a number of requests,
    of whatever size the disk takes; queue fits any disk. memory_high, io_max (a share of the
    disk's rate), io_weight (others have 100): limits of a control group for heavy writers. together: other remedies
    to combine.
    """

    name: str
    about: str
    dirty: str = ""
    background: str = ""
    own_limit: str = ""
    expire: Nanoseconds = Nanoseconds(0)
    period: Nanoseconds = Nanoseconds(0)
    nr_requests: int = 0
    queue: str = ""
    wbt: Nanoseconds = Nanoseconds(0)
    scheduler: str = ""
    memory_high: str = ""
    io_max: str = ""
    io_weight: int = 0
    together: tuple[str, ...] = field(default=())

    @property
    def has_group(self) -> bool:
        """Whether it needs a control group."""
        return bool(self.memory_high or self.io_max or self.io_weight)

    def on(self, machine: Machine) -> Machine:
        """Return a machine with the remedy applied. Raises InputError for an invalid amount."""
        changed = _thresholds(self, machine)
        if self.scheduler:
            changed = replace(changed, scheduler=self.scheduler)
        if changed.queue:
            changed = replace(changed, queue=_queue(self, changed, changed.queue))
        if self.own_limit:
            bytes_ = max(in_bytes(self.own_limit, changed), _LEAST_BYTES)
            own = min(changed.own_limit, round(WHOLE * bytes_ / changed.dirty_bytes))
            changed = replace(changed, own_limit=own)
        return replace(changed, group=_group(self, machine)) if self.has_group else changed


def read_remedies(paths: Iterable[Path] = ()) -> dict[str, Remedy]:
    """Read remedies from files, by default all that come with the lab. Raises InputError."""
    found: dict[str, Remedy] = {}
    for path in paths or sorted(REMEDIES.glob("*.toml")):
        table = read_toml(path, "remedies")
        try:
            for remedy in parse_remedies(table, found).values():
                found[remedy.name] = remedy
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
    return found


def parse_remedies(table: Mapping[str, Any], known: Mapping[str, Remedy]) -> dict[str, Remedy]:
    """Read the remedies in a table; `together` may also name remedies in `known`. Raises InputError."""
    found: dict[str, Remedy] = {}
    for name, given in table.items():
        if not _NAME.fullmatch(name) or name == NOW:
            raise InputError(f"{name!r} is not a valid name: use small letters, digits, '.', '%', '+' and '-'")
        if name in known:
            raise InputError(f"{name!r} names two remedies: rename one")
        if not isinstance(given, Mapping):
            raise InputError(f"{name!r} must be a table, not {given!r}")
        remedy = from_table(Remedy, {"name": name} | dict(given), name)
        found[name] = _with_parts(remedy, dict(known) | found) if remedy.together else remedy
        _check(found[name])
    return found


def joined(one: Remedy, other: Remedy) -> Remedy | None:
    """Combine two remedies; return None if they conflict."""
    both = Remedy(
        name=f"{one.name}+{other.name}", about=f"{one.about}, and {other.about}", together=(one.name, other.name)
    )
    try:
        combined = _with_parts(both, {one.name: one, other.name: other})
        _check(combined)
    except InputError:
        return None
    return combined


def _with_parts(remedy: Remedy, known: Mapping[str, Remedy]) -> Remedy:
    """Add the settings of the remedies named in `together`. Raises InputError if two set the same key."""
    settings: dict[str, Any] = {}
    for name in remedy.together:
        if name not in known:
            raise InputError(f"{remedy.name}.together: no remedy {name!r} above it{nearest(name, list(known))}")
        for key, value in _settings(known[name]).items():
            if key in settings:
                raise InputError(f"{remedy.name}.together: two of these remedies set {key!r}: keep one")
            settings[key] = value
    if twice := settings.keys() & _settings(remedy).keys():
        raise InputError(f"{remedy.name}: a remedy in its 'together' already sets {min(twice)!r}: leave it out")
    return replace(remedy, **settings)


def _settings(remedy: Remedy) -> dict[str, Any]:
    """Return a remedy's settings by field."""
    own = [item for item in fields(Remedy) if item.name not in ("name", "about", "together")]
    return {item.name: value for item in own if (value := getattr(remedy, item.name))}


def _check(remedy: Remedy) -> None:
    """Raise InputError for settings that are impossible on every machine."""
    if not _settings(remedy):
        raise InputError(f"{remedy.name} sets nothing: add for example queue")
    if remedy.nr_requests and remedy.queue:
        raise InputError(f"{remedy.name}: nr_requests and queue both set the queue's length: keep one")
    if remedy.nr_requests and remedy.nr_requests < FEWEST_REQUESTS:
        raise InputError(f"{remedy.name}.nr_requests: the kernel's minimum is {FEWEST_REQUESTS}")
    if remedy.scheduler and remedy.scheduler not in get_args(Scheduler):
        raise InputError(
            f"{remedy.name}.scheduler: unknown: {remedy.scheduler!r}{nearest(remedy.scheduler, get_args(Scheduler))}"
        )
    if remedy.wbt and remedy.scheduler == "bfq":
        raise InputError(f"{remedy.name}.wbt: bfq turns WBT off: keep one of the two")
    if remedy.io_max and share(remedy.io_max) is None:
        raise InputError(f"{remedy.name}.io_max: {remedy.io_max!r} is not a share of the disk's rate, such as 80%")
    if remedy.io_weight and remedy.scheduler != "bfq":
        raise InputError(f"{remedy.name}.io_weight: it needs bfq: add scheduler = 'bfq'")
    if not 0 <= remedy.io_weight <= 1000:
        raise InputError(f"{remedy.name}.io_weight: {remedy.io_weight} is not between 1 and 1000")


def _thresholds(remedy: Remedy, machine: Machine) -> Machine:
    dirty, background = machine.dirty_bytes, machine.background_bytes
    if remedy.dirty:
        dirty = min(dirty, max(in_bytes(remedy.dirty, machine), _LEAST_BYTES))
    if remedy.background:
        given = in_bytes(remedy.background, replace(machine, dirty_bytes=dirty))
        background = min(background, max(given, _LEAST_BYTES // 2))
    background = min(background, dirty // 2) if remedy.dirty else background  # as the kernel does
    times = {_EXPIRE: remedy.expire, _PERIOD: remedy.period}
    timers = {key: time_ns // NS_PER_CENTISECOND for key, time_ns in times.items() if time_ns}
    lower = {key: value for key, value in timers.items() if value < machine.timers.get(key, value + 1)}
    return replace(machine, dirty_bytes=dirty, background_bytes=background, timers=machine.timers | lower)


def _queue(remedy: Remedy, machine: Machine, queue: MachineQueue) -> MachineQueue:
    requests, request_bytes = min(remedy.nr_requests or queue.requests, queue.requests), queue.request_bytes
    if remedy.queue:
        requests, request_bytes = shortened(requests, request_bytes, in_bytes(remedy.queue, machine))
    kept = 0 if remedy.scheduler == "bfq" else queue.wbt_lat_usec  # bfq turns WBT off: bfq_init_queue
    wbt = remedy.wbt // 1000 or kept
    return replace(queue, requests=requests, request_bytes=request_bytes, wbt_lat_usec=wbt)


def _group(remedy: Remedy, machine: Machine) -> OffenderLimits:
    return OffenderLimits(
        memory_high=max(in_bytes(remedy.memory_high, machine), _LEAST_BYTES) if remedy.memory_high else 0,
        io_max_bps=int((share(remedy.io_max) or 0) * machine.write_bps),
        io_weight=remedy.io_weight,
    )
