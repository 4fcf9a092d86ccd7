"""What a live run changes on the machine, by the user's wish: an I/O scheduler, limits for the command."""

from collections.abc import Mapping
from pathlib import Path

from wblab.core.errors import InputError, nearest
from wblab.live.place import find_disk, scheduler
from wblab.machine.mounted import mounted
from wblab.machine.undo import Undo


def set_scheduler(device: str, name: str, undo: Undo) -> None:
    """Give the disk below a device another I/O scheduler. Raises InputError."""
    option = f"--scheduler {device}={name}"
    try:
        disk = find_disk(device)
        file = disk / "queue" / "scheduler"
        before = scheduler(disk)
        undo.note("write", str(file), before)
        try:
            file.write_text(name)
        except OSError as error:
            known = file.read_text().replace("[", "").replace("]", "").split()
            raise InputError(f"{option}: {error.strerror}: {disk.name} can have {', '.join(known)}") from None
    except OSError as error:
        raise InputError(f"{option}: {error.strerror}: give a disk of /dev, such as sda=bfq") from None


def make_cgroup(name: str, files: Mapping[str, str], undo: Undo) -> Path:
    """Make a control group (version 2) with these files set, and return it. Raises InputError."""
    root = next(iter(mounted("cgroup2")), None)
    known = (root / "cgroup.controllers").read_text().split() if root else []
    controllers = dict.fromkeys(file.partition(".")[0] for file in files)
    for controller in controllers:
        if root is None or controller not in known:
            there = f"it has {', '.join(known)}" if known else "its controllers are those of version 1, or none"
            raise InputError(f"--cgroup: no controller {controller!r} of cgroup version 2 on this machine: {there}")
    assert root is not None
    try:
        enabled = root / "cgroup.subtree_control"
        for controller in controllers:
            if controller not in enabled.read_text().split():
                undo.note("write", str(enabled), f"-{controller}")
                enabled.write_text(f"+{controller}")
        group = root / name
        undo.note("remove directory", str(group))
        group.mkdir()
        undo.note("evacuate", str(group), str(root))
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
