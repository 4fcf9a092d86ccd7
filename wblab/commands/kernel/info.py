"""wblab kernel info and list, and info --source."""

import argparse
import json
import os
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_json
from wblab.core.errors import InputError, WblabError
from wblab.lab.kernelname import VARIANT
from wblab.report.listing import Listing

if TYPE_CHECKING:
    from wblab.kernels import Kernel, Listed


def list_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Show the kernels that the lab knows, those that are built, and stock kernels. * marks the default."
    )
    add_json(parser)
    parser.set_defaults(run=_list)


def _list(arguments: argparse.Namespace) -> None:
    from wblab.commands.kernel.info import values
    from wblab.kernels import list_kernels
    from wblab.kernels.stock.drivers import MODULES_OF
    from wblab.kernels.stock.stockkernel import PREFIX, stock_kernels

    listed = list_kernels()
    if arguments.json:
        entries = [
            {
                "series": entry.series,
                "default": entry.default,
                "built": entry.kernel and values(entry.kernel),
                "patches": entry.patches,
                "variants": {name: kernel and values(kernel) for name, kernel in entry.variants.items()},
                "configured": {name: values(kernel) for name, kernel in entry.configured.items()},
                "source": entry.source,
                "pin": entry.pin and asdict(entry.pin),
                "package": entry.package or None,
            }
            for entry in listed
        ]
        print(json.dumps(entries, indent=2))
        return
    rows = []
    for entry in listed:
        mark = "*" if entry.default else " "
        state = f"built: {entry.kernel.release}" if entry.kernel else "not built"
        state += f", {entry.package}" if entry.kernel and entry.package else ""
        pinned = f"{entry.source} ({entry.pin.sha256[:12]})" if entry.pin else "no source is pinned"
        other = f", built from {entry.kernel.source}" if entry.kernel and entry.kernel.instead_of else ""
        rows.append((mark, entry.series, state, f"{len(entry.patches)} patches", f"{pinned}{other}"))
        for name, kernel in entry.variants.items():
            if kernel:
                rows.append(("", f"{entry.series}{VARIANT}{name}", f"built: {kernel.release}", "", ""))
        for name, kernel in entry.configured.items():
            rows.append(("", name, f"built: {kernel.release}", "", ""))
    stock = stock_kernels()
    for kernel in stock:
        rows.append(("", f"{PREFIX}{kernel.series}", f"here: {kernel.release}", "", kernel.source))
    Listing(rows).show()
    for entry in listed:
        if entry.package and not entry.kernel:
            print(f"{entry.series}: {entry.package}")
    if variants := sorted({name for entry in listed for name in entry.variants}):
        offered = ", ".join(_offered(name, listed) for name in variants)
        print(f"Variants, such as {listed[0].series}{VARIANT}{variants[0]}: {offered}")
    if with_drivers := [kernel for kernel in stock if kernel.drivers]:
        such = f"{PREFIX}{with_drivers[-1].series}{VARIANT}{with_drivers[-1].drivers[0]}"
        print(f"Drivers of disks, such as {such}: {', '.join(MODULES_OF)}")


def _offered(name: str, listed: "Sequence[Listed]") -> str:
    """Return a variant's name, with the series that offer it if not all do."""
    series = [entry.series for entry in listed if name in entry.variants]
    return name if len(series) == len(listed) else f"{name} ({', '.join(series)})"


def info_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Describe a built kernel: its source, patches, configuration and features."
    add_kernel_argument(parser)
    add_json(parser)
    parser.set_defaults(run=_info)


def add_kernel_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument that names a kernel."""
    parser.add_argument(
        "kernel",
        nargs="?",
        metavar="SERIES|PATH",
        help="a series such as 7.3 or 7.3+hz-1000, or the path of a tree, archive or executable (default: see list)",
    )


def check_target(given: Path, words: str) -> None:
    """Raise InputError for a target that is the name of a kernel: of one word, it would be taken for a file's.

    words: of the command.
    """
    from wblab.kernels import catalog

    if catalog.load().knows(str(given)) and not os.path.lexists(given):
        raise InputError(f"{given} names a kernel: write as well where it goes: wblab kernel {words.format(given)}")


def _info(arguments: argparse.Namespace) -> None:
    print_kernel(built(arguments.kernel), as_json=arguments.json)


def built(wanted: str | None) -> "Kernel":
    """Return the named kernel. Raises WblabError if it is not built."""
    from wblab.kernels import catalog
    from wblab.kernels.stock.stockkernel import is_stock
    from wblab.kernels.wanted import built_kernel, find_kernel

    kernel = built_kernel(wanted) if wanted and is_stock(wanted) else find_kernel(wanted)
    if kernel is None:
        named = wanted or catalog.load().default
        raise WblabError(f"kernel {named} is not built: run {shlex.join(['wblab', 'kernel', 'build', named])!r}")
    return kernel


def print_kernel(kernel: "Kernel", *, as_json: bool) -> None:
    """Print the properties of a built kernel."""
    if as_json:
        print(json.dumps(values(kernel), indent=2))
        return
    rows = [
        (f"{key.replace('_', ' ')}:", ", ".join(value) if isinstance(value, list) else str(value))
        for key, value in values(kernel).items()
        if value not in (None, [])
    ]
    Listing(rows).show()


def values(kernel: "Kernel") -> dict[str, Any]:
    """Return the properties of a built kernel, for JSON."""
    from wblab.kernels.features import features
    from wblab.kernels.stock.stockkernel import StockKernel

    drivers = {"drivers": list(kernel.drivers)} if isinstance(kernel, StockKernel) else {}
    return {
        "path": str(kernel.path),
        "config": str(kernel.config) if kernel.config else None,
        **kernel.describe(),
        **drivers,
        "patches": list(kernel.patches),
        "features": features(kernel),
    }


def source_arguments(parser: argparse.ArgumentParser) -> None:
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
    from wblab.kernels.patched import base, write
    from wblab.lab.progress import steps

    check_target(arguments.directory, "info --source {} DIR")
    wanted = arguments.kernel or catalog.load().default
    if VARIANT in wanted and not Path(wanted).exists():
        raise InputError(f"{wanted}: the source of a series has no variants: give their patches with --patches")
    given = read_patches(arguments.patches) if arguments.patches else ()
    with steps("source") as report:
        found = base(wanted, report)
        last = write(found, given, arguments.directory, report)
    print(f"{arguments.directory}: {len(given)} commits after the source, the last is {last[:12]}")
