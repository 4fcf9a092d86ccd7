"""Disks that a spec can be run on: files with a table [disk], a model, its driver and its sources.

Those of experiments/disks come with the lab; `wblab disk measure` makes one of a real disk.
"""

import json
from typing import Any

from wblab.core.diskcheck import DISK_NAME, MODEL_KEYS
from wblab.core.drivers import SHORT_BYTES, short_queue
from wblab.core.errors import InputError, nearest
from wblab.core.spec import Disk, Spec
from wblab.core.tables import from_table
from wblab.lab.results import DISKS
from wblab.lab.specfile import read_toml

EXPLAINED = 0.6  # the share of what was measured below which a model is doubtful
_MOST_BYTES = 1 << 20  # of a file
_KEYS = ("model", "driver", "queue", "write_bps", *MODEL_KEYS)


def disk_settings(wanted: str) -> list[str]:
    """Return the settings, key=value, that make a spec's disk this one. Raises InputError for what is none.

    wanted: the disk's name, or a TOML file's path; where the spec has several, behind the name of one of them:
    slow=usb-stick. Size, filesystem, and what the spec sets of its queue, stay; of the queue a measured disk has more.
    """
    place, equals, rest = wanted.partition("=")
    place, name = (place, rest) if equals and DISK_NAME.fullmatch(place) else ("", wanted)
    where = f"disk.{place}" if place else "disk"
    table = _table(name)
    own = {f"queue.{key}": value for key, value in table.pop("queue", {}).items()}
    return [f"{where}.{key}={json.dumps(value)}" for key, value in (table | own).items()]


def read_disk(name: str) -> Disk:
    """Return a disk of some size with the model of a name or file; see `disk_settings`. Raises InputError."""
    return from_table(Disk, {"size": 0} | _table(name), "disk")


def short_queue_settings(spec: Spec, name: str) -> list[str]:
    """Return the settings, key=value, with which the queue of one of a spec's disks is short."""
    return [f"disk.{name}.queue.{key}={value}" for key, value in short_queue(spec.disk[name].driver).items()]


def loop_queue_settings(name: str) -> list[str]:
    """Return the settings, key=value, with which the queue of a spec's loop device is short."""
    return [f"disk.{name}.queue.nr_requests=4", f"disk.{name}.queue.max_sectors_kb={SHORT_BYTES >> 12}"]


def doubts(name: str) -> list[str]:
    """Return what makes the model of a name or file doubtful, in words, as far as that is known. Raises InputError."""
    measured = read_toml(DISKS.find(name), "disk", _MOST_BYTES).get("measured")
    share = measured.get("explained") if isinstance(measured, dict) else None
    if not isinstance(share, int | float) or share >= EXPLAINED:
        return []
    return [
        f"the model of {name!r} explains {share:.0%} of what was measured: the disk was busy, "
        "or does not behave like the model: measure it again while it is idle"
    ]


def _table(name: str) -> dict[str, Any]:
    """Return the table [disk] of a name or a file."""
    path = DISKS.find(name)
    table = read_toml(path, "disk", _MOST_BYTES).get("disk")
    if not isinstance(table, dict) or table.get("model") != "device":
        raise InputError(f'{str(path)!r} has no table [disk] with model = "device": wblab disk measure makes one')
    for key in table:
        if key not in _KEYS:
            raise InputError(
                f"{str(path)!r}: disk.{key} is not a key of a disk's model{nearest(key, _KEYS)}: remove it"
            )
    from_table(Disk, {"size": 0} | table, "disk")  # raises
    return table
