"""wblab kernel: its verbs."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (
    Verb("list", "show the kernels that the lab knows and those that are built"),
    Verb("build", "fetch, patch, configure and build a kernel, unless it is built already"),
    Verb("info", "describe a built kernel"),
    Verb("pack", "pack a built kernel into one file"),
    Verb("add", "take a packed kernel into the cache, so that it need not be built here"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and take one of its verbs."""
    parser.description = "List, build and describe kernels, and take built ones to other machines."
    add_verbs(parser, VERBS, __name__)
