"""The place where remedies are set: the disk that holds a directory, what it supports, and how udev recognises it."""

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from wblab.core.errors import InputError
from wblab.live.changes.permitted import WHOLE
from wblab.live.disks.queue import MachineQueue, queue_from
from wblab.live.twin.elsewhere import Elsewhere, schedulers_in
from wblab.machine.block import queue_settings, schedulers, whole_disk
from wblab.machine.cgroup import cgroup_root, controllers_of
from wblab.machine.storage import Storage, find_storage

Ability = Literal["wbt", "own limit"]

_SYS, _UDEV = Path("/sys"), Path("/run/udev/data")
_IDENTITY = ("directory", "filesystem", "device", "disks", "bdi", "known_by")
_OF_GROUPS = ("io", "memory")  # controllers that remedies use
_PLAIN = re.compile(r"[A-Za-z0-9 ._:+-]{1,128}")  # no udev pattern, no quote, nothing to escape


@dataclass(frozen=True, kw_only=True)
class MachineSite:
    """A directory's disk. disks: physical disks, names in /sys/block. bdi: a name in /sys/class/bdi; empty: none.

    known_by: the udev match of each disk and of the bdi's device, by device name. schedulers: those available on all
    disks. controllers: those of cgroup v2.
    """

    directory: str
    filesystem: str
    device: str
    disks: tuple[str, ...]
    bdi: str
    known_by: dict[str, str]
    schedulers: tuple[str, ...]
    controllers: tuple[str, ...]
    abilities: tuple[Ability, ...]


def find_site(directory: Path) -> MachineSite:
    """Return the site of a directory. Raises InputError if it is not on a disk."""
    try:
        place = find_storage(directory)
    except OSError as error:
        raise InputError(f"--dir: cannot use {str(directory)!r}: {error.strerror}: give another directory") from None
    if place.device is None:
        raise InputError(
            f"--dir: {str(directory)!r} is on {place.filesystem}, not on a disk: give a directory on a disk, such "
            "as /var/tmp"
        )
    whole = whole_disk(place.device)
    bdi = _bdi(place, whole)
    names = [disk.name for disk in place.disks]
    found = [set(schedulers(disk)) for disk in place.disks]
    abilities: dict[Ability, bool] = {
        "wbt": bool(names) and all((disk / "queue/wbt_lat_usec").exists() for disk in place.disks),
        "own limit": bdi is not None and (bdi / "max_ratio_fine").exists(),
    }
    return MachineSite(
        directory=str(directory.resolve()),
        filesystem=place.filesystem,
        device=whole.name,
        disks=tuple(names),
        bdi=bdi.name if bdi else "",
        known_by={device.name: known_by(device) for device in (*place.disks, whole)},
        schedulers=tuple(sorted(set.intersection(*found))) if found else (),
        controllers=tuple(_controllers()),
        abilities=tuple(name for name, has in abilities.items() if has),
    )


def site_elsewhere(there: Elsewhere) -> MachineSite:
    """Return the site of a directory of another machine, as its facts have it."""
    place, bdi = there.place, f"/sys/class/bdi/{there.bdi}"
    lines = [schedulers_in(there.said(f"/sys/block/{disk}/queue/scheduler")) for disk in place.disks]
    abilities: dict[Ability, bool] = {
        # WBT goes by the depth that a driver tells (rq_depth_calc_max_depth), and the twin's is not that disk's.
        "wbt": not there.is_one_by_one
        and all(f"/sys/block/{disk}/queue/wbt_lat_usec" in there.files for disk in place.disks),
        "own limit": bool(there.bdi) and f"{bdi}/max_ratio_fine" in there.files,
    }
    return MachineSite(
        directory=place.directory,
        filesystem=place.filesystem,
        device=place.device,
        disks=place.disks,
        bdi=there.bdi,
        known_by={name: f'KERNEL=="{name}"' for name in (*place.disks, place.device)},
        schedulers=tuple(sorted(set.intersection(*map(set, lines)))) if lines else (),
        controllers=tuple(
            word for word in there.said("/sys/fs/cgroup/cgroup.controllers").split() if word in _OF_GROUPS
        ),
        abilities=tuple(name for name, has in abilities.items() if has),
    )


def current_site(site: MachineSite) -> MachineSite:
    """Return the current state of a stored site. Raises InputError if the disk is another one.

    The stored description is only compared with the machine; all paths come from the site found now.
    """
    found = find_site(Path(site.directory))
    if differing := [name for name in _IDENTITY if getattr(found, name) != getattr(site, name)]:
        raise InputError(
            f"{site.directory!r} is now on another disk than in the study (different {', '.join(differing)}): make a "
            "new study with wblab advise --dir DIR"
        )
    return found


def queue_of(site: MachineSite) -> MachineQueue | None:
    """Return the current queue of a site's first disk; None if it has none. Raises InputError."""
    return queue_from(queue_settings(_SYS / "block" / site.disks[0])) if site.disks else None


def own_limit_of(site: MachineSite) -> int:
    """Return the strict limit on a site's disk, in millionths of the threshold; WHOLE if there is no limit."""
    if "own limit" not in site.abilities:
        return WHOLE
    place = _SYS / "class/bdi" / site.bdi
    is_strict = (place / "strict_limit").read_text().strip() == "1"
    return int((place / "max_ratio_fine").read_text()) if is_strict else WHOLE


def known_by(device: Path) -> str:
    """Return a udev match of a device that survives renaming, by the identity that the device reports.

    If the device reports none that fits a rule, match its name.
    """
    number = (device / "dev").read_text().strip()
    with suppress(OSError):
        for line in (_UDEV / f"b{number}").read_text(errors="replace").splitlines():
            key, _, value = line.removeprefix("E:").partition("=")
            if key in ("ID_SERIAL", "DM_UUID", "MD_UUID") and _PLAIN.fullmatch(value):
                return f'ENV{{{key}}}=="{value}"'
    for path, words in (("wwid", "ATTR"), ("serial", "ATTR"), ("device/wwid", "ATTRS"), ("device/serial", "ATTRS")):
        with suppress(OSError):
            value = (device / path).read_text(errors="replace").strip()
            if _PLAIN.fullmatch(value):
                return f'{words}{{{Path(path).name}}}=="{value}"'
    return f'KERNEL=="{device.name}"'


def _bdi(place: Storage, whole: Path) -> Path | None:
    """Return the bdi by which the kernel limits a filesystem's dirty memory. btrfs has a bdi of its own."""
    links = [whole / "bdi"]
    if place.filesystem == "btrfs":
        members = (_SYS / "fs/btrfs").glob("*/devices/*")
        links = [link.parents[1] / "bdi" for link in members if place.device and link.resolve() == place.device]
    found = [_SYS / "class/bdi" / link.resolve().name for link in links if link.exists()]
    return next((bdi for bdi in found if bdi.exists()), None)


def _controllers() -> list[str]:
    root = cgroup_root()
    with suppress(OSError):
        return controllers_of(root) if root else []
    return []
