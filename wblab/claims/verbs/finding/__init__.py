"""The verbs of wblab finding."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (
    Verb("list", "list the findings", module="show:list"),
    Verb("show", "say what a finding is, with its figures", module="show:show"),
    Verb("export", "write a finding for a kernel mailing list", extras=("explore",), module="show:export"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and add its own verbs."""
    parser.description = (
        "What the lab found: show it, and hand it on to kernel maintainers. wblab study NAME repeats its runs."
    )
    add_verbs(parser, VERBS, __name__)
