"""Disks whose credits are used up, or that are at their limit of requests per second, while a load waits for them."""

from dataclasses import dataclass
from typing import Literal

from wblab.analysis.runs.run import Run
from wblab.analysis.why.devicelimits import disk_of, is_hardware
from wblab.analysis.why.recorded import Recorded
from wblab.analysis.why.requests import device_number
from wblab.analysis.why.served import served
from wblab.core.spec import Spec

_HALF = 0.5  # of the time for which the disk served something


@dataclass(frozen=True)
class Spent:
    """What made a disk slow while a load was stalled, by its model in the spec (docs/reference/disk-model.md).

    name: the disk's in the spec; disk: in words. of: its credits, or its limit of requests per second. rate: what is
    left then, in bytes/s or requests/s; burst_bytes: the credits, 0 for requests. time_ns: what that added.
    """

    name: str
    disk: str
    of: Literal["credits", "requests"]
    rate: int
    burst_bytes: int
    time_ns: int


def spent_of(run: Run, recorded: Recorded, span_ns: tuple[int, int]) -> Spent | None:
    """Return what made a disk slow for most of the time that it served in a span of time; None if nothing did.

    span_ns: of the guest's clock. Of several disks, that to which most was added.
    """
    found = []
    for name, disk in run.spec.disk.items() if isinstance(run.spec, Spec) else ():
        if not (disk.sustained_bps or disk.iops) or name not in run.disks:
            continue
        device = device_number(run.disks[name].device)
        if not is_hardware(run, device):
            continue
        did = served(run, recorded, device)
        time_ns, busy_ns = did.spent(*span_ns), span_ns[1] - span_ns[0] - did.idle_ns(*span_ns)
        if time_ns <= _HALF * busy_ns or not busy_ns:
            continue
        is_credits = did.is_of_credits(*span_ns)
        rate = disk.sustained_bps if is_credits else disk.iops
        burst = disk.burst_bytes if is_credits else 0
        found.append(Spent(name, disk_of(run, device), "credits" if is_credits else "requests", rate, burst, time_ns))
    return max(found, key=lambda each: each.time_ns, default=None)
