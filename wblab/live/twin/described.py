"""The properties of a machine that its twin copies, read from a live run or from this machine."""

import os
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from wblab.analysis.runs.run import Run
from wblab.core.drivers import COUNTED_BYTES
from wblab.core.errors import InputError
from wblab.core.loads import Commit, IoClass, Load
from wblab.core.spec import Disk
from wblab.core.units import NS_PER_MS, NS_PER_S, Nanoseconds
from wblab.lab.formats import LIVE
from wblab.lab.specfile import LiveSpec
from wblab.live.changes.permitted import WHOLE
from wblab.live.disks.queue import UNKNOWN, MachineQueue, queue_from, queue_in
from wblab.live.runs.request import BESIDES, INNOCENT
from wblab.machine.block import memory_bytes, queue_settings, thresholds
from wblab.machine.storage import Storage, find_storage

_BLOCK_BYTES, _SYNC_BYTES, _MOST_BYTES = 1 << 20, 8 << 20, 512 << 20
_MEASURE_S = 5.0
# Without a live run, the offender writes this multiple of the dirty threshold, as in the base experiment.
TIMES_THRESHOLD = 3
WAIT_NS = 5 * NS_PER_S
# Beside a program that syncs: one that writes over its records, as a database's log that was made before, and one whose
# log grows, so that each of its commits waits for the journal too.
SYNCING: dict[str, Load] = {"k1": BESIDES["k1"], "k2": Commit(file="k2", idle=Nanoseconds(100 * NS_PER_MS))}
PAGE_BYTES, _LARGE_FOLIO_BYTES = 4 << 10, 2 << 20
# The Linux since which a write makes a folio as large as itself: commits 7ac67301e82f and d6bb59a9444d. ext4 mounts
# ext2 and ext3 too.
_LARGE_FOLIOS = {"ext4": (6, 16), "ext3": (6, 16), "ext2": (6, 16), "xfs": (6, 6)}
_RELEASE = re.compile(r"(?:Linux version )?(\d{1,3})\.(\d{1,3})")


@dataclass(frozen=True, kw_only=True)
class OffenderLimits:
    """The offender's limits in cgroup v2: bytes, bytes/s, and a weight (others have 100). 0 means no limit."""

    memory_high: int = 0
    io_max_bps: int = 0
    io_weight: int = 0


@dataclass(frozen=True, kw_only=True)
class Machine:
    """background_bytes, dirty_bytes: the thresholds. write_bps: throughput of the disk while it is busy.

    offender_bytes: what the offender wrote, or would write. innocent: the loads beside it. disk: the model of the
    machine's disk, if it was measured (wblab disk measure). block_bytes: what the offender writes at a time; 0:
    unknown. folio_bytes: the largest folio that a write makes there. The other fields are the machine's
    current settings; the defaults stand for unknown ones. timers: the vm.dirty* settings that are times. queue: the
    disk's, or the model's. at_once: how many requests its disk was seen to take at once, at least; 0: unknown.
    own_limit: strict limit on the disk's dirty memory, in millionths of the threshold. group: the offender's control
    group.
    """

    memory_bytes: int
    background_bytes: int
    dirty_bytes: int
    write_bps: int
    filesystem: str
    scheduler: str
    offender_bytes: int
    wait_ns: int
    ioclass: IoClass = "none"
    iolevel: int = 4
    innocent: dict[str, Load]
    disk: Disk | None = None
    block_bytes: int = 0
    folio_bytes: int = PAGE_BYTES
    timers: dict[str, int] = field(default_factory=dict)
    queue: MachineQueue | None = None
    at_once: int = 0
    own_limit: int = WHOLE
    group: OffenderLimits | None = None

    @property
    def flush_s(self) -> float:
        """Flush time, background threshold / throughput, in s. Scaling does not change it."""
        return self.background_bytes / self.write_bps


def largest_folio(filesystem: str, version: str) -> int:
    """Return the largest folio that a write makes, in bytes. version: of the kernel, as in /proc/version or uname(2).

    A file of facts shows the feature only by the version: no file of /proc or /sys has it.
    """
    release, since = _RELEASE.match(version), _LARGE_FOLIOS.get(filesystem)
    is_large = release and since and (int(release[1]), int(release[2])) >= since
    return _LARGE_FOLIO_BYTES if is_large else PAGE_BYTES


def with_disk(machine: Machine, disk: Disk) -> Machine:
    """Return a machine with a measured disk, and the queue of its driver, if that is known.

    Its write rate becomes the disk's sustained rate. Raises InputError.
    """
    queue = queue_in(disk) if disk.driver != UNKNOWN or disk.queue else machine.queue
    return replace(machine, disk=disk, write_bps=sustained_bps(disk), queue=queue)


def sustained_bps(disk: Disk) -> int:
    """Return the sustained write rate of a disk in bytes/s, its cache full, its credits used, its stalls included."""
    rate = min(disk.write_bps, disk.drain_bps) if disk.cache_bytes else disk.write_bps
    limits = (rate, disk.sustained_bps, disk.iops * COUNTED_BYTES)  # 0: none
    stalled_ns = disk.stall_time / disk.stall_every if disk.stall_every else 0.0
    return max(int(1 / (1 / min(filter(None, limits)) + stalled_ns / NS_PER_S)), 1)


def machine_of(run: Run) -> Machine:
    """Return the machine of a live run. Raises InputError if the run's record is incomplete."""
    if run.record["kind"] != LIVE or not isinstance(run.spec, LiveSpec):
        raise InputError(f"{run.path} is a run of a guest: give a run of wblab live")
    live: dict[str, Any] = run.record.get("live") or {}
    traffic, limits = _numbers(run, live, "traffic"), _numbers(run, live, "thresholds")
    offender = next((item for item in run.loads if item.load.role == "offender"), None)
    if not traffic.get("written_bytes"):
        raise InputError(f"{run.path} records no writes to a disk: repeat it with a command that writes to one")
    rate = traffic.get("most_written_per_s") or traffic.get("written_per_busy_s")
    if not rate:
        raise InputError(f"{run.path} records no rate of its disk: repeat it with a command that runs longer")
    if offender is None:
        raise InputError(f"{run.path} has no offender: run wblab live with a command")
    if not {"background", "dirty"} <= set(limits):
        raise InputError(f"{run.path} records no dirty thresholds: /proc/vmstat of its machine does not show them")
    return Machine(
        memory_bytes=run.spec.memory,
        background_bytes=int(limits["background"]),
        dirty_bytes=int(limits["dirty"]),
        write_bps=int(rate),
        filesystem=run.spec.disk.filesystem,
        scheduler=run.spec.disk.scheduler,
        offender_bytes=int(traffic["written_bytes"]),
        wait_ns=offender.load.idle_ns(0),
        ioclass=offender.load.ioclass,
        iolevel=offender.load.iolevel,
        innocent={item.name: item.load for item in run.loads if item.load.role != "offender"},
        folio_bytes=largest_folio(run.spec.disk.filesystem, str((run.record.get("kernel") or {}).get("release"))),
        queue=_recorded_queue(run, live),
    )


def _recorded_queue(run: Run, live: dict[str, Any]) -> MachineQueue | None:
    """Return the queue of the first disk of a live run; None if it records none. Raises InputError."""
    queues = live.get("queues") or {}
    try:
        return next((queue_from(settings) for settings in queues.values()), None)
    except (InputError, AttributeError) as error:
        raise InputError(f"{run.path} is damaged: the queues in its record are none ({error})") from None


def _numbers(run: Run, live: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a table of numbers from a live run's record; empty if there is none. Raises InputError."""
    table = live.get(name) or {}
    if not isinstance(table, dict) or not all(type(value) in (int, float) and value >= 0 for value in table.values()):
        raise InputError(f"{run.path} is damaged: {name!r} in its record is not a table of numbers")
    return table


def this_machine(directory: Path, disk: Disk | None = None) -> Machine:
    """Return this machine with the disk that holds a directory. Raises InputError.

    disk: the model of that disk; without one, its throughput is measured.
    """
    try:
        place, limits = find_storage(directory), thresholds()
    except OSError as error:
        raise InputError(f"cannot use the directory {str(directory)!r}: {error.strerror}") from None
    if place.device is None:
        raise InputError(f"{str(directory)!r} is on {place.filesystem}, not on a disk: give a directory on a disk")
    machine = Machine(
        memory_bytes=memory_bytes(),
        background_bytes=limits["background"],
        dirty_bytes=limits["dirty"],
        write_bps=sustained_bps(disk) if disk else measured_bps(directory),
        filesystem=place.filesystem,
        scheduler=place.schedulers(),
        offender_bytes=TIMES_THRESHOLD * limits["dirty"],
        wait_ns=WAIT_NS,
        innocent=INNOCENT,
        folio_bytes=largest_folio(place.filesystem, os.uname().release),
        queue=queue_at(place),
    )
    return with_disk(machine, disk) if disk else machine


def queue_at(place: Storage) -> MachineQueue | None:
    """Return the queue of the first disk of a place; None if there is none. Raises InputError."""
    return queue_from(queue_settings(place.disks[0])) if place.disks else None


def measured_bps(directory: Path, seconds: float = _MEASURE_S, most_bytes: int = _MOST_BYTES) -> int:
    """Return the rate in bytes/s at which a temporary file is written and flushed.

    The file is flushed every 8 MiB (fdatasync(2)), so its dirty pages delay nobody. Raises InputError.
    """
    block = os.urandom(_BLOCK_BYTES)  # some disks are faster with zeros
    try:
        with NamedTemporaryFile(dir=directory, prefix=".wblab-") as file:
            started_s, written = time.monotonic(), 0
            while written < most_bytes and time.monotonic() - started_s < seconds:
                written += os.write(file.fileno(), block)
                if written % _SYNC_BYTES == 0:
                    os.fdatasync(file.fileno())
            os.fdatasync(file.fileno())
            return int(written / (time.monotonic() - started_s))
    except OSError as error:
        raise InputError(
            f"cannot measure the disk in {str(directory)!r}: {error.strerror}: give another directory, or --disk"
        ) from None
