"""wblab mitigate."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_verbs(verbs: Verbs) -> None:
    """Add the verb to the command."""
    mitigate = verbs.add_parser(
        "mitigate",
        help="hold back processes that write too much",
        description="Find processes that write more than their share of what the disk takes, hold them back until they "
        "are calm, and put everything back exactly. Runs until it is interrupted.",
    )
    mitigate.add_argument("--dry-run", action="store_true", help="change nothing; say what would be done")
    mitigate.add_argument(
        "--config", type=Path, metavar="FILE", help="a TOML file (default: /etc/wblab/mitigate.toml, if it is there)"
    )
    mitigate.add_argument("--policy", metavar="NAME", help="what is done to an offender, whatever the file says")
    mitigate.add_argument("--restore", action="store_true", help="only undo what a killed daemon left")
    mitigate.add_argument("--json", action="store_true", help="print each decision as a line of JSON")
    mitigate.set_defaults(run=_mitigate)


def _mitigate(arguments: argparse.Namespace) -> None:
    from wblab.mitigate.config import DEFAULT_FILE, check, read_config
    from wblab.mitigate.install import check_install
    from wblab.mitigate.report import printer
    from wblab.mitigate.service import restore, serve

    check_install(arguments.config or DEFAULT_FILE)
    config = read_config(arguments.config)
    if arguments.policy is not None:
        check(config := replace(config, policy=arguments.policy))
    say = printer(arguments.json)
    if arguments.restore:
        restore(config, say)
    else:
        serve(config, say, dry_run=arguments.dry_run)
