"""wblab mitigate."""

import argparse
from dataclasses import replace
from pathlib import Path

from wblab.commands.common import add_json


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
    from wblab.live.mitigate.config import DEFAULT_FILE, check, read_config
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
        from wblab.commands.policies import print_policies

        print_policies(config, arguments.json)
        return
    say = printer(arguments.json)
    if arguments.restore:
        restore(config, say)
    else:
        serve(config, say, dry_run=arguments.dry_run)
