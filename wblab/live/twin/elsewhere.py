"""Another machine, by its facts: the disk under a directory there, its queue and rate, limits and filesystem.

The facts are a stranger's. What becomes part of a spec, a rule or a command is a number, or a name of plain letters.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from wblab.core.drivers import Driver
from wblab.core.errors import InputError
from wblab.core.loads import Load
from wblab.core.spec import Disk
from wblab.lab.disks import doubts
from wblab.lab.wings import needed
from wblab.live.changes.permitted import WHOLE
from wblab.live.disks.queue import MachineQueue, queue_from
from wblab.live.twin.described import SYNCING, TIMES_THRESHOLD, WAIT_NS, Machine, largest_folio, with_disk
from wblab.machine.block import driver_among
from wblab.report.quantities import size

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._!-]{0,63}")
_PART = re.compile(r"(?P<disk>[a-z]+|(?:nvme\d+n|mmcblk)\d+)p?\d+")
_MEMORY = re.compile(r"MemTotal:\s+(\d{1,15}) kB", re.MULTILINE)
_DISKSTAT = re.compile(r"\s*(\d+)\s+(\d+)\s+(\S+)\s")
_OCTAL = re.compile(r"\\([0-7]{3})")
_QUEUE = ("nr_requests", "max_sectors_kb", "wbt_lat_usec", "rotational", "write_cache")
_TIMERS = ("dirty_expire_centisecs", "dirty_writeback_centisecs")
_MOST_NAMES = 6
ONE_BY_ONE: Driver = "usb-storage"
_MOST_BELOW = 8


@dataclass(frozen=True)
class Place:
    """A directory of another machine: its filesystem, its block device and the physical disks below."""

    directory: str
    filesystem: str
    device: str
    disks: tuple[str, ...]


@dataclass(frozen=True)
class Elsewhere:
    """Another machine. name: of the file with its facts. files: those of /proc and /sys, by path.

    block_bytes: what its heaviest program wrote at a time while a recorder watched; 0: unknown. syncs: whether the
    program that stalled there calls fsync(). one_by_one, several: numbers of disks that take one request at a time, and
    of those that take more.
    """

    name: str
    files: dict[str, str]
    limits: tuple[int, int]
    rates: dict[str, float]
    place: Place
    block_bytes: int = 0
    syncs: bool = False
    one_by_one: frozenset[str] = frozenset()
    several: frozenset[str] = frozenset()

    @classmethod
    def read(cls, path: Path, directory: str = "") -> "Elsewhere":
        """Return the machine whose facts are in a file. directory: there; empty: on its only disk.

        Raises InputError, with what is lacking.
        """
        facts: Any = needed("the facts of another machine")(path)
        files = dict(facts.files)
        if facts.limits is None:
            raise InputError(
                f"{path} lacks the dirty limits: /proc/vmstat, or /proc/meminfo and vm.dirty_* of its machine"
            )
        place = _place(path, files, directory)
        habits = facts.habits
        return cls(
            facts.name,
            files,
            facts.limits,
            dict(facts.rates),
            place,
            habits.block_bytes,
            habits.syncs,
            habits.one_by_one,
            habits.several,
        )

    def said(self, path: str) -> str:
        """Return what a file there had in its only line; empty if it is unknown."""
        return self.files.get(path, "").strip().partition("\n")[0].strip()

    @property
    def scheduler(self) -> str:
        """The disks' I/O schedulers, each once, joined by commas."""
        found = [schedulers_in(self.said(f"/sys/block/{disk}/queue/scheduler")) for disk in self.place.disks]
        return ",".join(dict.fromkeys(names[0] for names in found if names))

    @property
    def queue(self) -> MachineQueue | None:
        """The queue of its first disk; None if it is unknown. Raises InputError."""
        if not self.place.disks:
            return None
        disk = f"/sys/block/{self.place.disks[0]}"
        settings = {name: self.said(f"{disk}/queue/{name}") for name in _QUEUE}
        driver = ONE_BY_ONE if self.is_one_by_one else self._driver
        known = {name: value for name, value in settings.items() if value} | ({"driver": driver} if driver else {})
        try:
            return queue_from(known)
        except InputError as error:
            raise InputError(f"{self.name}: the queue of {self.place.disks[0]}: {error}") from None

    @property
    def _driver(self) -> Driver | None:
        """The driver of its first disk; None if the lab does not know it."""
        disk = next(iter(self.place.disks), "")
        lines = self.files.get(f"/sys/block/{disk}/drivers", "").splitlines()
        steps = [line.partition(" ") for line in lines]
        return driver_among((name, PurePosixPath(link).name) for name, _, link in steps)

    @property
    def is_one_by_one(self) -> bool:
        """Whether its first disk was seen to take one request at a time, by a driver that the lab does not know."""
        return not self._driver and self._number in self.one_by_one

    @property
    def _number(self) -> str:
        """The number, major:minor, of its first disk; empty without a disk."""
        return self.said(f"/sys/block/{self.place.disks[0]}/dev") if self.place.disks else ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What nobody told, and a recording shows."""
        found = []
        if self.block_bytes:
            found.append(f"its heaviest program wrote {size(self.block_bytes)} at a time: so does the twin's offender")
        if self.is_one_by_one:
            disk = self.place.disks[0]
            found.append(f"{disk} takes one request at a time: the twin has {ONE_BY_ONE}, which does so too")
        return tuple(found)

    @property
    def own_limit(self) -> int:
        """The strict limit on the disk, in millionths of the threshold."""
        bdi = f"/sys/class/bdi/{self.bdi}"
        fine, ratio = self.said(f"{bdi}/max_ratio_fine"), self.said(f"{bdi}/max_ratio")
        if not self.bdi or self.said(f"{bdi}/strict_limit") != "1":
            return WHOLE
        share = int(fine) if fine.isdecimal() else int(ratio) * WHOLE // 100 if ratio.isdecimal() else WHOLE
        return share if 0 < share <= WHOLE else WHOLE

    @property
    def bdi(self) -> str:
        """The name in /sys/class/bdi of the filesystem's device; empty if unknown, as of btrfs."""
        number = self.said(f"/sys/block/{self.place.device}/dev")
        known = re.fullmatch(r"\d{1,4}:\d{1,7}", number) and self.place.filesystem != "btrfs"
        return number if known and f"/sys/class/bdi/{number}/max_ratio" in self.files else ""

    @property
    def timers(self) -> dict[str, int]:
        """The vm.dirty* settings that are times."""
        said = {f"vm.{name}": self.said(f"/proc/sys/vm/{name}") for name in _TIMERS}
        return {name: int(value) for name, value in said.items() if value.isdecimal() and len(value) < 9}

    def machine(self, innocent: dict[str, Load], disk: Disk | None) -> Machine:
        """Describe it. disk: the model of its disk; None: only its rate is known. Raises InputError."""
        background, dirty = self.limits
        memory = _MEMORY.search(self.files.get("/proc/meminfo", ""))
        if not memory:
            raise InputError(f"{self.name} lacks /proc/meminfo, so nobody knows how much memory that machine has")
        rate = next((self.rates[name] for name in self.place.disks if name in self.rates), None)
        if disk is None and rate is None:
            raise InputError(
                f"{self.name} does not say how fast {' or '.join(self.place.disks)} is, because it was not busy: give "
                "--disk a model, such as hdd or ssd, or take the facts while it is busy"
            )
        machine = Machine(
            memory_bytes=int(memory[1]) << 10,
            background_bytes=max(background, 1),
            dirty_bytes=max(dirty, 1),
            write_bps=max(int(rate or 1), 1),
            filesystem=self.place.filesystem,
            scheduler=self.scheduler,
            offender_bytes=TIMES_THRESHOLD * dirty,
            wait_ns=WAIT_NS,
            innocent=innocent | SYNCING if self.syncs else innocent,
            block_bytes=self.block_bytes,
            folio_bytes=largest_folio(self.place.filesystem, self.said("/proc/version")),
            timers=self.timers,
            queue=self.queue,
            at_once=2 if self._number in self.several else 0,
            own_limit=self.own_limit,
        )
        return with_disk(machine, disk) if disk else machine


def notes_on(model: str, there: Elsewhere | None, measured: Sequence[str] = ()) -> tuple[str, ...]:
    """Return what to know of a machine before its twin is made. Raises InputError.

    model: the name or file of its disk's model, empty if there is none: then `measured` says what is doubtful. there:
    the machine, if it is another one.
    """
    return (*(doubts(model) if model else measured), *(there.notes if there else ()))


def schedulers_in(line: str) -> list[str]:
    """Return the schedulers that a line of /sys/block/*/queue/scheduler has, the present one first."""
    words = sorted(line.split()[:10], key=lambda word: not word.startswith("["))
    return [word.strip("[]") for word in words if re.fullmatch(r"\[?[a-z-]{1,24}\]?", word)]


def _place(path: Path, files: dict[str, str], directory: str) -> Place:
    """Return the place of a directory, or of the only disk. Raises InputError."""
    mounts = _mounts(files)
    if not directory:
        disks = {place.disks for place in mounts.values()}
        if len(disks) != 1:
            known = ", ".join(list(mounts)[:_MOST_NAMES]) or "none is in it"
            raise InputError(f"{path} has several disks: give a directory of that machine, too: {known}")
        return next(iter(mounts.values()))
    wanted = PurePosixPath("/", directory)
    under = [place for place in mounts.values() if wanted.is_relative_to(place.directory)]
    if not under:
        known = ", ".join(list(mounts)[:_MOST_NAMES]) or "none is in it"
        raise InputError(f"{directory!r} is on no disk in {path}: give a directory of that machine: {known}")
    found = max(under, key=lambda place: len(PurePosixPath(place.directory).parts))
    return Place(str(wanted), found.filesystem, found.device, found.disks)


def _mounts(files: dict[str, str]) -> dict[str, Place]:
    """Return what is mounted from disks, by place."""
    names = {
        f"{found[1]}:{found[2]}": found[3]
        for line in files.get("/proc/diskstats", "").splitlines()
        if (found := _DISKSTAT.match(line))
    }
    mounts: dict[str, Place] = {}
    for line in files.get("/proc/self/mountinfo", "").splitlines():
        before, _, after = line.partition(" - ")
        words, rest = before.split(), after.split()
        if len(words) < 6 or len(rest) < 2:
            continue
        device = _whole(files, names.get(words[2]) or PurePosixPath(rest[1]).name if rest[1].startswith("/") else "")
        at = _OCTAL.sub(lambda match: chr(int(match[1], 8)), words[4])
        disks = tuple(_below(files, device, 0))
        if disks and at.isprintable() and re.fullmatch(r"[a-z0-9]{1,32}", rest[0]):
            mounts.pop(at, None)  # a later mount hides an earlier one
            mounts[at] = Place(at, rest[0], device, disks)
    return mounts


def _whole(files: dict[str, str], name: str) -> str:
    """Return the disk of a partition; any other device itself; "" for what is no disk in the facts."""
    part = _PART.fullmatch(name)
    for each in (name, part["disk"] if part else ""):
        if each and _NAME.fullmatch(each) and f"/sys/block/{each}/dev" in files:
            return each
    named = (path.split("/")[3] for path, text in files.items() if path.endswith("/dm/name") and text.strip() == name)
    return next(named, "")


def _below(files: dict[str, str], device: str, depth: int) -> list[str]:
    """Return the physical disks below a device."""
    if not device or depth > _MOST_BELOW:
        return []
    below = files.get(f"/sys/block/{device}/slaves", "").split()
    if below:
        found = [disk for each in below for disk in _below(files, _whole(files, each), depth + 1)]
        return list(dict.fromkeys(found))
    return [device] if not re.match(r"loop|ram|zram|dm-|md", device) else []
