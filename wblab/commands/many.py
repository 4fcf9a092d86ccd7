"""What verbs share that make a study: one directory of many runs, of which the missing ones are made."""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import directory_of, note, results
from wblab.core.errors import InputError, WblabError
from wblab.lab.designs import STUDY_AGAIN
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from distributed import Client

    from wblab.kernels import KernelResolver
    from wblab.study.begin import Kernels
    from wblab.study.plan import Plan
    from wblab.study.run import Tally
    from wblab.study.store import Store

SHOWN = 20  # the most failures that are printed


@dataclass(frozen=True)
class Planned:
    """A plan, its kernels by the names that the cells use, and the study's directory.

    store: an existing study; None: a new one is made. beside: further files of a new study, by name. directory: its
    path (default: a directory named after the date, among the results).
    """

    plan: "Plan"
    kernels: "Kernels"
    store: "Store | None" = None
    beside: Mapping[str, bytes] = field(default_factory=dict)
    directory: Path | None = None

    @classmethod
    def again(
        cls,
        arguments: argparse.Namespace,
        design: str,
        resolve: "KernelResolver",
        check: "Callable[[Store], object]" = lambda store: None,
    ) -> "Planned":
        """Return that of the study that --resume names, on its kernels. check: if it is sound. Raises InputError."""
        from wblab.study.begin import check_kernels, with_kernel
        from wblab.study.store import Store

        store = Store.open(named(arguments, design), design)
        check(store)
        with_kernel(store.plan, getattr(arguments, "kernel", ()), begun=True)
        check_kernels(store, resolve)
        return cls(store.plan, store.kernels, store)

    def opened(self, results: Path) -> "Store":
        """Return the study's store. Raises InputError if its directory cannot be made."""
        from wblab.study.store import Store

        if self.directory and not self.store:
            return Store.begin(empty(self.directory), self.plan, self.kernels, self.beside)
        return self.store or Store.create(results, self.plan, self.kernels, self.beside)


@contextmanager
def begun(
    arguments: argparse.Namespace, resolve: "KernelResolver", plan: Planned, again: str = STUDY_AGAIN
) -> "Iterator[tuple[Store, Client | None]]":
    """Check all cells; then yield the study's directory, locked, and the cluster if there is one.

    again: the command that resumes the study, without its directory; printed if the study ends early. Raises
    WblabError.
    """
    from wblab.api.making import print_notes
    from wblab.study.begin import orders, requests
    from wblab.study.cluster import check_workers, remote

    here = not getattr(arguments, "cluster", None)
    print_notes(requests(plan.plan, resolve, here=here), here=here, seeds=len(plan.plan.seeds))
    with ExitStack() as stack:
        client = None if here else stack.enter_context(remote(arguments.cluster))
        if client is not None:
            check_workers(client, orders(plan.plan, plan.kernels))
        store = plan.opened(results(arguments))
        stack.enter_context(store.held())
        try:
            yield store, client
        except (WblabError, KeyboardInterrupt):
            note(f"to resume: {again} {store.path}")
            raise


def named(arguments: argparse.Namespace, *designs: str) -> Path:
    """Return the directory that --resume names: a path, a name among the results, or the designs' latest study."""
    from wblab.analysis.runs.results import latest_study

    given: Path = arguments.resume
    if str(given) == "latest" and not given.is_dir():
        return latest_study(results(arguments), *designs)
    return directory_of(given, results(arguments))


def empty(directory: Path) -> Path:
    """Make a directory unless it exists and is empty; return it. Raises InputError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        taken = any(directory.iterdir())
    except OSError as error:
        raise InputError(f"cannot make the directory {str(directory)!r}: {error.strerror}") from None
    if taken:
        raise InputError(f"{str(directory)!r} is not empty: name a new directory")
    return directory


def print_shard(store: "Store", failures: list[dict[str, Any]], again: str = STUDY_AGAIN, *, as_json: bool) -> None:
    """Print what a part of a study has, and what to do with it. again: the command that resumes it.

    Raises WblabError if runs failed.
    """
    runs, missing = len(store.plan.runs()), len(store.missing())
    if as_json:
        about = {"directory": str(store.path), "shard": str(store.plan.shard), "runs": runs, "missing": missing}
        print(json.dumps(about | {"failures": failures}, indent=2))
    else:
        print(printable(str(store.path)))
        note("when all parts are made, put them together: wblab study --merge DIR...")
    check_failures(store, failures, again)


def check_failures(store: "Store", failures: list[dict[str, Any]], again: str = STUDY_AGAIN) -> None:
    """Print the reasons of the first failures, and raise WblabError, if there are any."""
    if not failures:
        return
    print_failures(store, failures)
    runs = len(store.plan.runs()) - len(store.missing()) + len(failures)
    what = f"{len(failures)} of {runs} runs" if runs > 1 else "1 run"
    raise WblabError(f"{what} failed: try again with {again} {shlex.quote(str(store.path))}")


def failed(tally: "Tally", but: "Callable[[str], bool]" = lambda reason: False) -> list[dict[str, Any]]:
    """Return the failed runs with their reasons, for JSON. but: reasons of which it is true are answers."""
    failures = [(item, reason) for item, reason in tally.failures if not but(reason)]
    return [{"cell": str(item.cell), "seed": item.seed, "reason": reason} for item, reason in failures]


def print_failures(store: "Store", failures: list[dict[str, Any]]) -> None:
    """Print the reasons of the first failures."""
    for failure in failures[:SHOWN]:
        print(printable("failed: {cell}, seed {seed}: {reason}".format(**failure)), file=sys.stderr)
    if len(failures) > SHOWN:
        print(printable(f"and {len(failures) - SHOWN} more, in {store.runs}/_*"), file=sys.stderr)
