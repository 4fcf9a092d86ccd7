"""Disks that a spec can be run on: files of experiments/disks, each a table [disk] with a model and its sources."""

import json

from wblab.core.errors import InputError, nearest
from wblab.core.files import parse_toml
from wblab.lab.places import DISKS


def disk_names() -> list[str]:
    """Return the names of the disks that come with the lab."""
    return sorted(path.stem for path in DISKS.glob("*.toml"))


def disk_settings(wanted: str) -> list[str]:
    """Return the settings, key=value, that make a spec's disk this one. Raises InputError for a name that is none.

    wanted: the disk's name; where the spec has several, behind the name of one of them: slow=usb-stick. Size,
    filesystem, scheduler and the queue stay the spec's.
    """
    place, _, name = wanted.rpartition("=")
    names = disk_names()
    if name not in names:
        raise InputError(f"no disk {name!r}{nearest(name, names)}: give one of {', '.join(names)}")
    table = parse_toml((DISKS / f"{name}.toml").read_bytes())
    where = f"disk.{place}" if place else "disk"
    return [f"{where}.{key}={json.dumps(value)}" for key, value in table["disk"].items()]
