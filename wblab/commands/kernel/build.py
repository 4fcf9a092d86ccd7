"""wblab kernel build, also --stock: a kernel built here, or a distribution's own."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_json, note
from wblab.commands.kernel.info import add_kernel_argument
from wblab.core.errors import InputError
from wblab.lab.kernelname import VARIANT, check_option, named

if TYPE_CHECKING:
    from wblab.kernels.stock.stockkernel import StockKernel


def stock_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Take a distribution's own kernel for x86-64 machines into the cache, unpatched, and print its name. Runs "
        "start it in QEMU: wblab run --kernel stock:7.2, with four processors stock:7.2@4, with its own driver of "
        "disks stock:7.2+sata. Nothing is installed."
    )
    parser.add_argument(
        "kernel",
        metavar="SERIES|FILE",
        help="a series: Debian's newest kernel of it, fetched by apt; or a kernel's file, such as /boot/vmlinuz-6.12",
    )
    parser.add_argument(
        "--modules", type=Path, metavar="DIR", help="the modules of FILE (default: /lib/modules/ and its release)"
    )
    parser.add_argument(
        "--refresh", action="store_true", help="fetch the newest kernel of the series, also if one is here already"
    )
    add_json(parser)
    parser.set_defaults(run=_stock)


def _stock(arguments: argparse.Namespace) -> None:
    from wblab.kernels import catalog
    from wblab.kernels.stock.stockkernel import PREFIX, is_stock

    wanted = arguments.kernel
    known = catalog.load().knows(wanted)
    if is_stock(wanted) or (known and VARIANT in wanted):
        plain = wanted.removeprefix(PREFIX).partition("@")[0].partition(VARIANT)[0]
        raise InputError(f"no series or file {wanted!r}: give a plain series, such as {plain or '7.2'}")
    kernel = _of_series(arguments) if known else _of_file(arguments)
    if arguments.json:
        print(json.dumps(kernel.describe(), indent=2))
    else:
        print(f"{PREFIX}{kernel.release}")


def _of_series(arguments: argparse.Namespace) -> "StockKernel":
    from wblab.kernels.stock.stockkernel import PREFIX, find
    from wblab.kernels.stock.take import fetch
    from wblab.lab.progress import bar

    if arguments.modules:
        raise InputError("--modules is for a kernel's file: leave it out")
    here = None if arguments.refresh else find(f"{PREFIX}{arguments.kernel}")
    if here:
        return here
    with bar(f"stock {arguments.kernel}") as report:
        return fetch(arguments.kernel, report)


def _of_file(arguments: argparse.Namespace) -> "StockKernel":
    from wblab.kernels.stock.take import take

    if arguments.refresh:
        raise InputError("--refresh is for a series: leave it out")
    image = Path(arguments.kernel)
    return take(image, arguments.modules, str(image.resolve()))


def build_arguments(parser: argparse.ArgumentParser) -> None:
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
        kernel = build_kernel(name, report=report, say=note, refresh=arguments.refresh)
    if arguments.json:
        print_kernel(kernel, as_json=True)
    else:
        print(f"Linux {kernel.release}: {kernel.path}")


def _named(kernel: str, settings: Sequence[str]) -> str:
    """Return a kernel's name with options of `--config`. Raises InputError."""
    options = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InputError(f"--config {setting!r} is not of the form OPTION=VALUE: write for example PREEMPT=y")
        check_option(name, value, f"--config {setting}")
        options[name] = value
    return named(kernel, options)
