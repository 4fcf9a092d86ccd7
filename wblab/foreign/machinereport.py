"""The state of a machine as a report: which limits hold, for how long a disk, and whether that explains stalls."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from wblab.foreign.disktext import DiskText
from wblab.foreign.machinetext import MachineText
from wblab.foreign.machinetried import tried
from wblab.foreign.memorytext import DirtyLimit, several
from wblab.lab.printable import printable
from wblab.report.quantities import enumerated, quantity, size
from wblab.report.report import Block, Column, Lines, Points, Report, Row, Section, Table

RECORD = (
    "wblab recorder > recorder.sh                # here",
    "sh recorder.sh --comm NAME --over 500ms     # there, as root; NAME stalls",
)
_MOST_ROWS, _MOST_NAMES = 12, 3
_MUCH_PRESSURE = 10.0  # per cent
_HOW = {"vmstat": "the kernel's own figure", "bytes": "set in bytes", "ratio": "of free memory and the page cache"}


def machine_report(name: str, found: MachineText) -> Report:
    """Return the report on the state of a machine. name: of its file."""
    release = f", Linux {printable(found.memory.release)}" if found.memory.release else ""
    about = (f"{name}: the state of a machine{release}", "")
    blocks = (
        *to_try(found),
        *machine_blocks(found),
        _apart("To learn who stalls and why, record the next stall:", Lines(RECORD)),
    )
    silent = _apart("What this text cannot tell:", Points(tuple(_silent(found))))
    title = f"{name}: can its dirty limits explain stalls?"
    data = {"file": name, "kind": "state", **machine_data(found)}
    return Report(title, headline(found), (*blocks, silent), data=data, about=about)


def to_try(found: MachineText) -> list[Block]:
    """Return what to try on a machine, by its state alone."""
    blocks = tuple(tried(found))
    return [Section("What to try", blocks)] if blocks else []


def machine_blocks(found: MachineText) -> list[Block]:
    """Return what a text shows."""
    shown = [Row(row) for row in _shown(found)]
    blocks: list[Block] = []
    if shown:
        blocks.append(Table((Column("what"), Column("how much", "prose")), tuple(shown)))
    if disks := found.real_disks:
        blocks.append(_disks(found, disks))
    return blocks


def headline(found: MachineText) -> str:
    """Return the limits in bytes and seconds, the queue, and whether they can explain stalls of seconds."""
    said = [_limit_words(found), _now_words(found), _queue_words(found), next(_verdicts(found))]
    return " ".join(filter(None, said))


def _limit_words(found: MachineText) -> str:
    if not found.limits:
        return "The text does not say this machine's dirty limits."
    dirty, first = found.limits.dirty, found.foremost
    words = f"Up to {_limit(dirty)} may be dirty here"
    if first and first.limit_s and first.disk.rate_bps:
        rate = quantity(first.disk.rate_bps, "bytes/s")
        return (
            f"{words}: {_seconds(first.limit_s)} of work for {first.disk.name}, which wrote {rate} at most while busy."
        )
    return f"{words}; how many seconds of work for a disk that is, the text does not say."


def _now_words(found: MachineText) -> str:
    now = found.memory.now_bytes
    if now is None or found.limits is None or found.is_slowed is None:
        return ""
    if found.is_slowed:
        begin = size(found.limits.slowed_from_bytes)
        return f"{size(now)} were dirty or being written, and beyond {begin} the kernel slows all who write."
    dirty = f"{size(now)} were dirty" if now else "nothing was dirty"
    return f"When this was taken, {dirty}: the machine's limit slowed nobody at that moment."


def _queue_words(found: MachineText) -> str:
    first = found.foremost
    if not first or not _queue(first.disk):
        return ""
    time = f", {_seconds(first.queue_s)}" if first.queue_s else ""
    which = "Each hardware queue" if first.disk.scheduler == "none" else "The queue"
    return f"{which} of {first.disk.name or 'the disk'} holds up to {_queue(first.disk)}{time}."


def _queue(disk: DiskText) -> str:
    """Return what a disk's queue holds: in bytes, or in requests if their size is not known; empty if neither is."""
    if disk.queue_bytes:
        return size(disk.queue_bytes)
    requests = disk.whole("nr_requests")
    return f"{requests} requests" if requests else ""


def _verdicts(found: MachineText) -> Iterator[str]:
    """Yield whether what is shown explains stalls of seconds, the surest first."""
    if slow := found.awaited:
        took = _seconds((slow.await_ms or 0.0) / 1000)
        yield f"A write to {slow.name} took {took} on average in a report: that explains stalls of seconds."
    if found.is_slowed:
        yield "That can explain stalls of programs that write."
    if found.long:
        yield "That can explain stalls of seconds, once memory or the queue is full."
    if found.is_idle:
        yield "No disk was busy in these reports: either nothing stalled then, or no disk is to blame."
    if (share := found.memory.pressure.get(("io", "full"), (0.0,))[0]) >= _MUCH_PRESSURE:
        yield f"All tasks waited for I/O during {share:.0f} % of 10 s: for what, stacks or a recording say."
    if any(item.limit_s for item in found.filled) and all(item.limit_s and item.queue_s for item in found.filled):
        yield "At that rate neither holds a second of work: it explains stalls only of a disk that is slower at times."
    if busy := found.busiest:
        yield f"{busy.name} was busy for {busy.busy:.0f} % of a report: who waits for it waits behind others."
    yield "Whether that explains stalls of seconds, it does not say either."


def _limit(limit: DirtyLimit) -> str:
    if limit.is_exact:
        return size(limit.size_bytes)
    if limit.low_bytes != limit.size_bytes:
        return f"about {size(limit.low_bytes)} to {size(limit.size_bytes)}"
    return f"about {size(limit.size_bytes)}"


def _seconds(time_s: float) -> str:
    return quantity(time_s, "s")


# What it shows


def _shown(found: MachineText) -> Iterator[tuple[str, str]]:
    memory, limits = found.memory, found.limits
    if "MemTotal" in memory.meminfo:
        available = memory.meminfo.get("MemAvailable")
        yield "memory", size(memory.meminfo["MemTotal"]) + (f", {size(available)} available" if available else "")
    if limits:
        for name, limit in (("dirty limit", limits.dirty), ("background threshold", limits.background)):
            yield name, f"{_limit(limit)}, {_how(found, name, limit)}"
        about = "" if limits.dirty.is_exact and limits.background.is_exact else "about "
        yield "writers slowed from", f"{about}{size(limits.slowed_from_bytes)}, half way between the two"
    if memory.now_bytes is not None:
        many = f", the most of {len(memory.dirty_bytes)} samples" if len(memory.dirty_bytes) > 1 else ""
        yield "dirty or written", f"{size(memory.now_bytes)}{many}"
    for (resource, kind), shares in sorted(memory.pressure.items()):
        if resource != "cpu" and (kind == "full" or (resource, "full") not in memory.pressure):
            who = "all tasks" if kind == "full" else "some task"
            least = "memory" if resource == "memory" else "I/O"
            yield f"pressure, {least}", f"{who} waited for {shares[0]:.1f} % of 10 s, {shares[2]:.1f} % of 5 min"
    names = {disk.facts.get("dev", ""): printable(disk.name) for disk in found.disks.disks.values()}
    for number, own in sorted(found.disks.bdis.items()):
        if words := _own_limit(own):
            yield f"own limit of {names.get(number, number)}", words
    for each in found.groups[:_MOST_ROWS]:
        of = f" for {printable(names.get(each.disk, each.disk))}" if each.disk else ""
        most = quantity(each.most, "bytes/s") if each.disk else size(each.most)
        yield f"control group {printable(each.group)}", f"{each.name} {most}{of}"
    if found.disks.writers:
        heaviest = [f"{printable(who)} {quantity(rate, 'bytes/s')}" for who, rate in found.disks.writers.items()]
        yield "wrote most", ", ".join(heaviest[:_MOST_NAMES])


def _how(found: MachineText, name: str, limit: DirtyLimit) -> str:
    if limit.source != "ratio":
        return _HOW[limit.source]
    ratio = found.memory.setting("dirty_ratio" if name == "dirty limit" else "dirty_background_ratio")
    return f"{ratio} % {_HOW['ratio']}"


def _own_limit(own: dict[str, str]) -> str:
    strict, ratio, most = own.get("strict_limit"), own.get("max_ratio", "100"), own.get("max_bytes", "0")
    words = [f"max_ratio {ratio} %"] if ratio.isdecimal() and 0 < int(ratio) < 100 else []
    words += [f"max_bytes {size(int(most))}"] if strict == "1" and most.isdecimal() and 0 < int(most) < 1 << 62 else []
    return ", ".join([*words, *(["strict"] if strict == "1" else [])])


def _disks(found: MachineText, disks: Sequence[DiskText]) -> Table:
    columns = (
        *(Column("disk"), Column("scheduler", "name", 3), Column("queue", "number", 1), Column("of it", "number", 2)),
        *(Column("wrote, busy", "number"), Column("busy", "number"), Column("a write took", "number")),
    )
    seconds = {item.disk.name: item.queue_s for item in found.filled}
    rows = []
    for disk in sorted(disks, key=lambda each: (-(each.await_ms or 0), -(each.busy or 0), -bool(each.rate_bps)))[:200]:
        queued = seconds.get(disk.name)
        rows.append(
            Row(
                (
                    printable(disk.name) or "not named",
                    printable(disk.scheduler),
                    _queue(disk),
                    _seconds(queued) if queued else "",
                    quantity(disk.rate_bps, "bytes/s") if disk.rate_bps else "",
                    f"{disk.busy:.0f} %" if disk.busy is not None else "",
                    _seconds(disk.await_ms / 1000) if disk.await_ms is not None else "",
                )
            )
        )
    kept = [at for at in range(len(columns)) if any(row.cells[at] for row in rows)]
    shown = [Row(tuple(row.cells[at] for at in kept)) for row in rows]
    return Table(tuple(columns[at] for at in kept), tuple(shown), most=_MOST_ROWS)


def _silent(found: MachineText) -> Iterator[str]:
    memory, limits = found.memory, found.limits
    if limits is None:
        yield "the dirty limits: /proc/vmstat has them (nr_dirty_threshold), or sysctl vm with /proc/meminfo"
    elif not limits.dirty.is_exact:
        yield "what the kernel keeps in reserve, by which the limits are a little lower"
    if memory.vmstat and memory.page_bytes is None and limits and limits.dirty.source == "vmstat":
        yield "how large a page is: 4 KiB is assumed"
    for name, values in several(memory.settings).items():
        said = enumerated([str(value) for value in dict.fromkeys(values)][:4])
        yield f"which vm.{name} holds: it has {said}; the last counts"
    if not any(disk.rate_bps for disk in found.real_disks):
        yield "how fast the disk is: iostat -x 1, for some seconds while it is busy, says it"
    if found.disks.has_iostat and not found.disks.has_intervals:
        yield "what happened when: the first report of iostat is the mean of all the time since boot"
    if not found.disks.writers:
        yield "which program wrote: pidstat -d 1 says it, for writes that are counted when a page becomes dirty"
    if memory.now_bytes is None:
        yield "how much was dirty: Dirty and Writeback of /proc/meminfo, while it freezes"
    groups = "" if found.groups else "the limits of control groups, and "
    yield f"{groups}who waited for what: stacks say that"


def machine_data(found: MachineText) -> dict[str, Any]:
    """Return what programs read of it."""
    limits = found.limits
    return {
        "release": printable(found.memory.release),
        "dirty_bytes": limits.dirty.size_bytes if limits else None,
        "dirty_at_least_bytes": limits.dirty.low_bytes if limits else None,
        "background_bytes": limits.background.size_bytes if limits else None,
        "limits_by": limits.dirty.source if limits else None,
        "now_bytes": found.memory.now_bytes,
        "is_slowed": found.is_slowed,
        "pressure": {f"{resource} {kind}": list(each) for (resource, kind), each in found.memory.pressure.items()},
        "disks": [
            {
                "name": item.disk.name,
                "scheduler": item.disk.scheduler,
                "queue_bytes": item.disk.queue_bytes,
                "write_bps": item.disk.rate_bps,
                "busy_percent": item.disk.busy,
                "write_s": item.disk.await_ms / 1000 if item.disk.await_ms is not None else None,
                "limit_s": item.limit_s,
                "queue_s": item.queue_s,
            }
            for item in found.filled[:200]
        ],
        "groups": [asdict(limit) for limit in found.groups[:200]],
        "writers": {printable(name): rate for name, rate in list(found.disks.writers.items())[:20]},
    }


def _apart(*blocks: Block) -> Section:
    return Section("", (Section("", blocks, close=True),))
