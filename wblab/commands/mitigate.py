"""wblab mitigate."""

import argparse
from dataclasses import replace
from pathlib import Path

from wblab.commands.common import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Find processes that write more than their share of what the disk takes, hold them back until they are calm, "
        "and put everything back exactly. Runs until it is interrupted."
    )
    add = parser.add_argument
    add("--dry-run", action="store_true", help="change nothing; say what would be done")
    add("--config", type=Path, metavar="FILE", help="a TOML file (default: /etc/wblab/mitigate.toml, if it is there)")
    about = "watch this disk (sda, loop7), whatever the file says (default: of those not made of others, the busiest)"
    add("--disk", metavar="NAME", help=about)
    add("--policy", metavar="NAME", help="what is done to an offender, whatever the file says")
    add("--restore", action="store_true", help="only undo what a killed daemon left")
    add_json(parser, "print each decision as a line of JSON")
    parser.set_defaults(run=_mitigate)


def _mitigate(arguments: argparse.Namespace) -> None:
    from wblab.mitigate.config import DEFAULT_FILE, check, read_config
    from wblab.mitigate.install import check_install
    from wblab.mitigate.report import printer
    from wblab.mitigate.service import restore, serve

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
        serve(config, say, dry_run=arguments.dry_run)
