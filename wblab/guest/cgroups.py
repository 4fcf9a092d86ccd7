"""Control groups of the guest: version 2 for the loads, and version 1 for the throttle disks' cap."""

from collections.abc import Mapping
from pathlib import Path

from wblab.core.check import ROOT_GROUP, disk_number
from wblab.core.spec import Cgroup, Spec
from wblab.core.syscalls import MS_NOSUID, mount
from wblab.guest.devices import device, device_number
from wblab.guest.settings import put

_BASE = Path("/sys/fs/cgroup")
BLKIO = _BASE / "blkio"


def mount_cgroups(spec: Spec) -> Path:
    """Mount what the spec needs; return where version 2 is.

    The throttle takes the io controller, for its cap on the root group that version 2 does not have (a "hybrid"
    hierarchy). Version 2 with both memory and io is also what writeback by group needs (CONFIG_CGROUP_WRITEBACK): a
    run that has neither groups nor agents keeps away from it.
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


def make_cgroups(spec: Spec, groups: Mapping[str, Cgroup], root: Path, place: str = "") -> dict[str, Path]:
    """Make groups that are not there and set their files; return the `cgroup.procs` that each load joins.

    root: what mount_cgroups returned. place: what stands before the groups' keys in a message. Raises WblabError.
    """
    if not groups:
        return {}
    if not (root / "cgroup.procs").exists():  # a run that had none until now
        _mount_unified(root)
    numbers = {disk: device_number(device(spec, disk)) for disk in spec.disk}
    controllers = {file.partition(".")[0] for group in groups.values() for file in group.files}
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


def _mount_unified(place: Path) -> None:
    place.mkdir()
    mount("cgroup2", place, "cgroup2", MS_NOSUID)
