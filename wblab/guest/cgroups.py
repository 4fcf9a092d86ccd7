"""Control groups of the guest: version 2 for the loads, version 1 for the rate limit of `throttle` disks."""

import time
from collections.abc import Mapping
from pathlib import Path

from wblab.core.check import ROOT_GROUP, disk_number
from wblab.core.spec import Cgroup, Spec
from wblab.core.syscalls import MS_NOSUID, mount, umount
from wblab.guest.devices import GuestDisk
from wblab.guest.settings import put

_BASE = Path("/sys/fs/cgroup")
BLKIO = _BASE / "blkio"
_HANDED_OVER_NS = 10**9
_LOOK_S = 0.001


def mount_cgroups(spec: Spec) -> Path:
    """Mount the hierarchies that the spec needs; return the mount point of version 2.

    The throttle needs the io controller in version 1, as version 2 has no limit for the root group (a "hybrid"
    hierarchy). Version 2 with memory and io turns on writeback by group (CONFIG_CGROUP_WRITEBACK), so a run without
    groups and agents does not mount it.
    """
    wanted = bool(spec.cgroup) or spec.needs_lab
    if wanted and all(disk.model != "throttle" for disk in spec.disk.values()):
        mount("cgroup2", _BASE, "cgroup2", MS_NOSUID)
        return _BASE
    mount("tmpfs", _BASE, "tmpfs", MS_NOSUID)
    BLKIO.mkdir()
    mount("cgroup", BLKIO, "cgroup", MS_NOSUID, "blkio")
    unified = _BASE / "unified"
    if wanted:
        _mount_unified(unified)
    return unified


def make_cgroups(
    disks: Mapping[str, GuestDisk], groups: Mapping[str, Cgroup], root: Path, place: str = ""
) -> dict[str, Path]:
    """Make missing groups and set their files; return the `cgroup.procs` that each load joins.

    root: the mount point from mount_cgroups. place: the prefix of the groups' keys in messages. Raises WblabError.
    """
    if not groups:
        return {}
    if not (root / "cgroup.procs").exists():  # this phase has the run's first groups
        _mount_unified(root)
    numbers = {name: disk.number for name, disk in disks.items()}
    controllers = {file.partition(".")[0] for group in groups.values() for file in group.files}
    if "io" in controllers:
        _take_io(root)
    for controller in sorted(controllers):
        put(root / "cgroup.subtree_control", f"+{controller}", f"the controller {controller}")
    joins: dict[str, Path] = {}
    for name, group in groups.items():
        directory = root if name == ROOT_GROUP else root / name
        directory.mkdir(exist_ok=True)
        for file, value in group.files.items():
            key = f"{place}cgroup.{name}.files.{file}"
            put(directory / file, disk_number(str(value), numbers, key), key)
        joins |= dict.fromkeys(group.loads, directory / "cgroup.procs")
    return joins


def _take_io(root: Path) -> None:
    """Have the io controller in version 2: a run without groups has it in version 1. Raises WblabError."""
    if BLKIO.is_dir() and not _has_io(root):
        umount(BLKIO)
        until_ns = time.monotonic_ns() + _HANDED_OVER_NS
        while not _has_io(root) and time.monotonic_ns() < until_ns:  # a worker of the kernel's hands it over
            time.sleep(_LOOK_S)


def _has_io(root: Path) -> bool:
    return "io" in (root / "cgroup.controllers").read_text().split()


def _mount_unified(place: Path) -> None:
    place.mkdir()
    mount("cgroup2", place, "cgroup2", MS_NOSUID)
