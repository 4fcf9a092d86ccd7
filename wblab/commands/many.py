"""What verbs share that make many runs in one directory: what is missing of it is run."""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import results
from wblab.core.errors import WblabError
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from distributed import Client

    from wblab.kernels import Shelf
    from wblab.study.begin import Kernels
    from wblab.study.plan import Plan
    from wblab.study.run import Tally
    from wblab.study.store import Store

SHOWN = 20  # failures that are listed


@dataclass(frozen=True)
class Planned:
    """What is to run, with the kernels by what the cells call them; in a directory that is there, or in a new one.

    beside: what a new one has besides, by the files' names.
    """

    plan: "Plan"
    kernels: "Kernels"
    store: "Store | None" = None
    beside: Mapping[str, bytes] = field(default_factory=dict)

    def opened(self, results: Path) -> "Store":
        """Return the directory. Raises InputError where it cannot be made."""
        from wblab.study.store import Store

        return self.store or Store.create(results, self.plan, self.kernels, self.beside)


@contextmanager
def begun(
    arguments: argparse.Namespace, shelf: "Shelf", plan: Planned, again: str
) -> "Iterator[tuple[Store, Client | None]]":
    """Yield the directory of what is to run, held, and the cluster if there is one, once all cells were checked.

    again: what a user writes before the directory to go on, who is told so where that ends early. Raises WblabError.
    """
    from wblab.commands.run import print_notes
    from wblab.study.begin import orders, requests
    from wblab.study.cluster import check_workers, remote

    here = not arguments.cluster
    print_notes(requests(plan.plan, shelf, here=here), here=here)
    with ExitStack() as stack:
        client = None if here else stack.enter_context(remote(arguments.cluster))
        if client is not None:
            check_workers(client, orders(plan.plan, plan.kernels))
        store = plan.opened(results(arguments))
        stack.enter_context(store.held())
        try:
            yield store, client
        except (WblabError, KeyboardInterrupt):
            print(printable(f"wblab: to go on: {again} {store.path}"), file=sys.stderr)
            raise


def named(arguments: argparse.Namespace) -> Path:
    """Return the directory that --resume names: a path, or one of the results."""
    given: Path = arguments.resume
    return next((path for path in (given, results(arguments) / given) if path.is_dir()), given)


def failed(tally: "Tally") -> list[dict[str, Any]]:
    """Return which runs failed, and why."""
    return [{"cell": str(item.cell), "seed": item.seed, "reason": reason} for item, reason in tally.failures]


def print_failures(store: "Store", failures: list[dict[str, Any]]) -> None:
    """Print the reasons of the first failures."""
    for failure in failures[:SHOWN]:
        print(printable("failed: {cell}, seed {seed}: {reason}".format(**failure)), file=sys.stderr)
    if len(failures) > SHOWN:
        print(printable(f"and {len(failures) - SHOWN} more, in {store.runs}/_*"), file=sys.stderr)
