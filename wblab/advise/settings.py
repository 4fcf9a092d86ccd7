"""From a remedy's effect to what is written on a machine: the settings in which two states of it differ."""

from dataclasses import dataclass
from typing import Literal

from wblab.advise.remedies import Remedy
from wblab.advise.site import Site
from wblab.twin.machine import Machine

Where = Literal["sysctl", "queue", "bdi", "slice"]


@dataclass(frozen=True)
class Wanted:
    """One setting. where: a sysctl, an attribute of the disks' queues or of the disk's bdi, a key of a slice."""

    where: Where
    key: str
    value: str

    def __str__(self) -> str:
        return f"{self.key}={self.value}"


def impossible(remedy: Remedy, site: Site) -> str:
    """Return why a remedy cannot be set on this machine, and what to do; '' where it can."""
    if remedy.scheduler and remedy.scheduler not in site.schedulers:
        known = ", ".join(site.schedulers) or "none"
        return f"its disk has no scheduler {remedy.scheduler} ({known}): modprobe {remedy.scheduler} may help"
    if (remedy.nr_requests or remedy.queue) and not site.disks:
        return "its disk has no queue of requests"
    if remedy.wbt and "wbt" not in site.abilities:
        return "this kernel has no WBT for its disk"
    if remedy.own_limit and "own limit" not in site.abilities:
        return "this kernel has no strict_limit for its disk: 6.2 has"
    needed = [
        name for name, used in (("memory", remedy.memory_high), ("io", remedy.io_max or remedy.io_weight)) if used
    ]
    if missing := [name for name in needed if name not in site.controllers]:
        return f"this machine's control groups (version 2) have no controller {missing[0]}"
    return ""


def differing(now: Machine, then: Machine) -> list[Wanted]:
    """Return what is to be set for a machine to become another, in the order in which it is to be written."""
    found = []
    for key in ("dirty_background_bytes", "dirty_bytes"):
        field = key.removeprefix("dirty_") if key != "dirty_bytes" else key
        if (value := getattr(then, field)) != getattr(now, field):
            found.append(Wanted("sysctl", f"vm.{key}", str(value)))
    found += [Wanted("sysctl", k, str(v)) for k, v in then.timers.items() if v != now.timers.get(k)]
    is_other = then.scheduler != now.scheduler
    if is_other:
        found.append(Wanted("queue", "scheduler", then.scheduler))
    if now.queue and then.queue:
        if is_other or then.queue.requests != now.queue.requests:  # another scheduler has a queue of its own
            found.append(Wanted("queue", "nr_requests", str(then.queue.requests)))
        if then.queue.wbt_lat_usec != now.queue.wbt_lat_usec and not is_other:
            found.append(Wanted("queue", "wbt_lat_usec", str(then.queue.wbt_lat_usec)))
    if then.own_limit != now.own_limit:
        found += [Wanted("bdi", "max_ratio_fine", str(then.own_limit)), Wanted("bdi", "strict_limit", "1")]
    return found + _slice(then)


def _slice(then: Machine) -> list[Wanted]:
    """Return the keys of a slice (systemd.resource-control(5)); `{dir}` stands for the directory on the disk."""
    if not then.group:
        return []
    keys = {
        "MemoryHigh": str(then.group.memory_high) if then.group.memory_high else "",
        "IOWriteBandwidthMax": f"{{dir}} {then.group.io_max_bps}" if then.group.io_max_bps else "",
        "IOWeight": str(then.group.io_weight) if then.group.io_weight else "",
    }
    return [Wanted("slice", key, value) for key, value in keys.items() if value]
