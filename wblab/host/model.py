"""The model of a device as the kernel takes it: parameters of ubd, a list each with a value per disk."""

from collections.abc import Callable, Mapping, Sequence

from wblab.core.spec import Disk

# linux-uml/patches: `um: ubd: model …`. In all of them 0 is what a device without a model has.
_PARAMETERS: Mapping[str, Callable[[Disk], int]] = {
    "latency_ns": lambda disk: disk.latency,
    "bytes_per_second": lambda disk: disk.write_bps,
    "read_bytes_per_second": lambda disk: disk.read_bps,
    "depth": lambda disk: disk.depth if disk.depth > 1 else 0,
    "seek_ns": lambda disk: disk.seek_time,
    "stall_bytes": lambda disk: disk.stall_every,
    "stall_ns": lambda disk: disk.stall_time,
    "stall_random": lambda disk: int(disk.stalls == "random"),
    "cache_bytes": lambda disk: disk.cache_bytes,
    "drain_bytes_per_second": lambda disk: disk.drain_bps,
}


def model_parameters(disks: Sequence[Disk]) -> dict[str, list[int]]:
    """Return the parameters that disks need, in the order of their numbers; none for those that have no model."""
    values = {
        name: [value(disk) if disk.model == "device" else 0 for disk in disks] for name, value in _PARAMETERS.items()
    }
    return {f"ubd.{name}": row for name, row in values.items() if any(row)}
