"""Scale a machine down to a guest: divide sizes and rates by one factor, and keep times.

Durations stay the same because they are ratios of quantities that are scaled alike: a flush takes background threshold
/ throughput, and a throttled writer gets its share of the throughput. Times are therefore kept: the loads' sleeps, the
kernel's timers (a dirty page's age, the flusher's period), a request's latency and the length of a disk's stall.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log2
from pathlib import Path
from typing import Any, cast, get_args

from wblab.analysis.runs.run import Run, read_run
from wblab.core.diskcheck import LEAST_ERASE
from wblab.core.drivers import Scheduler
from wblab.core.errors import InputError
from wblab.core.loads import Commit, Load
from wblab.core.spec import Disk, Filesystem, Spec
from wblab.core.stacks import OF_SERVED
from wblab.core.tables import from_table, to_table
from wblab.core.units import NS_PER_S, Nanoseconds
from wblab.live.changes.permitted import WHOLE
from wblab.live.disks.queue import UNKNOWN, MachineQueue, guest_driver, guest_queue, length_in_guest
from wblab.live.twin import NAME as _DESIGN
from wblab.live.twin.described import PAGE_BYTES, Machine, OffenderLimits
from wblab.report.quantities import size
from wblab.study.cells import Cell, run_name
from wblab.study.plan import Plan
from wblab.study.store import Store

GUEST_BYTES = 100 << 20  # the base experiment's
_LEAST_BACKGROUND_BYTES = 4 << 20  # below this, single pages and filesystem metadata would matter
_MOST_GUEST_BYTES = 2 << 30
_LEAST_BPS = 64 << 10
_LATENCY_NS = 50_000
_BLOCK_BYTES = 1 << 10
_WRITE_NS, _TIMES_FASTER = 65_000, 2  # measured: in blocks of 1 KiB a twin's offender wrote 15.3 MiB/s at most
_MOST_WRITES = 1 << 20
_MOST_TIMES_DIRTY = 20  # more shows nothing new and takes memory, where the guest's disk is
_SPARE = {"xfs": 320 << 20, "btrfs": 256 << 20}  # for the filesystem itself
_SPARE_BYTES = 64 << 20
_LIMIT_NS, _TIMES_LONGER = 900 * NS_PER_S, 10
_ROOM, _MOST_NS = 0.7, 3600 * NS_PER_S  # share of the cycles that a load can record; without such loads, this long
_NEARLY = 1.2  # factor within which a queue is as long
_BULK = "bulk"


@dataclass(frozen=True)
class Twin:
    """A guest's spec, its scale factor, and notes on what the guest cannot reproduce."""

    spec: Spec
    factor: float
    notes: tuple[str, ...]


def factor_of(machine: Machine) -> float:
    """Return the factor that scales a machine down to its twin."""
    factor = min(machine.memory_bytes / GUEST_BYTES, machine.background_bytes / _LEAST_BACKGROUND_BYTES)
    return max(1.0, min(factor, machine.write_bps / _LEAST_BPS), machine.memory_bytes / _MOST_GUEST_BYTES)


def twin_of(machine: Machine, name: str, factor: float | None = None) -> Twin:
    """Return a machine's twin, scaled down by `factor` (default: `factor_of`)."""
    factor = factor or factor_of(machine)
    notes = []
    filesystem, scheduler = machine.filesystem, machine.scheduler
    if filesystem not in get_args(Filesystem) or filesystem in ("none", "swap", OF_SERVED):
        notes.append(f"the guest has no {filesystem}: the twin uses ext4")
        filesystem = "ext4"
    if scheduler not in get_args(Scheduler):
        notes.append(
            f"the guest has no I/O scheduler {scheduler}: the twin uses none"
            if scheduler
            else "the disk's I/O scheduler is unknown: the twin uses none"
        )
        scheduler = "none"
    elevator = cast("Scheduler", scheduler)
    if machine.queue:
        notes += _of_queue(machine.queue, elevator, factor, is_seen=machine.at_once > 1)
    written = min(machine.offender_bytes, _MOST_TIMES_DIRTY * machine.dirty_bytes, most := _most_written(machine))
    if written < machine.offender_bytes:
        why = "as long as its loads can be measured" if written == most else "to save time"
        notes.append(
            f"the twin's offender writes only {written / machine.dirty_bytes:.3g} times the dirty threshold, {why}"
        )
    offender = max(int(written / factor), _BLOCK_BYTES)
    limit_ns = max(_LIMIT_NS, machine.wait_ns + _TIMES_LONGER * NS_PER_S * written // machine.write_bps)
    innocent_bytes = sum(sum(load.files.values()) + _logged(load, limit_ns) for load in machine.innocent.values())
    table: dict[str, Any] = {
        "name": name,
        "memory": _pages(machine.memory_bytes / factor),
        "disk": {
            "size": _pages(offender + _BLOCK_BYTES + innocent_bytes + _SPARE.get(filesystem, _SPARE_BYTES)),
            "filesystem": filesystem,
            "model": "device",
            **_device(machine, factor),
            "scheduler": scheduler,
            "driver": guest_driver(machine.queue, elevator, factor) if machine.queue else UNKNOWN,
            "queue": guest_queue(machine.queue, elevator, factor) if machine.queue else {"wbt_lat_usec": 0},
            "bdi": {"max_ratio_fine": machine.own_limit, "strict_limit": 1} if machine.own_limit < WHOLE else {},
        },
        "time_limit": limit_ns,
        "cgroup": _group(machine.group, scheduler, factor) if machine.group else {},
        "sysctl": machine.timers
        | {
            "vm.dirty_background_bytes": _pages(machine.background_bytes / factor),
            "vm.dirty_bytes": _pages(machine.dirty_bytes / factor),
        },
        "load": {name: to_table(_ended(load, limit_ns)) for name, load in machine.innocent.items()}
        | {
            "offender": {
                "kind": "load",
                "file": "offender",
                "wait": machine.wait_ns,
                "size": offender,
                "block": max(
                    *(block_in_twin(machine, factor), -(-offender // _MOST_WRITES)),
                    _fast_enough(machine.write_bps / factor),
                ),
                "ioclass": machine.ioclass,
                "iolevel": machine.iolevel,
            }
        },
    }
    return Twin(from_table(Spec, table, exact=True), factor, tuple(notes))


def _most_written(machine: Machine) -> int:
    """Return how much the offender can write while each other load still has room for its cycles, in bytes.

    Up to the dirty threshold it writes at the rate of memory, then at the disk's.
    """
    lasts_ns = [load.capacity * load.idle_ns(0) for load in machine.innocent.values() if load.idle_ns(0)]
    room_ns = max(_ROOM * min(lasts_ns) - machine.wait_ns, NS_PER_S) if lasts_ns else _MOST_NS
    return machine.dirty_bytes + int(room_ns * machine.write_bps / NS_PER_S)


def _logged(load: Load, limit_ns: int) -> int:
    """Return how large the log of a load that commits can grow until the run ends, in bytes; 0 for any other load."""
    is_log = isinstance(load, Commit) and not load.files and load.idle > 0
    return load.cycle_bytes * (limit_ns // load.idle_ns(0)) if is_log else 0


def _ended(load: Load, limit_ns: int) -> Load:
    """Return a load that ends before it has recorded all its cycles, however long the copy beside it takes."""
    lasts_ns = load.capacity * load.idle_ns(0) * 19 // 20
    return replace(load, until=Nanoseconds(lasts_ns)) if 0 < lasts_ns < min(limit_ns, load.until) else load


def block_in_twin(machine: Machine, factor: float) -> int:
    """Return what the twin's offender writes at a time, in bytes: the machine's blocks, as the nearest power of two.

    Without folios of several pages, blocks of any size are accounted for by the page, as small ones are.
    """
    block = machine.block_bytes / factor
    return 1 << round(log2(block)) if machine.folio_bytes > PAGE_BYTES < block else _BLOCK_BYTES


def _fast_enough(write_bps: float) -> int:
    """Return the least block with which the offender writes much faster than the twin's disk, a power of two in bytes.

    A call takes longer in a guest than on a machine, so a fast disk would be faster than an offender of small blocks.
    """
    least = ceil(_TIMES_FASTER * write_bps * _WRITE_NS / NS_PER_S)
    return max(_BLOCK_BYTES, 1 << max(0, least - 1).bit_length())


def _device(machine: Machine, factor: float) -> dict[str, Any]:
    """Return the model of the guest's disk, with scaled rates and sizes; times and depth are kept."""
    disk = machine.disk
    if disk is None:
        return {"write_bps": int(machine.write_bps / factor), "latency": _LATENCY_NS}
    scaled = (
        *("write_bps", "read_bps", "drain_bps", "stall_every", "cache_bytes"),
        *("erase_block", "burst_bytes", "sustained_bps"),
    )
    table: dict[str, Any] = {key: -(-int(getattr(disk, key)) // factor) for key in scaled}
    kept = ("latency", "seek_time", "depth", "stall_time", "stalls", "open_blocks", "iops")
    if disk.erase_block:
        table["erase_block"] = max(table["erase_block"], LEAST_ERASE)
    return {key: int(value) for key, value in table.items()} | {key: getattr(disk, key) for key in kept}


def _of_queue(queue: MachineQueue, scheduler: Scheduler, factor: float, *, is_seen: bool) -> Iterator[str]:
    """Yield what the guest's queue cannot reproduce. is_seen: the disk takes several requests at once."""
    if queue.driver == UNKNOWN:
        driver = guest_driver(queue, scheduler, factor)
        what = f"the lab does not know the driver of the disk: the twin has {driver} with all settings of the queue"
        few = "If the driver takes fewer requests at a time, a short queue helps less: a recorder's file shows it"
        yield what if is_seen else f"{what}. {few}"
    wanted, has = queue.length_bytes / factor, length_in_guest(queue, scheduler, factor)
    if not wanted / _NEARLY < has < wanted * _NEARLY:
        yield f"the twin's queue holds {size(has)} instead of {size(wanted)}: its driver permits no other"


def _group(group: OffenderLimits, scheduler: str, factor: float) -> dict[str, Any]:
    """Return the offender's control group. Its memory.max gives it a writeback context of its own."""
    files: dict[str, Any] = {"memory.max": "max"}
    if group.memory_high:
        files["memory.high"] = _pages(group.memory_high / factor)
    if group.io_max_bps:
        files["io.max"] = f"{{disk}} wbps={int(group.io_max_bps / factor)}"
    if group.io_weight:
        files["io.bfq.weight" if scheduler == "bfq" else "io.weight"] = str(group.io_weight)
    return {_BULK: {"loads": ["offender"], "files": files}}


def _pages(size: float) -> int:
    return -(-int(size) // PAGE_BYTES) * PAGE_BYTES


# A twin's runs: a study with one cell and several seeds.

NAME = "twin"


@dataclass(frozen=True)
class TwinStudy:
    """A machine and its twin. live: directory of the live run that described the machine, if there was one."""

    machine: Machine
    twin: Twin
    live: Path | None


def twin_study(machine: Machine, live: Path | None, notes: Sequence[str] = ()) -> TwinStudy:
    """Scale a machine down to its twin. notes: what to know of the machine, before those on the twin."""
    twin = twin_of(machine, NAME)
    return TwinStudy(machine, replace(twin, notes=(*notes, *twin.notes)), live)


def plan_of(study: TwinStudy, seeds: int, kernel_name: str) -> Plan:
    """Return the plan of a twin's runs with the seeds 1 to `seeds`."""
    spec = study.twin.spec.on(kernel_name)
    about = {
        "machine": to_table(study.machine),
        "factor": study.twin.factor,
        "notes": list(study.twin.notes),
        "live": str(study.live.resolve()) if study.live else None,
    }
    return Plan(NAME, tuple(range(1, seeds + 1)), (Cell(NAME, {}, spec),), design=_DESIGN, about=about)


def read_study(store: Store) -> TwinStudy:
    """Read the machine and the twin of a study. Raises InputError if its directory holds none."""
    about: Mapping[str, Any] = store.plan.about
    try:
        machine = _machine(about["machine"])
        twin = Twin(store.plan.cells[0].spec, float(about["factor"]), tuple(map(str, about["notes"])))
        return TwinStudy(machine, twin, Path(about["live"]) if about["live"] else None)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{store.path} holds no twin ({type(error).__name__}: {error})") from None


def runs_in(store: Store, read: Callable[[Path], Run] = read_run) -> list[Run]:
    """Return the finished runs in the order of their seeds."""
    missing = {seed for _, seed in store.missing()}
    return [read(store.runs / run_name(cell, seed)) for cell, seed in store.plan.runs() if seed not in missing]


def _machine(table: Mapping[str, Any]) -> Machine:
    """Read a machine from a JSON table. Raises InputError."""
    known: dict[str, type[Disk | MachineQueue | OffenderLimits]] = {
        "disk": Disk,
        "queue": MachineQueue,
        "group": OffenderLimits,
    }
    parts: dict[str, Any] = {
        name: from_table(part, table[name], exact=True) for name, part in known.items() if table[name] is not None
    }
    return replace(from_table(Machine, {k: v for k, v in table.items() if k not in known}, exact=True), **parts)
