"""The settings that a remedy writes: those in which the machine with and without the remedy differ."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from wblab.core.drivers import FEWEST_REQUESTS, Scheduler
from wblab.core.errors import InputError
from wblab.live.advise.machinesite import MachineSite
from wblab.live.advise.remedies import NS_PER_CENTISECOND, Remedy
from wblab.live.changes.permitted import FILES, MOST_BYTES, SCHEDULER, files_of
from wblab.live.twin.described import Machine

Where = Literal["sysctl", "queue", "bdi", "slice"]

# The keys of a slice, with the permitted numbers: they are in a file to install, and set nothing here.
_OF_SLICE: Mapping[str, range] = {
    "MemoryHigh": range(1 << 20, MOST_BYTES),
    "IOWriteBandwidthMax": range(1, MOST_BYTES),
    "IOWeight": range(1, 1000 + 1),
}
_OF_MEMORY = ("vm.dirty_background_bytes", "vm.dirty_bytes")
_NUMBER = re.compile(r"[0-9]{1,19}")
_DIR = "{dir} "  # precedes the value of a slice key that applies to one disk


@dataclass(frozen=True)
class WantedSetting:
    """One setting. where: a sysctl, an attribute of the disks' queues or of the disk's bdi, or a key of a slice."""

    where: Where
    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"

    def is_allowed(self, memory_bytes: int) -> bool:
        """Whether a remedy can set this key to this value on a machine with this much memory."""
        if (self.where, self.key) == SCHEDULER:
            return self.value in get_args(Scheduler)
        text = self.value.removeprefix(_DIR) if self.key == "IOWriteBandwidthMax" else self.value
        is_number = _NUMBER.fullmatch(text) is not None and int(text) in _numbers(self.where, self.key)
        return is_number and (self.key not in _OF_MEMORY or int(text) <= memory_bytes)


def paths(where: str, key: str, site: MachineSite) -> list[Path]:
    """Return the files of a setting: one for each disk's queue, one for a sysctl or the bdi, none for a slice.

    Raises InputError for a setting that no remedy has, because it could name any file.
    """
    if where == "slice" and key in _OF_SLICE:
        return []
    if (where, key) not in (*FILES, SCHEDULER):
        raise InputError(f"the study's file is damaged: no remedy sets {where} {key!r}: make a new study")
    return files_of(where, key, site.disks, site.bdi)


def _numbers(where: Where, key: str) -> range:
    """Return what a key may be set to; nothing for an unknown one."""
    if where == "slice":
        return _OF_SLICE.get(key, range(0))
    row = FILES.get((where, key))
    return row.numbers if row else range(0)


def settable(remedy: Remedy) -> dict[tuple[Where, str], str]:
    """Return all settings that a remedy may write, with the value, or '' if that depends on the machine.

    A new scheduler has a new queue; its length is then limited to the old one's.
    """
    requests = str(remedy.nr_requests) if remedy.nr_requests and not remedy.scheduler else ""
    known: dict[tuple[Where, str], tuple[object, object]] = {
        ("sysctl", "vm.dirty_bytes"): (remedy.dirty, ""),
        ("sysctl", "vm.dirty_background_bytes"): (remedy.dirty or remedy.background, ""),
        ("sysctl", "vm.dirty_expire_centisecs"): (remedy.expire, remedy.expire // NS_PER_CENTISECOND),
        ("sysctl", "vm.dirty_writeback_centisecs"): (remedy.period, remedy.period // NS_PER_CENTISECOND),
        ("queue", "scheduler"): (remedy.scheduler, remedy.scheduler),
        ("queue", "nr_requests"): (remedy.nr_requests or remedy.queue or remedy.scheduler, requests),
        ("queue", "max_sectors_kb"): (remedy.queue, ""),
        ("queue", "wbt_lat_usec"): (remedy.wbt, remedy.wbt // 1000),
        ("bdi", "max_ratio_fine"): (remedy.own_limit, ""),
        ("bdi", "strict_limit"): (remedy.own_limit, 1),
        ("slice", "MemoryHigh"): (remedy.memory_high, ""),
        ("slice", "IOWriteBandwidthMax"): (remedy.io_max, ""),
        ("slice", "IOWeight"): (remedy.io_weight, remedy.io_weight),
    }
    return {setting: str(value) for setting, (is_set, value) in known.items() if is_set}


def impossible(remedy: Remedy, site: MachineSite) -> str:
    """Return why a remedy cannot be set on this machine, and what to do; '' if it can be set."""
    if remedy.scheduler and remedy.scheduler not in site.schedulers:
        known = ", ".join(site.schedulers) or "none"
        return f"the disk has no scheduler {remedy.scheduler}, only {known}: try modprobe {remedy.scheduler}"
    if (remedy.nr_requests or remedy.queue) and not site.disks:
        return "the disk has no request queue"
    if remedy.wbt and "wbt" not in site.abilities:
        return "this kernel has no WBT for the disk, or the twin cannot show it: WBT goes by the disk's driver"
    if remedy.own_limit and "own limit" not in site.abilities:
        return "this kernel has no strict_limit for the disk: Linux 6.2 and later have it"
    needed = [
        name for name, used in (("memory", remedy.memory_high), ("io", remedy.io_max or remedy.io_weight)) if used
    ]
    if missing := [name for name in needed if name not in site.controllers]:
        return f"cgroup v2 on this machine has no {missing[0]} controller"
    return ""


def differing(now: Machine, then: Machine) -> list[WantedSetting]:
    """Return the settings that turn one machine into the other, in the order in which to write them."""
    found = []
    for key in ("dirty_background_bytes", "dirty_bytes"):
        field = key.removeprefix("dirty_") if key != "dirty_bytes" else key
        if (value := getattr(then, field)) != getattr(now, field):
            found.append(WantedSetting("sysctl", f"vm.{key}", str(value)))
    found += [WantedSetting("sysctl", k, str(v)) for k, v in then.timers.items() if v != now.timers.get(k)]
    is_other = then.scheduler != now.scheduler
    if is_other:
        found.append(WantedSetting("queue", "scheduler", then.scheduler))
    if now.queue and then.queue:
        # A new scheduler has a new queue. Fewer than the kernel permits are the driver's own, as of a stick.
        if (is_other or then.queue.requests != now.queue.requests) and then.queue.requests >= FEWEST_REQUESTS:
            found.append(WantedSetting("queue", "nr_requests", str(then.queue.requests)))
        if then.queue.request_bytes != now.queue.request_bytes:
            found.append(WantedSetting("queue", "max_sectors_kb", str(then.queue.request_bytes >> 10)))
        if then.queue.wbt_lat_usec != now.queue.wbt_lat_usec and not is_other:
            found.append(WantedSetting("queue", "wbt_lat_usec", str(then.queue.wbt_lat_usec)))
    if then.own_limit != now.own_limit:
        found += [
            WantedSetting("bdi", "max_ratio_fine", str(then.own_limit)),
            WantedSetting("bdi", "strict_limit", "1"),
        ]
    return found + _slice(then)


def _slice(then: Machine) -> list[WantedSetting]:
    """Return the keys of a slice (systemd.resource-control(5)); `{dir}` stands for a directory on the disk."""
    if not then.group:
        return []
    keys = {
        "MemoryHigh": str(then.group.memory_high) if then.group.memory_high else "",
        "IOWriteBandwidthMax": f"{{dir}} {then.group.io_max_bps}" if then.group.io_max_bps else "",
        "IOWeight": str(then.group.io_weight) if then.group.io_weight else "",
    }
    return [WantedSetting("slice", key, value) for key, value in keys.items() if value]
