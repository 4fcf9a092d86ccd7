"""wblab mitigate."""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_json, print_wrapped
from wblab.report.elsewhere import confirmed
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from wblab.live.mitigate.configuration import Config


# wblab mitigate --list: the daemon's policies, and what of them was confirmed outside of User Mode Linux.

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
    from wblab.live.mitigate.configuration import POLICIES

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Find processes that write more than their share of the disk's bandwidth, slow them down until they are calm, "
        "then restore every setting. Runs until interrupted."
    )
    add = parser.add_argument
    add("--dry-run", action="store_true", help="change nothing; print what would be done")
    add("--config", type=Path, metavar="FILE", help="TOML file (default: /etc/wblab/mitigate.toml if it exists)")
    about = "watch this disk (sda, loop7); overrides the file (default: the busiest physical disk)"
    add("--disk", metavar="NAME", help=about)
    add("--policy", metavar="NAME", help="how to slow an offender; overrides the file")
    add("--restore", action="store_true", help="only undo what a killed daemon left behind")
    add("--list", action="store_true", help="list the policies, and what was confirmed of those that are used")
    add_json(parser, "print each decision as a JSON line, or with --list the policies as JSON")
    parser.set_defaults(run=_mitigate)


def _mitigate(arguments: argparse.Namespace) -> None:
    from wblab.live.mitigate.configuration import DEFAULT_FILE, check, read_config
    from wblab.live.mitigate.report import printer
    from wblab.live.mitigate.service import check_install, restore, serve

    if not arguments.list:
        check_install(arguments.config or DEFAULT_FILE)
    config = read_config(arguments.config)
    if arguments.policy is not None:
        check(config := replace(config, policy=arguments.policy))
    if arguments.disk is not None:
        check(config := replace(config, disk=arguments.disk.removeprefix("/dev/")))
    if arguments.list:
        print_policies(config, arguments.json)
        return
    say = printer(arguments.json)
    if arguments.restore:
        restore(config, say)
    else:
        serve(config, say, dry_run=arguments.dry_run)
