"""wblab kernel build."""

import argparse
import sys

from wblab.commands.common import add_json
from wblab.commands.kernel.info import add_kernel_argument


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Fetch, patch, configure and build a kernel, unless it is built already, and print its path. Steps and their "
        "times go to standard error."
    )
    add_kernel_argument(parser)
    parser.add_argument("--refresh", action="store_true", help="first pin the newest source, in linux-uml/pins.toml")
    add_json(parser)
    parser.set_defaults(run=_build)


def _build(arguments: argparse.Namespace) -> None:
    from wblab.commands.kernel.info import print_kernel
    from wblab.kernels.wanted import build_kernel
    from wblab.lab.progress import steps

    with steps("kernel") as report:
        kernel = build_kernel(arguments.kernel, report=report, say=_say, refresh=arguments.refresh)
    if arguments.json:
        print_kernel(kernel, as_json=True)
    else:
        print(f"Linux {kernel.release}: {kernel.path}")


def _say(text: str) -> None:
    print(f"wblab: {text}", file=sys.stderr)
