"""`wblab kernel list|build|info`. Each verb takes the parsed arguments and raises WblabError when it fails."""

import argparse
import json
import shlex
import sys
from dataclasses import asdict
from typing import Any

from wblab.core.errors import WblabError
from wblab.kernels import catalog
from wblab.kernels.features import features
from wblab.kernels.kernel import Kernel
from wblab.kernels.wanted import build_kernel, find_kernel, list_kernels
from wblab.lab.progress import bar
from wblab.lab.tables import Table


def add_verbs(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `kernel` with its three verbs; the chosen one is in the namespace as `run`."""
    verbs = subparsers.add_parser("kernel", help="list, build and describe kernels").add_subparsers(
        title="verbs", metavar="VERB", required=True
    )
    listing = verbs.add_parser("list", help="show the kernels that the lab knows and those that are built")
    listing.set_defaults(run=list_verb)
    build = verbs.add_parser("build", help="fetch, patch, configure and build a kernel, unless it is built already")
    build.set_defaults(run=build_verb)
    build.add_argument("--refresh", action="store_true", help="pin the newest source first: writes linux-uml/pins.toml")
    info = verbs.add_parser("info", help="describe a built kernel")
    info.set_defaults(run=info_verb)
    for verb in (build, info):
        verb.add_argument(
            "kernel",
            nargs="?",
            metavar="SERIES|PATH",
            help="a series such as 7.3, or the path of a tree, an archive or a linux executable (default: see list)",
        )
    for verb in (listing, build, info):
        verb.add_argument("--json", action="store_true", help="print JSON")


def list_verb(arguments: argparse.Namespace) -> None:
    """Print one line per series."""
    listed = list_kernels()
    if arguments.json:
        values = [
            {
                "series": entry.series,
                "default": entry.default,
                "built": entry.kernel and _values(entry.kernel),
                "patches": entry.patches,
                "source": entry.source,
                "pin": entry.pin and asdict(entry.pin),
            }
            for entry in listed
        ]
        print(json.dumps(values, indent=2))
        return
    rows = []
    for entry in listed:
        mark = "*" if entry.default else " "
        state = f"built: {entry.kernel.release}" if entry.kernel else "not built"
        pinned = f"{entry.source} ({entry.pin.sha256[:12]})" if entry.pin else "no source is pinned"
        other = f", built from {entry.kernel.source}" if entry.kernel and entry.kernel.instead_of else ""
        rows.append((mark, entry.series, state, f"{len(entry.patches)} patches", f"{pinned}{other}"))
    Table(rows).show()


def build_verb(arguments: argparse.Namespace) -> None:
    """Build, with a bar on standard error, and print where the executable is."""
    with bar("kernel") as report:
        kernel = build_kernel(arguments.kernel, report=report, say=_say, refresh=arguments.refresh)
    if arguments.json:
        _print(kernel, as_json=True)
    else:
        print(f"Linux {kernel.release}: {kernel.path}")


def info_verb(arguments: argparse.Namespace) -> None:
    """Print what is known of a built kernel. Raises WblabError if it is not built."""
    kernel = find_kernel(arguments.kernel)
    if kernel is None:
        wanted = arguments.kernel or catalog.load().default
        raise WblabError(f"kernel {wanted} is not built: run {shlex.join(['wblab', 'kernel', 'build', wanted])!r}")
    _print(kernel, arguments.json)


def _print(kernel: Kernel, as_json: bool) -> None:
    if as_json:
        print(json.dumps(_values(kernel), indent=2))
        return
    rows = [
        (f"{key.replace('_', ' ')}:", ", ".join(value) if isinstance(value, list) else str(value))
        for key, value in _values(kernel).items()
        if value not in (None, [])
    ]
    Table(rows).show()


def _values(kernel: Kernel) -> dict[str, Any]:
    return {
        "path": str(kernel.path),
        "config": str(kernel.config) if kernel.config else None,
        **kernel.describe(),
        "patches": list(kernel.patches),
        "features": features(kernel),
    }


def _say(text: str) -> None:
    print(f"wblab: {text}", file=sys.stderr)
