"""The verbs of wblab finding."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (
    Verb("list", "list the findings"),
    Verb("show", "say what a finding is, with its figures"),
    Verb("run", "repeat a finding's runs and say what still holds", extras=("explore",)),
    Verb("export", "write a finding for a kernel mailing list", extras=("explore",)),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and add its own verbs."""
    parser.description = "What the lab found: show it, repeat it, and hand it on to kernel maintainers."
    add_verbs(parser, VERBS, __name__)
