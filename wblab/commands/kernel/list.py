"""wblab kernel list."""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from wblab.commands.common import add_json
from wblab.lab.tables import Table

if TYPE_CHECKING:
    from wblab.kernels import Listed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Show the kernels that the lab knows, those that are built, and stock kernels. * marks the default."
    )
    add_json(parser)
    parser.set_defaults(run=_list)


def _list(arguments: argparse.Namespace) -> None:
    from wblab.commands.kernel.info import values
    from wblab.kernels import list_kernels
    from wblab.kernels.stock.kernel import PREFIX, stock_kernels
    from wblab.lab.kernelname import VARIANT

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
    for kernel in stock_kernels():
        rows.append(("", f"{PREFIX}{kernel.series}", f"here: {kernel.release}", "", kernel.source))
    Table(rows).show()
    for entry in listed:
        if entry.package and not entry.kernel:
            print(f"{entry.series}: {entry.package}")
    if variants := sorted({name for entry in listed for name in entry.variants}):
        offered = ", ".join(_offered(name, listed) for name in variants)
        print(f"Variants, such as {listed[0].series}{VARIANT}{variants[0]}: {offered}")


def _offered(name: str, listed: "Sequence[Listed]") -> str:
    """Return a variant's name, with the series that offer it if not all do."""
    series = [entry.series for entry in listed if name in entry.variants]
    return name if len(series) == len(listed) else f"{name} ({', '.join(series)})"
