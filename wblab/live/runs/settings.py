"""What a live run changes on the machine on request: I/O schedulers, limits for the command."""

from collections.abc import Mapping
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.machine.block import find_disk, schedulers, set_scheduler
from wblab.machine.cgroup import cgroup_root, controllers_of, make_group
from wblab.machine.changes import WayBack


def choose_scheduler(device: str, name: str, way_back: WayBack) -> None:
    """Set the I/O scheduler of a device's disk. Raises InputError."""
    option = f"--scheduler {device}={name}"
    try:
        disk = find_disk(device)
        known = schedulers(disk)
        try:
            set_scheduler(disk, name, way_back)
        except OSError as error:
            raise InputError(f"{option}: {error.strerror}: {disk.name} supports {', '.join(known)}") from None
    except OSError as error:
        raise InputError(f"{option}: {error.strerror}: give a disk in /dev, such as sda=bfq") from None


def limit_command(name: str, files: Mapping[str, str], way_back: WayBack) -> Path:
    """Make a cgroup v2 group with these files set, and return it. Raises InputError."""
    root = cgroup_root()
    known = controllers_of(root) if root else []
    controllers = dict.fromkeys(file.partition(".")[0] for file in files)
    for controller in controllers:
        if root is None or controller not in known:
            there = f"it has {', '.join(known)}" if known else "it has only those of version 1, or none"
            raise InputError(f"--cgroup: cgroup v2 on this machine has no {controller!r} controller: {there}")
    assert root is not None
    group = root / name
    try:
        make_group(group, controllers, way_back)
    except OSError as error:
        raise InputError(f"--cgroup: cannot make a group in {root}: {error.strerror}: run it as root") from None
    for file, value in files.items():
        _put(group, file, value)
    return group


def _put(group: Path, file: str, value: str) -> None:
    path = group / file
    if not path.exists():
        present = sorted(item.name for item in group.iterdir())
        raise InputError(f"--cgroup: this kernel has no {file!r}{nearest(file, present)}")
    try:
        path.write_text(value)
    except OSError as error:
        raise InputError(f"--cgroup: {file}={value}: {error.strerror}") from None
