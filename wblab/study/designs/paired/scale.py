"""Scale a value from its machine to a guest: by seconds of the disk's work, or by share of memory.

A writer waits for time: writing back the dirty limit takes limit / rate. The kernel's defaults are shares of memory. A
value in bytes may mean either, and on another machine it can keep only one of the two.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from wblab.core.spec import Spec
from wblab.core.units import BytesPerSecond, parse_bytes
from wblab.study.designs.paired.recommendations import Machine, Scenario, Value

Scaling = Literal["as it is", "by seconds", "by memory"]
AS_IT_IS: Scaling = "as it is"

_PAGE_BYTES = 4096
_LEAST_LIMIT_BYTES = 2 * _PAGE_BYTES  # mm/page-writeback.c: dirty_bytes_min
_STEMS = ("vm.dirty", "vm.dirty_background")


def guest_of(spec: Spec, scenario: Scenario) -> Machine:
    """Return the guest's memory, and the rate of the disk that the offender writes to."""
    return Machine(memory=spec.memory, write_bps=BytesPerSecond(spec.disk[scenario.disk].write_bps))


def in_force(sysctl: Mapping[str, int | str]) -> dict[str, int]:
    """Return the sysctls in force after they were set one after the other.

    A threshold is in bytes or a share: to set one clears the other, and 0 bytes are refused (mm/page-writeback.c:
    dirty_ratio_handler, dirty_bytes_handler and those of the background).
    """
    found: dict[str, int] = {}
    for key, given in sysctl.items():
        number = parse_bytes(given) if key.endswith("_bytes") else int(given)
        if key.endswith("_bytes") and not number:
            continue
        stem, _, kind = key.rpartition("_")
        if stem in _STEMS:
            found.pop(f"{stem}_{'ratio' if kind == 'bytes' else 'bytes'}", None)
        found.pop(key, None)
        found[key] = number
    return found


def scalings(value: Value) -> tuple[Scaling, ...]:
    """Return the ways of scaling a value; only one if it has no size."""
    sized = any(f"{stem}_{kind}" in in_force(value.sysctl) for stem in _STEMS for kind in ("bytes", "ratio"))
    ways: tuple[Scaling, ...] = get_args(Scaling)
    return ways[1:] if sized or "max_bytes" in value.bdi else ways[:1]


def settings(value: Value, machine: Machine, spec: Spec, scenario: Scenario, way: Scaling) -> dict[str, Any]:
    """Return the spec keys of a value, scaled from its machine to the scenario."""
    guest = guest_of(spec, scenario)
    keys: dict[str, Any] = {}
    for key, number in _sysctls(in_force(value.sysctl), machine, guest, way).items():
        keys[f"sysctl.{key}"] = number
    for name, given in value.bdi.items():
        size = name.endswith("_bytes")
        number = _pages(_scaled(parse_bytes(given), machine, guest, way)) if size else int(given)
        keys[f"{spec.disk_key(scenario.disk)}.bdi.{name}"] = number
    for name, disk in spec.disk.items():
        place = spec.disk_key(name)
        if value.mount:
            keys[f"{place}.mount_options"] = [*disk.mount_options, *value.mount]
        keys |= {f"{place}.queue.{key}": number for key, number in value.queue.items()}
    return keys


def background_bytes(spec: Spec) -> float:
    """Return a guest's background threshold in bytes. A share counts of all memory: an upper limit."""
    size = int(spec.sysctl.get("vm.dirty_background_bytes", 0))
    return size or int(spec.sysctl.get("vm.dirty_background_ratio", 10)) / 100 * spec.memory


def _sysctls(wanted: Mapping[str, int], machine: Machine, guest: Machine, way: Scaling) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, number in wanted.items():
        stem, _, kind = key.rpartition("_")
        if stem not in _STEMS or (kind == "ratio" and way != "by seconds"):
            found[key] = number
        else:
            size = number / 100 * machine.memory if kind == "ratio" else number
            least = _LEAST_LIMIT_BYTES if stem == _STEMS[0] else _PAGE_BYTES
            found |= {f"{stem}_ratio": 0, f"{stem}_bytes": max(_pages(_scaled(size, machine, guest, way)), least)}
    return found


def _scaled(size: float, machine: Machine, guest: Machine, way: Scaling) -> float:
    if way == "by seconds":
        return size / machine.write_bps * guest.write_bps
    return size / machine.memory * guest.memory if way == "by memory" else size


def _pages(size: float) -> int:
    return -(-int(size) // _PAGE_BYTES) * _PAGE_BYTES
