"""What may shorten a pause, by its kind of wait: settings to try on its run. What the run has already is no candidate.

The order is that of their effects in the matrices remedies, commit and two-disks (docs/explanation/what-helps.md).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from json import dumps
from typing import Any, Literal

from wblab.analysis.why.devicelimits import words_of
from wblab.core.check import check_spec
from wblab.core.drivers import SHORT_BYTES
from wblab.core.errors import InputError
from wblab.core.loads.offender import Offender
from wblab.core.spec import Cgroup, Disk, Spec
from wblab.core.stacks import CRYPT, FILE, LOOP, ZRAM, write_bps
from wblab.core.tables import to_table
from wblab.core.units import NS_PER_S, Bytes, format_bytes
from wblab.lab.disks import loop_queue_settings, short_queue_settings
from wblab.report.quantities import enumerated
from wblab.study.designs.prove.change import Edit, RemedyChange, read_remedy

Wait = Literal["queue", "limit", "processor", "other"]  # what the load waits for at the end of its chain

_DIRTY, _BACKGROUND = 4 << 20, 2 << 20
_SHARES = {1: 10}  # per cent of the dirty limit that one disk may have, by the number of disks
_SHARE_OF_SEVERAL = 5
_MEMORY_HIGH = 8 << 20
_RATE = 0.8
_SWAP = "swap"
_PORTION_S, _PACED, _TIMES_LONGER = 0.5, "-paced", 2
_JOURNAL_MIB = 4  # the smallest that mke2fs makes with blocks of 4 KiB: 1024 of them
_WBT_US = 75_000
_LIMITS = ("memory.max", "memory.high", "cpu.max")  # files of a control group that "max" lifts
_WEIGHTS = ("io.weight", "io.bfq.weight", "cpu.weight")
_USUAL_WEIGHT = "100"
_IO_LIMITS = ("rbps=max", "wbps=max", "riops=max", "wiops=max")
# A lower value of these is as good.
_LOWERED = ("nr_requests", "max_sectors_kb", "vm.dirty_bytes", "vm.dirty_background_bytes")
_HAS_JOURNAL = ("ext3", "ext4")
_ORDERED, _UNORDERED = "data=", "data=writeback"
_SLOW_OPTIONS = ("sync", "dirsync", "strictatime")  # of a mount: each makes calls wait that do not by default


@dataclass(frozen=True)
class SettingCandidate:
    """A setting to try. what: in words; short: in a list. change: a Remedy can also be set while a guest runs.

    is_lift: it lifts a limit that the run has, so if it helps, that limit is a cause. stand_ins: loads that another one
    does the work of: the load, the other, and how many cycles of the first are one of the other.
    """

    what: str
    short: str
    change: RemedyChange | Edit
    is_lift: bool = False
    stand_ins: tuple[tuple[str, str, float], ...] = ()

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings, each KEY=VALUE: of a phase for a Remedy, of the spec for an Edit."""
        return self.change.settings


def candidates(
    spec: Spec, wait: Wait, disk: str, culprits: Sequence[str], stalled: Sequence[str]
) -> list[SettingCandidate]:
    """Return what to try, the most promising first. disk: whose queue it is; culprits, stalled: names of loads."""
    whole = [_whole(spec, disk), *(spec.disk_of(load) for load in stalled)]
    offered = [*_in_memory(spec), *_lifted(spec, wait, stalled), *_unspent(spec, whole), *_mounted(spec, stalled)]
    others = [load for load in culprits if load in spec.load and load not in stalled]
    offered += _of_layers(spec, [*stalled, *others]) if wait != "processor" else []
    if wait == "processor":
        offered += _in_group(spec, others, "cpu.max of 10 %", {"cpu.max": "10000 100000"})
    elif wait != "other" or others:
        offered += _of_disk(spec, wait, _whole(spec, disk), others)
    return [item for item in offered if _is_new(spec, item)]


def _in_memory(spec: Spec) -> Iterator[SettingCandidate]:
    """Yield zram instead of a file, or a disk, to swap to."""
    for name, disk in spec.disk.items():
        key = spec.disk_key(name)
        if disk.filesystem == _SWAP and disk.is_hardware:
            table = f'{{model = "{ZRAM}", size = {disk.size}, filesystem = "{_SWAP}"}}'
            yield SettingCandidate(f"zram instead of {words_of(spec, name)}", "zram", Edit((f"{key}={table}",)))
        if disk.model == FILE:
            what = f"zram instead of the file of {words_of(spec, disk.on[0])}"
            yield SettingCandidate(what, "zram", Edit((f"{key}.model=zram", f"{key}.on=[]")))


def _lifted(spec: Spec, wait: Wait, stalled: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield the limits of the stalled loads, lifted: of their groups, their classes, their disks and all memory."""
    for name in dict.fromkeys((*spec.cgroup, *(name for phase in spec.phase.values() for name in phase.cgroup))):
        groups = [("", spec.cgroup.get(name, Cgroup()))]
        groups += [(f"phase.{key}.", phase.cgroup[name]) for key, phase in spec.phase.items() if name in phase.cgroup]
        if not any(load in group.loads for _, group in groups for load in stalled):
            continue
        for file in dict.fromkeys(file for _, group in groups for file in group.files):
            settings = tuple(
                f"{place}cgroup.{name}.files.{file}={lifted}"
                for place, group in groups
                if file in group.files and (lifted := _without_limit(file, str(group.files[file])))
            )
            if settings:
                what = f"without {file} of the group {name}"
                is_later = any(setting.startswith("phase.") for setting in settings)
                change = Edit(settings) if is_later else read_remedy(settings)
                yield SettingCandidate(what, f"no {file}", change, is_lift=True)
    if idle := [load for load in stalled if spec.load[load].ioclass == "idle"]:
        usual = read_remedy([f"load.{load}.ioclass=best-effort" for load in idle])
        yield SettingCandidate(f"without the idle class of {enumerated(idle)}", "no idle class", usual, is_lift=True)
    for disk in dict.fromkeys(spec.disk_of(load) for load in stalled):
        if spec.disk[disk].bdi.keys() & {"strict_limit", "max_ratio", "max_bytes"}:
            without = read_remedy([f"disk.{disk}.bdi.strict_limit=0", f"disk.{disk}.bdi.max_ratio=100"])
            what = f"without the own dirty limit of {words_of(spec, disk)}"
            yield SettingCandidate(what, "no own dirty limit", without, is_lift=True)
    if wait == "limit" and _has_low_limit(spec):
        usual = read_remedy(["sysctl.vm.dirty_background_ratio=10", "sysctl.vm.dirty_ratio=20"])
        yield SettingCandidate("with the kernel's own dirty limit, 20 %", "dirty limit of 20 %", usual, is_lift=True)


def _unspent(spec: Spec, disks: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield the disks without what makes them slow after a while: credits, and a limit of requests per second."""
    for disk in dict.fromkeys(below for name in disks for below in _hardware(spec, name)):
        key, said, has = spec.disk_key(disk), words_of(spec, disk), spec.disk[disk]
        if has.burst_bytes:
            change = Edit((f"{key}.burst_bytes=0", f"{key}.sustained_bps=0"))
            yield SettingCandidate(f"if the credits of {said} did not end", "credits without end", change, is_lift=True)
        if has.iops:
            what = f"without the limit of {said}, {has.iops} requests per second"
            yield SettingCandidate(what, "no limit of requests", Edit((f"{key}.iops=0",)), is_lift=True)


def _mounted(spec: Spec, stalled: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield the disks of the stalled loads mounted without what makes calls wait."""
    for disk in dict.fromkeys(spec.disk_of(load) for load in stalled):
        options = spec.disk[disk].mount_options
        for slow in (option for option in options if option in _SLOW_OPTIONS):
            kept = dumps([option for option in options if option != slow])
            what = f"without the mount option {slow} on {words_of(spec, disk)}"
            yield SettingCandidate(what, f"no {slow}", Edit((f"{spec.disk_key(disk)}.mount_options={kept}",)))


def _of_layers(spec: Spec, loads: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield what keeps a layer above a disk from being a queue of its own: with a short queue, and alone."""
    short = f"a queue of {format_bytes(SHORT_BYTES)}"
    for disk in dict.fromkeys(each for load in loads for each in _layers(spec, spec.disk_of(load))):
        key, has = spec.disk_key(disk), spec.disk[disk]
        if has.model == LOOP:
            queue = tuple(loop_queue_settings(disk))
            if has.direct_io:
                yield SettingCandidate(f"{short} for the loop *{disk}*", f"loop's {short[2:]}", Edit(queue))
                continue
            change, what, name = f"{key}.direct_io=true", f"direct I/O of the loop *{disk}*", "direct I/O"
            below = "for it"
        elif has.model == CRYPT and has.workqueues in ("both", "writes"):
            queue = tuple(setting for each in _hardware(spec, disk) for setting in short_queue_settings(spec, each))
            kept = "reads" if has.workqueues == "both" else "none"
            change, what = f"{key}.workqueues={kept}", f"the option no_write_workqueue for the encrypted disk *{disk}*"
            name, below = "no_write_workqueue", "below it"
        else:
            continue
        yield SettingCandidate(f"{what}, and {short} {below}", f"{name} and {short[2:]}", Edit((change, *queue)))
        yield SettingCandidate(what, name, Edit((change,)))


def _layers(spec: Spec, disk: str) -> Iterator[str]:
    """Yield a disk, and those that it is made of."""
    yield disk
    for part in spec.disk[disk].on:
        yield from _layers(spec, part)


def _without_limit(file: str, value: str) -> str:
    """Return the value of a group's file that sets no limit; empty for a file that is no limit, or that sets none."""
    if file == "io.max":
        return " ".join((value.split(maxsplit=1)[0], *_IO_LIMITS)) if _is_limiting(value) else ""
    if file in _WEIGHTS:
        weight = value.rsplit(maxsplit=1)[-1]
        return _USUAL_WEIGHT if weight.isdecimal() and int(weight) < int(_USUAL_WEIGHT) else ""
    return "max" if file in _LIMITS and not value.startswith("max") else ""


def _has_low_limit(spec: Spec) -> bool:
    """Whether less memory may be dirty than by the kernel's default."""
    limit, ratio = spec.sysctl.get("vm.dirty_bytes", 0), spec.sysctl.get("vm.dirty_ratio", 20)
    return bool(limit) or (isinstance(ratio, int) and 0 < ratio < 20)


def _is_limiting(value: str) -> bool:
    return any(not word.endswith("=max") for word in value.split()[1:])


def _of_disk(spec: Spec, wait: Wait, disk: str, others: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield what shortens a disk's queue, or keeps others from filling it or the memory that may be dirty."""
    hard, said = _hardware(spec, disk), words_of(spec, disk)
    queue = [
        SettingCandidate(
            f"a queue of {format_bytes(SHORT_BYTES)} for {enumerated([words_of(spec, each) for each in hard])}",
            f"queue of {format_bytes(SHORT_BYTES)}",
            read_remedy([setting for each in hard for setting in short_queue_settings(spec, each)]),
        )
    ]
    low = [
        SettingCandidate(
            f"a dirty limit of {format_bytes(_DIRTY)}",
            f"dirty limit of {format_bytes(_DIRTY)}",
            read_remedy([f"sysctl.vm.dirty_background_bytes={_BACKGROUND}", f"sysctl.vm.dirty_bytes={_DIRTY}"]),
        )
    ]
    is_throttle = all(spec.disk[each].model == "throttle" for each in hard)
    yield from (*low, *queue) if is_throttle else queue
    if not spec.disk[disk].bdi.get("strict_limit"):
        share = _SHARES.get(len(spec.disk), _SHARE_OF_SEVERAL)
        own = read_remedy([f"disk.{disk}.bdi.strict_limit=1", f"disk.{disk}.bdi.max_ratio={share}"])
        what = f"a dirty limit of its own for {said}, {share} % of the limit for all"
        yield SettingCandidate(what, "own dirty limit", own)
    if not is_throttle:
        yield from low
    yield from _paced(spec, others)
    yield from _priorities(spec, hard, others)
    if spec.disk[disk].filesystem in _HAS_JOURNAL and wait == "queue":
        options = dumps([*spec.disk[disk].mkfs_options, "-J", f"size={_JOURNAL_MIB}"])
        small = Edit((f"{spec.disk_key(disk)}.mkfs_options={options}",))
        yield SettingCandidate(f"a journal of {_JOURNAL_MIB} MiB on {said}", f"journal of {_JOURNAL_MIB} MiB", small)
        if not any(option.startswith(_ORDERED) for option in spec.disk[disk].mount_options):
            options = dumps([*spec.disk[disk].mount_options, _UNORDERED])
            what = f"the mount option {_UNORDERED} on {said}, with which a crash may leave old data in new files"
            unordered = Edit((f"{spec.disk_key(disk)}.mount_options={options}",))
            yield SettingCandidate(what, _UNORDERED, unordered)
    yield from _in_group(spec, others, f"memory.high of {format_bytes(_MEMORY_HIGH)}", {"memory.high": _MEMORY_HIGH})
    if rate := int(_RATE * write_bps(spec, disk)):
        limit = {"io.max": f"{{disk.{hard[0]}}} wbps={rate}"}
        yield from _in_group(spec, others, f"io.max of {_RATE * 100:.0f} % of the disk's rate", limit)
    if not any(_has_wbt(spec.disk[each]) for each in hard):
        wbt = read_remedy([f"disk.{each}.queue.wbt_lat_usec={_WBT_US}" for each in hard])
        yield SettingCandidate("WBT, wbt_lat_usec of 75 ms", "WBT", wbt)


def _paced(spec: Spec, others: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield that those who write fast wait for the disk after each portion, as a program of one's own can.

    A load that syncs does so in the place of each. A portion is what its disk writes in half a second.
    """
    grouped = {load for group in spec.cgroup.values() for load in group.loads}
    writers = {name: load for name in others if isinstance(load := spec.load[name], Offender)}
    portions = {name: int(_PORTION_S * write_bps(spec, spec.disk_of(name))) >> 12 << 12 for name in writers}
    if not writers or len(writers) < len(others) or grouped & {*writers} or not all(portions.values()):
        return
    settings, stand_ins = [], []
    for name, load in writers.items():
        portion, new = portions[name], f"{name}{_PACED}"
        paced = {
            "kind": "syncwrite",
            "method": "fdatasync",
            "disk": spec.disk_of(name),
            "file": load.file + _PACED,
            "start": f"{load.start + load.wait}ns",
            "block": portion,
            "count": -(-load.size // portion),
            "idle": "1us",
        }
        table = ", ".join(f"{key} = {dumps(value)}" for key, value in paced.items())
        # It writes a block, and then sleeps as long as the other may take: the run ends when all such loads have.
        idle_ns = int(_TIMES_LONGER * load.size / write_bps(spec, spec.disk_of(name)) * NS_PER_S)
        settings += [f"load.{name}.size={load.block}", f"load.{name}.idle={idle_ns}ns", f"load.{new}={{{table}}}"]
        stand_ins.append((name, new, portion / load.block))
    each = enumerated(list(dict.fromkeys(format_bytes(Bytes(portion)) for portion in portions.values())))
    what = f"fdatasync in {enumerated(list(writers))} after each {each}"
    yield SettingCandidate(what, "fdatasync after portions", Edit(tuple(settings)), stand_ins=tuple(stand_ins))


def _has_wbt(disk: Disk) -> bool:
    """Whether the kernel limits its writes by WBT, as it does unless something sets 0."""
    return str(disk.queue_attributes.get("wbt_lat_usec", 0)) != "0"


def _priorities(spec: Spec, hard: Sequence[str], others: Sequence[str]) -> Iterator[SettingCandidate]:
    """Yield what a scheduler does, with priorities of others and without."""
    bfq = [f"disk.{each}.queue.scheduler=bfq" for each in hard]
    if others:
        idle = [f"load.{load}.ioclass=idle" for load in others]
        what = f"the scheduler BFQ, and {enumerated(others)} in the idle class"
        yield SettingCandidate(what, "BFQ and idle class", read_remedy([*bfq, *idle]))
        weight = {"memory.max": "max", "io.bfq.weight": 10}
        for item in _in_group(spec, others, "io.bfq.weight of 10", weight):
            change = read_remedy([*bfq, *item.settings])
            yield SettingCandidate(f"the scheduler BFQ, and {item.what}", "BFQ and io.bfq.weight", change)
    else:
        yield SettingCandidate("the scheduler BFQ", "BFQ", read_remedy(bfq))


def _in_group(spec: Spec, others: Sequence[str], what: str, files: dict[str, Any]) -> Iterator[SettingCandidate]:
    """Yield a control group with these files for others; the group that they have, if it is theirs alone."""
    if not others:
        return
    groups = {name for name, group in spec.cgroup.items() if set(group.loads) & set(others)}
    name = next(iter(groups), "bulk")
    if len(groups) > 1 or (groups and not set(spec.cgroup[name].loads) <= set(others)):
        return
    loads = [f"cgroup.{name}.loads={dumps(others)}"] if not groups else []
    settings = (*loads, *(f"cgroup.{name}.files.{file}={value}" for file, value in files.items()))
    short = next(reversed(files))
    yield SettingCandidate(f"a group for {enumerated(others)} with {what}", short, read_remedy(settings))


def _hardware(spec: Spec, disk: str) -> list[str]:
    """Return the disks below a disk that the host makes: those with a queue of requests."""
    if spec.disk[disk].is_hardware:
        return [disk]
    return list(dict.fromkeys(below for part in spec.disk[disk].on for below in _hardware(spec, part))) or [disk]


def _whole(spec: Spec, disk: str) -> str:
    """Return the disk with a filesystem that is made of a disk, as a mirror is of its legs; or that disk itself."""
    upper = next((name for name, each in spec.disk.items() if disk in each.on), "")
    return _whole(spec, upper) if upper and spec.disk[disk].filesystem == "none" else disk


def _is_new(spec: Spec, item: SettingCandidate) -> bool:
    """Whether a candidate changes something, and makes a spec that can run."""
    try:
        changed = item.change.applied(spec, 0)
        check_spec(changed)
    except InputError:
        return False
    if isinstance(item.change, Edit):
        return bool(to_table(changed) != to_table(spec))
    phase, has = item.change.phase, spec.disk
    disks = [
        (
            has[name].queue_attributes | {"scheduler": has[name].elevator} | has[name].bdi,
            attributes.queue | attributes.bdi,
        )
        for name, attributes in phase.disk.items()
    ]
    others = any(spec.load[name].ioclass != priority.ioclass for name, priority in phase.load.items())
    for name, group in phase.cgroup.items():
        there = spec.cgroup.get(name, Cgroup())
        others |= not set(group.loads) <= set(there.loads) or _adds(there.files, group.files)
    return others or _adds(spec.sysctl, phase.sysctl) or any(_adds(before, after) for before, after in disks)


def _adds(before: dict[str, int | str], after: dict[str, int | str]) -> bool:
    """Whether settings change others; what is lower already stays."""
    return any(not _is_there(key, before.get(key), value) for key, value in after.items())


def _is_there(key: str, there: int | str | None, value: int | str) -> bool:
    is_lower = key in _LOWERED and isinstance(there, int) and isinstance(value, int) and 0 < there < value
    return is_lower or str(there) == str(value)
