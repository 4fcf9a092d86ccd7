"""The verbs of wblab kernel."""

import argparse

from wblab.commands.parser import Verb, add_verbs

VERBS = (
    Verb("list", "show the kernels that the lab knows and those that are built", module="info:list"),
    Verb(
        "build",
        "build a kernel, unless it is built already",
        module="build:build",
        forms=(Verb("stock", "take a distribution's own kernel, which runs in QEMU", module="build:stock"),),
    ),
    Verb(
        "info",
        "describe a built kernel",
        module="info:info",
        forms=(Verb("source", "write a kernel's source as a git repository", module="info:source"),),
    ),
    Verb("pack", "pack a built kernel into one file", module="pack:pack"),
    Verb("add", "add a packed kernel to the cache, so that you need not build it", module="pack:add"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and add its own verbs."""
    parser.description = "List, build and describe kernels, and move built ones between machines."
    add_verbs(parser, VERBS, __name__)
