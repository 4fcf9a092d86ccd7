"""wblab mitigate --list: the daemon's policies, and what of them was confirmed outside of User Mode Linux."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from wblab.commands.common import print_wrapped
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from wblab.live.mitigate.config import Config

# What each does, and the settings of specs that do the same; an I/O class has none.
_DOES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "idle": ("the offender's I/O class is idle", ()),
    "best-effort-7": ("the offender's I/O class is best-effort, of the lowest level", ()),
    "io.weight": ("offenders together get a small I/O weight", ("io.weight",)),
    "io.max": ("offenders together get a part of the disk's rate", ("io.max",)),
    "memory.high": ("offenders together get little memory, of which a fifth may be dirty", ("memory.high",)),
    "dirty-bytes": ("the machine's dirty limit is low", ("vm.dirty_bytes", "vm.dirty_background_bytes")),
    "short-queue": ("the disk's queue is short", ("nr_requests",)),
    "strict-limit": ("the disk has a dirty limit of its own", ("strict_limit",)),
}
_WHEN = {"": "", "-always": " from the start", "-beside": " from the start, if programs write to another disk too"}


def print_policies(config: "Config", as_json: bool) -> None:
    """Print each policy: whether it is in force, what it does, and what was confirmed of its settings."""
    listed = list(_policies(config))
    if as_json:
        print(json.dumps(listed, indent=2))
        return
    Listing([(("*" if one["used"] else "") + one["policy"], one["does"]) for one in listed], ("policy", "")).show()
    print_wrapped(["", "* is used. What was tried is the setting, not the daemon."])
    for one in listed:
        if one["used"]:
            print_wrapped(["", f"{one['policy']}: {one['confirmed'][0]}", *one["confirmed"][1:]])


def _policies(config: "Config") -> Iterator[dict[str, Any]]:
    from wblab.live.mitigate.config import POLICIES
    from wblab.study.designs.witness.words import confirmed

    used = dict.fromkeys(config.cached_policies, ", on a disk with a write cache") | dict.fromkeys(config.policies, "")
    for name in POLICIES:
        plain, when = next((name.removesuffix(when), when) for when in reversed(_WHEN) if name.endswith(when))
        does, keys = _DOES[plain]
        yield {
            "policy": name,
            "used": name in used,
            "does": does + _WHEN[when] + used.get(name, ""),
            "confirmed": confirmed(keys),
        }
