"""wblab disk: its verbs."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (Verb("measure", "measure the disk below a directory, as a disk for experiments"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and take one of its verbs."""
    parser.description = "Measure real disks."
    add_verbs(parser, VERBS, __name__)
