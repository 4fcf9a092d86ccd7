"""wblab kernel build."""

import argparse
import sys
from collections.abc import Sequence

from wblab.commands.common import add_json
from wblab.commands.kernel.info import add_kernel_argument
from wblab.core.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Fetch, patch, configure and build a kernel, unless it is built already, and print its path. Steps and their "
        "times go to standard error. The Makefiles and programs of a tree of yours run as you: build only from "
        "somebody whom you trust."
    )
    add_kernel_argument(parser)
    parser.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="change an option of the kernel's configuration, such as PREEMPT=y; n is off; repeatable. Runs name this "
        "kernel 7.2+PREEMPT=y, or by kernel.config.PREEMPT in a spec",
    )
    parser.add_argument("--refresh", action="store_true", help="first pin the newest source, in linux-uml/pins.toml")
    add_json(parser)
    parser.set_defaults(run=_build)


def _build(arguments: argparse.Namespace) -> None:
    from wblab.commands.kernel.info import print_kernel
    from wblab.kernels.wanted import build_kernel
    from wblab.lab.progress import steps

    name = _named(arguments.kernel or "", arguments.config) or None
    with steps("kernel") as report:
        kernel = build_kernel(name, report=report, say=_say, refresh=arguments.refresh)
    if arguments.json:
        print_kernel(kernel, as_json=True)
    else:
        print(f"Linux {kernel.release}: {kernel.path}")


def _named(kernel: str, settings: Sequence[str]) -> str:
    """Return a kernel's name with options of `--config`. Raises InputError."""
    from wblab.lab.kernelname import check_option, named

    options = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--config {setting!r} is not of the form OPTION=VALUE: write for example PREEMPT=y")
        check_option(name, value, f"--config {setting}")
        options[name] = value
    return named(kernel, options)


def _say(text: str) -> None:
    print(f"wblab: {text}", file=sys.stderr)
