"""What a text shows of disks: their queues, their rates, and how long requests took."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from wblab.foreign.tabletext import Words, iostat_rows, lsblk_rows, pidstat_rows

_KIB, _MIB, _SECTOR_BYTES = 1024, 1 << 20, 512
_OF_QUEUE = re.compile(r"/sys/(?:block|class/block|dev/block|devices/\S{1,150})/([^/\s]{1,64})/queue/(\w{2,32})")
_OF_BDI = re.compile(r"/sys/(?:class|devices/virtual)/bdi/([\w:.-]{1,40})/(\w{2,32})")
_OF_DISK = re.compile(r"/sys/block/([^/\s]{1,64})/(dev|drivers|device/model|device/path|dm/name)")
_BARE_QUEUE = re.compile(
    r"(?:\./)?(?:queue/)?(nr_requests|max_sectors_kb|scheduler|rotational|wbt_lat_usec|write_cache):(.+)"
)
_DISKSTATS = re.compile(r"\s*(\d{1,4})\s+(\d{1,7})\s+(\S{1,64})((?:\s+\d{1,20}){11,17})\s*")
_NUMBER = re.compile(r"-?\d{1,12}")
BUSY = 90.0  # per cent: of a report in which a disk could hardly do more
_LEAST_BUSY_MS = 200  # for a rate from /proc/diskstats
_MOST_DISKS = 2000
_WRITTEN, _BUSY_MS = 6, 9  # of the figures behind a name: Documentation/admin-guide/iostats.rst


@dataclass
class DiskText:
    """What a text shows of a disk.

    queue: attributes in /sys/block/*/queue, by name. facts: model, drivers and the like. rates: at which it was
    written, in bytes/s, in reports in which it was busy, or between two samples while it was busy. busy: the most that
    it was, in per cent; await_ms: the longest mean time of a write, with how many reports both count.
    """

    name: str
    queue: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    rates: list[float] = field(default_factory=list)
    busy: float | None = None
    await_ms: float | None = None
    depth: float | None = None
    reports: int = 0

    def whole(self, name: str) -> int | None:
        """Return a number of its queue; None if the text has none."""
        value = self.queue.get(name, "")
        return int(value) if _NUMBER.fullmatch(value) else None

    @property
    def scheduler(self) -> str:
        """The scheduler that is chosen; empty if the text does not say."""
        words = self.queue.get("scheduler", "").split()
        return next((word.strip("[]") for word in words if word.startswith("[")), words[0] if len(words) == 1 else "")

    @property
    def queue_bytes(self) -> int | None:
        """The most that its queue holds, or one of its hardware queues; None if the text does not say."""
        requests, size_kib = self.whole("nr_requests"), self.whole("max_sectors_kb")
        return requests * size_kib * _KIB if requests and size_kib and requests > 0 and size_kib > 0 else None

    @property
    def rate_bps(self) -> float | None:
        """The highest rate at which it was written while it was busy; None if it never was, or was only read."""
        return max(self.rates, default=0.0) or None


@dataclass(frozen=True)
class DisksText:
    """Disks by name, in the text's order; the limits of each bdi by attribute; who wrote most, in bytes/s by program.

    has_iostat, has_intervals: whether reports of iostat are there, and some that are not of all the time since boot.
    """

    disks: dict[str, DiskText]
    bdis: dict[str, dict[str, str]]
    writers: dict[str, float]
    has_iostat: bool
    has_intervals: bool


def read_disks(lines: Sequence[tuple[str, str]], text: str) -> DisksText:
    """Return what the lines of a text show of disks, each with its file."""
    disks: dict[str, DiskText] = {}
    bdis: dict[str, dict[str, str]] = {}

    def disk(name: str) -> DiskText:
        found = disks.get(name)
        if found is None:
            found = DiskText(name)
            if len(disks) < _MOST_DISKS:
                disks[name] = found
        return found

    for path, line in lines:
        bare = line.strip()
        if bare and path.startswith("/sys/"):
            if found := _OF_QUEUE.fullmatch(path):
                disk(found[1]).queue[found[2]] = bare
            elif found := _OF_BDI.fullmatch(path):
                bdis.setdefault(found[1], {})[found[2]] = bare
            elif found := _OF_DISK.fullmatch(path):
                disk(found[1]).facts[found[2]] = bare
        elif bare and not path and (found := _BARE_QUEUE.fullmatch(bare)):
            disk("").queue[found[1]] = found[2].strip()
    plain = [line for _, line in lines]
    rows = list(iostat_rows(plain))
    is_alone = not any(report for report, _, _ in rows)
    for report, name, figures in rows:
        if report or is_alone:
            _note_report(disk(name), figures, is_alone=is_alone)
    for row in lsblk_rows(plain, text):
        _note_row(row, disk)
    _note_rates(plain, disks)
    writers: dict[str, float] = {}
    for command, figures in pidstat_rows(plain):
        writers[command] = max(writers.get(command, 0.0), figures["kB_wr/s"] * _KIB)
    ranked = sorted(((rate, name) for name, rate in writers.items() if rate > 0), reverse=True)
    return DisksText(disks, bdis, {name: rate for rate, name in ranked}, bool(rows), not is_alone)


def _note_report(disk: DiskText, figures: dict[str, float], *, is_alone: bool) -> None:
    """Note a report of iostat; of one that stands alone, which is of all the time since boot, no rate."""
    disk.reports += 1
    if (busy := figures.get("%util")) is not None:
        disk.busy = max(busy, disk.busy or 0.0)
    awaited = figures.get("w_await", figures.get("await"))
    if awaited is not None and awaited >= (disk.await_ms or 0.0):
        disk.await_ms = awaited
        disk.depth = figures.get("aqu-sz", figures.get("avgqu-sz"))
    units = {"wkB/s": _KIB, "wMB/s": _MIB, "wsec/s": _SECTOR_BYTES}
    written = next((figures[name] * size for name, size in units.items() if name in figures), None)
    if written and busy is not None and busy >= BUSY and not is_alone:
        disk.rates.append(written)


def _note_row(row: Words, disk: Callable[[str], DiskText]) -> None:
    names = {"SCHED": "scheduler", "ROTA": "rotational", "RQ-SIZE": "nr_requests"}
    found = {names[head]: value for head, value in row.items() if head in names and value}
    if row.get("TYPE", "disk") == "disk" and "NAME" in row and {"scheduler", "nr_requests"} & found.keys():
        for name, value in found.items():
            disk(row["NAME"]).queue.setdefault(name, value)


def _note_rates(lines: Iterable[str], disks: dict[str, DiskText]) -> None:
    """Note rates between two samples of /proc/diskstats, while the disk was busy. Partitions have no figures here."""
    before: dict[str, list[int]] = {}
    for line in lines:
        if not (found := _DISKSTATS.fullmatch(line)):
            continue
        now = [int(word) for word in found[4].split()]
        if (then := before.get(found[3])) and found[3] in disks:
            written, busy_ms = now[_WRITTEN] - then[_WRITTEN], now[_BUSY_MS] - then[_BUSY_MS]
            if written > 0 and busy_ms >= _LEAST_BUSY_MS:
                disks[found[3]].rates.append(written * _SECTOR_BYTES / (busy_ms / 1000))
        before[found[3]] = now
