"""What the user asked for, as a guest gets it: its spec, its order, its files, and what it may read of the host."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, Bytes, Nanoseconds
from wblab.host.process.limits import Limits
from wblab.host.request import Request, ready
from wblab.kernels import built_kernels
from wblab.lab.printable import printable
from wblab.on import handed
from wblab.on.made import feasible
from wblab.on.order import Order
from wblab.on.tree import Tree, is_hidden, tree_of
from wblab.on.world import Wanted, world

if TYPE_CHECKING:
    from wblab.on.faults import Faults


@dataclass(frozen=True)
class Asked:
    """A command, and what goes with it and comes back.

    directory: what goes with it. tracked: only what git tracks of it. keep: what comes back, by paths within.
    variables: names, or NAME=VALUE, beside those that are always passed. allow_read: more that it may read of the host.
    longest: of the host's time. most: of what the guest leaves, beside what `keep` names. results: where the run's
    directory goes.
    """

    argv: tuple[str, ...]
    directory: Path
    tracked: bool
    keep: Sequence[str]
    variables: Sequence[str]
    allow_read: Sequence[Path]
    longest: Nanoseconds
    most: Bytes
    results: Path


@dataclass(frozen=True)
class Prepared:
    """What `run_program` takes, but for standard input. reads: of the host. results: as asked."""

    request: Request
    order: Order
    tree: Tree
    reads: tuple[str, ...]
    limits: Limits
    results: Path


def prepared(asked: Asked, wanted: Wanted, faults: "Faults") -> Prepared:
    """Return what to run. Raises InputError: nothing has booted."""
    directory = asked.directory.resolve()
    if not directory.is_dir():
        raise InputError(f"--dir {printable(str(asked.directory))}: there is no such directory")
    variables = handed.unshimmed(asked.argv, os.environ)
    prefix = handed.prefix_of(asked.argv, variables)
    tree = tree_of(directory, tracked=asked.tracked, prefix=prefix, most=Bytes(wanted.size // 2), results=asked.results)
    for name in asked.keep:
        if os.path.isabs(name) or ".." in Path(name).parts:
            raise InputError(f"--keep {name}: give a path within the directory")
    spec, beside = world(wanted)
    reads = [*handed.reads(asked.argv, variables, prefix, directory)]
    for path in asked.allow_read:
        if not path.exists():
            raise InputError(f"--allow-read: there is no {str(path)!r}: check the path")
        if own := is_hidden(path.resolve()):
            said = f"--allow-read {printable(str(path))}: a guest has a {own} of its own, without this"
            raise InputError(f"{said}: give a copy elsewhere, or one in the directory that goes along")
        reads.append(str(path.resolve()))
    request = ready(spec, built_kernels(wanted.kernel))
    faults, limits = feasible(faults, request, Limits(wall_s=asked.longest / NS_PER_S, output_bytes=asked.most))
    if asked.keep:
        limits = replace(limits, output_bytes=limits.output_bytes + wanted.size)
    columns, lines = _terminal()
    order = Order(
        argv=asked.argv,
        directory=str(directory),
        begins=_begins(directory),
        linked=tree.linked,
        environment=handed.environment(variables, asked.variables),
        uid=os.getuid(),
        gid=os.getgid(),
        keep=tuple(asked.keep),
        beside=beside,
        seed=wanted.seed,
        columns=columns,
        lines=lines,
        faults=faults,
    )
    return Prepared(request, order, tree, tuple(reads), limits, asked.results)


def _begins(directory: Path) -> str:
    """Return where the command begins: in the current directory if that goes along, else at the top of what does."""
    here = Path(os.path.realpath("."))
    return str(here if here.is_relative_to(directory) else directory)


def _terminal() -> tuple[int, int]:
    """Return the columns and lines of the terminal that both outputs are, or 0."""
    if not (os.isatty(1) and os.isatty(2)):
        return 0, 0
    size = os.get_terminal_size(1)
    return size.columns, size.lines
