"""wblab kernel info."""

import argparse
import json
import shlex
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_json
from wblab.core.errors import WblabError
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.kernels import Kernel


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def _info(arguments: argparse.Namespace) -> None:
    print_kernel(built(arguments.kernel), as_json=arguments.json)


def built(wanted: str | None) -> "Kernel":
    """Return the named kernel. Raises WblabError if it is not built."""
    from wblab.kernels import catalog
    from wblab.kernels.stock.kernel import is_stock
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
    Table(rows).show()


def values(kernel: "Kernel") -> dict[str, Any]:
    """Return the properties of a built kernel, for JSON."""
    from wblab.kernels.features import features

    return {
        "path": str(kernel.path),
        "config": str(kernel.config) if kernel.config else None,
        **kernel.describe(),
        "patches": list(kernel.patches),
        "features": features(kernel),
    }
