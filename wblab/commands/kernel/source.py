"""wblab kernel info --source."""

import argparse
from pathlib import Path

from wblab.commands.kernel.info import add_kernel_argument
from wblab.core.errors import InputError
from wblab.lab.kernelname import VARIANT


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Write a kernel's source into a new directory as a git repository, with a commit for each patch that is given, "
        "to be changed, compared or bisected. The lab's own patches are not in it: a build adds them."
    )
    add_kernel_argument(parser)
    parser.add_argument("directory", type=Path, metavar="DIR", help="a new directory; a source has 1 GB")
    parser.add_argument(
        "--patches", type=Path, metavar="PATH", help="a file of patches, or a directory of them, in order"
    )
    parser.set_defaults(run=_source)


def _source(arguments: argparse.Namespace) -> None:
    from wblab.kernels import catalog
    from wblab.kernels.mailbox import read_patches
    from wblab.kernels.patched import base
    from wblab.kernels.repository import write
    from wblab.lab.progress import steps

    wanted = arguments.kernel or catalog.load().default
    if VARIANT in wanted and not Path(wanted).exists():
        raise InputError(f"{wanted}: the source of a series has no variants: give their patches with --patches")
    given = read_patches(arguments.patches) if arguments.patches else ()
    with steps("source") as report:
        found = base(wanted, report)
        last = write(found, given, arguments.directory, report)
    print(f"{arguments.directory}: {len(given)} commits after the source, the last is {last[:12]}")
