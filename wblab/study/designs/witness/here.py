"""What this machine is as a substrate, in words: where it differs from what the spec describes."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wblab.analysis.runs.run import Run
from wblab.core.errors import InputError
from wblab.core.spec import Disk, Spec
from wblab.core.units import format_bytes
from wblab.kernels.here import PLAIN, WITH_LIMITS, is_here
from wblab.lab.formats import EXPERIMENT
from wblab.report.quantities import quantity, size

_LITTLE = 0.1  # a share of what offenders write: with less, a disk's rate says nothing
_LIMITS = ("vm.dirty_bytes", "vm.dirty_background_bytes")


def titles(names: Sequence[str]) -> dict[str, str]:
    """Return short names for a table: directories of this machine are left out where one name remains for one place."""
    kinds = {name: name.partition(":")[0] if is_here(name) else name for name in names}
    return {name: kind if list(kinds.values()).count(kind) == 1 else name for name, kind in kinds.items()}


def machine_of(run: Run) -> Mapping[str, Any] | None:
    """Return what a run on a machine itself recorded of it; None for a run elsewhere."""
    machine = run.record.get("machine")
    return machine if isinstance(machine, dict) and "limits_set" in machine else None


def differences(name: str, run: Run) -> list[str]:
    """Return what differs on a machine from the spec of a run there, a line each. name: of the substrate.

    Raises InputError for a damaged record.
    """
    try:
        return list(_differences(name, run))
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{run.path / EXPERIMENT} is damaged: its 'machine' is not that of a machine") from None


def _differences(name: str, run: Run) -> Iterator[str]:
    machine, spec = machine_of(run), run.spec
    assert machine
    assert isinstance(spec, Spec)
    release, memory = run.record["kernel"]["release"], size(machine["memory_bytes"])
    yield f"Linux {release}, {memory} of memory; the spec has {format_bytes(spec.memory)}"
    for disk, place in machine["disks"].items():
        wrote = _wrote(spec, disk, machine["traffic"][disk])
        yield f"{_where(place)}{wrote}; the spec has {_meant(spec.disk[disk])}"
        if not place["has_device"]:
            yield f"{place['directory']} is on no block device: what its limits and queue are is not known"
    if machine["shared_disks"]:
        yield f"the disks are not independent: both are on {' and '.join(machine['shared_disks'])} and share its rate"
    yield from _limits(name, machine, spec)
    if ignored := list(_ignored(spec, limits_set=machine["limits_set"])):
        yield f"not set on this machine: {', '.join(ignored)}"


def _where(place: Mapping[str, Any]) -> str:
    scheduler = f", scheduler {place['scheduler']}" if place["scheduler"] else ""
    return f"{place['directory']}: {place['filesystem']} on {place['device']}{scheduler}"


def _wrote(spec: Spec, disk: str, traffic: Mapping[str, Any] | None) -> str:
    """Return how fast a disk wrote in its best second, or that it had nothing to write while memory took all."""
    offered = sum(load.written_bytes for name, load in spec.load.items() if spec.disk_of(name) == disk)
    if not traffic or not offered:
        return ""
    if traffic["written_bytes"] < offered * _LITTLE:
        return ", wrote almost nothing yet when the run ended"
    return f", wrote up to {quantity(traffic['most_written_per_s'], 'bytes/s')}"


def _meant(disk: Disk) -> str:
    return f"{disk.filesystem}, scheduler {disk.scheduler}, {quantity(disk.write_bps, 'bytes/s')}"


def _limits(name: str, machine: Mapping[str, Any], spec: Spec) -> Iterator[str]:
    """Yield the dirty limits here and in the spec, and what a comparison needs."""
    wanted = ", background ".join(size(int(spec.sysctl[key])) for key in _LIMITS)
    own = ", background ".join(size(machine["own_thresholds"][key]) for key in ("dirty", "background"))
    if machine["limits_set"]:
        yield f"dirty limits: {wanted}, the spec's, only during each run; the machine's own are {own}"
        return
    yield f"dirty limits: {own}; the spec has {wanted}"
    asked = shlex.join(["--on", name.replace(PLAIN, WITH_LIMITS, 1)])
    yield f"These limits decide who stalls. To compare, set the spec's during each run, as root: {asked}"


def _ignored(spec: Spec, *, limits_set: bool) -> Iterator[str]:
    """Yield the spec's settings that this machine does not get."""
    for name, disk in spec.disk.items():
        key = spec.disk_key(name)
        for part in ("queue", "bdi"):
            yield from (f"{key}.{part}.{attribute}={value}" for attribute, value in getattr(disk, part).items())
        yield from (f"{key}.{part}" for part in ("mkfs_options", "mount_options") if getattr(disk, part))
    if not limits_set:
        yield from (f"{key}={value}" for key, value in spec.sysctl.items() if key not in _LIMITS)
