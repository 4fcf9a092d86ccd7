"""wblab kernel build --stock."""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_json

if TYPE_CHECKING:
    from wblab.kernels.stock.kernel import StockKernel


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Take a distribution's own kernel for x86-64 machines into the cache, unpatched, and print its name. Runs "
        "start it in QEMU: wblab run --kernel stock:7.2, with four processors stock:7.2@4. Nothing is installed."
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
    from wblab.core.errors import InputError
    from wblab.kernels import catalog
    from wblab.kernels.stock.kernel import PREFIX, is_stock
    from wblab.lab.kernelname import VARIANT

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
    from wblab.core.errors import InputError
    from wblab.kernels.stock.kernel import PREFIX, find
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
    from wblab.core.errors import InputError
    from wblab.kernels.stock.take import take

    if arguments.refresh:
        raise InputError("--refresh is for a series: leave it out")
    image = Path(arguments.kernel)
    return take(image, arguments.modules, str(image.resolve()))
