"""wblab mitigate."""

import argparse
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_json

if TYPE_CHECKING:
    from wblab.live.mitigate.config import Config
    from wblab.live.mitigate.report import Say

# The settings that each policy changes, as specs name them; experiments/outside says what was tried of them.
_SETS: Mapping[str, tuple[str, ...]] = {
    "io.weight": ("io.weight",),
    "io.max": ("io.max",),
    "memory.high": ("memory.high",),
    "dirty-bytes": ("vm.dirty_bytes", "vm.dirty_background_bytes"),
    "short-queue": ("nr_requests",),
    "strict-limit": ("strict_limit",),
}
_WHEN = ("-always", "-beside")


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
    add_json(parser, "print each decision as a JSON line")
    parser.set_defaults(run=_mitigate)


def _mitigate(arguments: argparse.Namespace) -> None:
    from wblab.live.mitigate.config import DEFAULT_FILE, check, read_config
    from wblab.live.mitigate.install import check_install
    from wblab.live.mitigate.report import printer
    from wblab.live.mitigate.service import restore, serve

    check_install(arguments.config or DEFAULT_FILE)
    config = read_config(arguments.config)
    if arguments.policy is not None:
        check(config := replace(config, policy=arguments.policy))
    if arguments.disk is not None:
        check(config := replace(config, disk=arguments.disk.removeprefix("/dev/")))
    say = printer(arguments.json)
    if arguments.restore:
        restore(config, say)
    else:
        if arguments.dry_run or not os.geteuid():  # otherwise it does not start
            _say_confirmed(config, say)
        serve(config, say, dry_run=arguments.dry_run)


def _say_confirmed(config: "Config", say: "Say") -> None:
    """Say what was confirmed outside of User Mode Linux of what the policy sets, if that is known here."""
    from wblab.core.errors import InputError
    from wblab.live.mitigate.report import Event
    from wblab.study.designs.witness.words import confirmed, shortly

    @dataclass(frozen=True, kw_only=True)
    class Confirmed(Event):
        """With a field in JSON: what is said of each policy."""

        confirmed: dict[str, list[str]] = field(default_factory=dict)

    keys = {name: settings_of(name) for name in dict.fromkeys((*config.policies, *config.cached_policies))}
    try:
        lines, known = shortly(keys), {name: confirmed(of) for name, of in keys.items()}
    except InputError:  # without the lab's experiments, as in a guest, nothing is known of them
        return
    for number, line in enumerate(lines):
        say(Confirmed(action="note", text=line, confirmed=known) if not number else Event(action="note", text=line))


def settings_of(policy: str) -> tuple[str, ...]:
    """Return the settings that a policy changes; none for an I/O class, of which no spec has a setting."""
    for when in _WHEN:
        policy = policy.removesuffix(when)
    return _SETS.get(policy, ())
