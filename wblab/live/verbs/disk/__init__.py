"""wblab disk: the group of its verbs."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (Verb("measure", "measure a disk and fit the model of a device to it"),)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and take one of its verbs."""
    parser.description = "Measure real disks."
    add_verbs(parser, VERBS, __name__)
