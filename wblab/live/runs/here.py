"""What can be known to be wrong with a spec's run on this machine itself, before it starts: its keys, directories."""

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from wblab.core.check import DIRTY_SYSCTLS, check_spec
from wblab.core.errors import InputError
from wblab.core.spec import Spec
from wblab.kernels.here import WITH_LIMITS, HereKernel
from wblab.lab.held import open_directory
from wblab.machine.block import whole_disk
from wblab.machine.storage import Storage, storage_of

# Filesystems whose files no disk ever gets.
_IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "proc", "sysfs", "cgroup", "cgroup2")
_SPARE_BYTES = 64 << 20


def free_bytes(held: int) -> int:
    """Return the room for an ordinary user in the filesystem of a directory, given by descriptor. Raises OSError."""
    state = os.fstatvfs(held)
    return state.f_bavail * state.f_frsize


@dataclass(frozen=True)
class Directories:
    """What a machine says of directories, given by descriptor: where each is stored, and its room in bytes."""

    place: Callable[[int], Storage] = storage_of
    free_bytes: Callable[[int], int] = free_bytes


_HERE = Directories()


def check(spec: Spec, kernel: HereKernel, directories: Directories = _HERE) -> None:
    """Raise InputError for a spec that cannot run on this machine, naming the key or the directory."""
    check_spec(spec)
    check_keys(spec)
    if spec.clock.mode != "real":
        raise InputError(f"{spec.kernel.name}: this machine has no virtual time: add --clock real")
    check_disks(spec, kernel)
    if kernel.limits and os.geteuid():
        raise InputError(f"{WITH_LIMITS} sets this machine's dirty limits: run it as root, or write live: instead")
    places = {disk: _checked(spec, disk, directory_of(spec, kernel, disk), directories) for disk in spec.disk}
    _check_distinct(spec, kernel, places)


def check_keys(spec: Spec) -> None:
    """Raise InputError for a spec that no machine can run outside of a guest, naming the key."""
    tables: dict[str, Collection[str]] = {"agent": spec.agent, "cgroup": spec.cgroup, "phase": spec.phase}
    found = [f"{key}.{name}" for key, table in tables.items() for name in table]
    found += ["kernel.parameters"] * bool(spec.kernel.parameters) + ["kernel.config"] * bool(spec.kernel.config)
    found += ["may_fail"] * bool(spec.may_fail)
    found += [f"load.{name}.until" for name, load in spec.load.items() if load.has_until]
    if found:
        raise InputError(f"{found[0]}: that is only for guests, not for this machine itself: leave it out")
    for name, load in spec.load.items():
        if load.needs_lab:
            raise InputError(f"load.{name}: programs of a spec do not run on this machine itself: use wblab live")
        if load.raw:
            raise InputError(f"load.{name}: a raw load would overwrite a disk of this machine: leave it out")
    for name, disk in spec.disk.items():
        key = spec.disk_key(name)
        if not disk.is_hardware:
            raise InputError(f"{key}.model={disk.model}: this machine's disks are what they are: leave it out")
        if disk.is_aged:
            raise InputError(f"{key}.used, {key}.layout: this machine's disks are as full as they are: leave them out")
    if others := [key for key in spec.sysctl if key not in DIRTY_SYSCTLS]:
        raise InputError(f"sysctl.{others[0]}: only vm.dirty* can be set on this machine itself: leave it out")


def check_disks(spec: Spec, kernel: HereKernel) -> None:
    """Raise InputError unless the directories are those of the spec's disks: one for each."""
    given, wanted = [disk for disk, _ in kernel.directories], list(spec.disk)
    if given == [""] and len(wanted) == 1:
        return
    if set(given) != set(wanted):
        form = ",".join(f"{disk}=DIR" for disk in wanted) if len(wanted) > 1 else "DIR"
        have = "disks " + " and ".join(wanted) if len(wanted) > 1 else "one disk"
        raise InputError(f"{spec.name} has {have}: write --on live:{form}")


def directory_of(spec: Spec, kernel: HereKernel, disk: str) -> Path:
    """Return the directory in which a disk's loads run. Raises InputError."""
    check_disks(spec, kernel)
    directory = kernel.directory(disk)
    assert directory
    return directory


def needed_bytes(spec: Spec, disk: str) -> int:
    """Return the room that a disk's loads need: as much as they have in the lab, and some for others."""
    return spec.disk[disk].resident_bytes + _SPARE_BYTES


def check_room(spec: Spec, disk: str, directory: Path, room: int) -> None:
    """Raise InputError if a directory has not enough room, in bytes, for the loads of a disk."""
    if room < (needed := needed_bytes(spec, disk)):
        raise InputError(f"{directory} has {room >> 20} MiB free, its loads need {needed >> 20} MiB: free some")


def _checked(spec: Spec, disk: str, directory: Path, directories: Directories) -> Storage:
    """Return where a directory is stored. Raises InputError for one that cannot be used."""
    try:
        held = open_directory(directory)
    except OSError as error:
        raise InputError(f"cannot use the directory {str(directory)!r}: {error.strerror}") from None
    try:
        place = directories.place(held)
        if place.filesystem in _IN_MEMORY:
            raise InputError(f"{directory} is in {place.filesystem}, whose files no disk ever gets: give one on a disk")
        if not os.access(f"/proc/self/fd/{held}", os.W_OK | os.X_OK):
            raise InputError(f"cannot write to the directory {str(directory)!r}: give one of your own")
        check_room(spec, disk, directory, directories.free_bytes(held))
    finally:
        os.close(held)
    return place


def _check_distinct(spec: Spec, kernel: HereKernel, places: dict[str, Storage]) -> None:
    """Raise InputError if two disks of the spec are the same one here."""
    seen: dict[str, str] = {}
    for disk, place in places.items():
        name = device_of(place, directory_of(spec, kernel, disk))
        if name in seen:
            raise InputError(
                f"{directory_of(spec, kernel, seen[name])} and {directory_of(spec, kernel, disk)} are both on {name}: "
                f"give directories on two disks for {seen[name]} and {disk}"
            )
        seen[name] = disk


def device_of(place: Storage, directory: Path) -> str:
    """Return the name of the device below a directory: what the kernel counts dirty data for."""
    if place.device:
        return whole_disk(place.device).name
    return f"{place.source} ({place.filesystem}, device {os.stat(directory).st_dev:#x})"


def bottoms(place: Storage) -> set[str]:
    """Return the names of the physical disks below a place, as far as they are known: also below a loop device."""
    found: set[str] = set()
    for disk in place.disks:
        try:
            file = Path((disk / "loop" / "backing_file").read_text().strip())
            held = open_directory(file.parent)
        except OSError:
            found.add(disk.name)
            continue
        try:
            found |= bottoms(storage_of(held))
        except InputError:
            found.add(disk.name)
        finally:
            os.close(held)
    return found


def shared_bottoms(places: dict[str, Storage]) -> list[str]:
    """Return the physical disks that several of these places share."""
    every = [name for place in places.values() for name in bottoms(place)]
    return sorted({name for name in every if every.count(name) > 1})
