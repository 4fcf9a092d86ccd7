"""wblab load: run one load in the foreground. The parameters are the fields of its kind."""

import argparse
import os
import shlex
import textwrap
import time
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from wblab.commands.parser import RawLines
from wblab.core import rundir
from wblab.core.check import check_name
from wblab.core.cycles import check_ending, ending, run_cycles, stamps_for
from wblab.core.errors import InputError, WblabError, nearest
from wblab.core.loads import KINDS, Load
from wblab.core.streams import NO_SEED, draw_stream
from wblab.core.syscalls import set_ioprio
from wblab.core.tables import from_table
from wblab.machine.processes import room_to_measure
from wblab.machine.trust import distrust


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb. A field without a default becomes a parameter, one with a default an option."""
    parser.usage = f"{parser.prog} [options] name kind [parameter ...]"
    parser.description = "Run one load on this machine until it finishes, or until SIGINT or SIGTERM."
    lines = (
        textwrap.fill(usage(kind), _COLUMNS, initial_indent="  ", subsequent_indent="    ") for kind in KINDS.values()
    )
    parser.epilog = "\n".join(["kinds, their parameters, and options with their defaults:", *lines])
    parser.formatter_class = RawLines
    parser.add_argument("name", help="the load's name, used in file names")
    parser.add_argument("kind", help="what one cycle does; see the kinds below")
    parser.add_argument("parameters", nargs="*", metavar="parameter", help="parameters of the kind: file, 50ms, 65MiB")
    parser.add_argument("--dir", type=Path, default=Path(), help="where the load's own files go (default: .)")
    parser.add_argument("--out", type=Path, default=Path(), help="where load.NAME.json and .npy go (default: .)")
    for name, kinds in _options().items():
        parse = int if get_type_hints(kinds[0])[name] is int else str
        is_common = name in {field.name for field in fields(Load)}
        about = _defaults(name, kinds) if is_common else argparse.SUPPRESS  # others stand beside their kinds
        parser.add_argument(f"--{name}", type=parse, default=None, help=about)
    parser.set_defaults(run=_load)


# Left out: `disk` names a disk of a spec, but here --dir says where the load writes; `until` is a time in a guest.
_COLUMNS = 80
_SPECS_OWN = ("disk", "until")


def _load(arguments: argparse.Namespace) -> None:
    run_load(arguments.name, make_load(arguments), arguments.dir, arguments.out)


def usage(kind: type[Load]) -> str:
    """Return a kind, its parameters, and its options with their defaults, on one line."""
    common = {field.name for field in fields(Load)}
    options = [field for field in _optional(kind) if field.name not in common]
    own = [f"[--{field.name} {shlex.quote(_words(field.default))}]" for field in options]
    return " ".join([kind.kind, *required(kind), *own])


def _words(default: object) -> str:
    return " ".join(default) if isinstance(default, tuple) else str(default)


def required(kind: type[Load]) -> list[str]:
    """Return the names of a kind's parameters, in order."""
    return [field.name for field in fields(kind) if field.default is MISSING]


def make_load(arguments: argparse.Namespace) -> Load:
    """Return the load. Raises InputError."""
    if arguments.kind not in KINDS:
        suggestion = nearest(arguments.kind, list(KINDS))
        raise InputError(f"unknown kind {arguments.kind!r}{suggestion}: choose one of {', '.join(KINDS)}")
    kind = KINDS[arguments.kind]
    names = required(kind)
    if len(arguments.parameters) != len(names):
        raise InputError(f"got {len(arguments.parameters)} parameters, expected {len(names)}: write {usage(kind)}")
    table: dict[str, Any] = dict(zip(names, arguments.parameters, strict=True))
    table |= {name: value for name in _options() if (value := getattr(arguments, name)) is not None}
    hints = get_type_hints(kind)
    table = {name: shlex.split(value) if _is_list(hints.get(name)) else value for name, value in table.items()}
    load = from_table(kind, table)
    load.check()
    return load


def run_load(name: str, load: Load, directory: Path, out: Path) -> None:
    """Run a load in this process with its files in `directory`; write its measurements to `out`. Raises WblabError."""
    check_name(name, "name")
    _check_trust("--dir", directory)
    _check_trust("--out", out)
    _check_out(out, name)
    stamps = stamps_for(load)
    if load.ioclass != "none":
        try:
            set_ioprio(load.ioclass, load.iolevel)
        except OSError as error:
            raise WblabError(f"cannot set the I/O class {load.ioclass!r}: {error.strerror}") from None
    _room = room_to_measure()
    run_cycles(load, directory, stamps, time.monotonic_ns() + load.start, draw_stream(NO_SEED, name))
    rundir.write_load(out, name, load, os.getpid(), stamps)
    check_ending(name, ending(stamps))


def _check_trust(option: str, directory: Path) -> None:
    """Raise InputError if root would write where another user could redirect it."""
    if os.geteuid() == 0 and directory.is_dir() and (reason := distrust(directory, sticky=True)):
        raise InputError(
            f"{option}: {reason}, and could redirect root's writes: give another directory, or run as that user"
        )


def _check_out(out: Path, name: str) -> None:
    if not out.is_dir() or not os.access(out, os.W_OK | os.X_OK):
        raise InputError(f"--out: cannot write to {str(out)!r}: give another directory")
    for path in (out / rundir.load_record(name), out / rundir.load_times(name)):
        if path.exists():
            raise InputError(f"{str(path)!r} exists: give another name or --out")


def _is_list(hint: object) -> bool:
    return get_origin(hint) is tuple


def _optional(kind: type[Load]) -> list[Field[Any]]:
    return [field for field in fields(kind) if field.default is not MISSING and field.name not in _SPECS_OWN]


def _options() -> dict[str, list[type[Load]]]:
    """Return the fields that have a default, each with the kinds that have it."""
    options: dict[str, list[type[Load]]] = {}
    for kind in KINDS.values():
        for field in _optional(kind):
            options.setdefault(field.name, []).append(kind)
    return options


def _defaults(name: str, kinds: list[type[Load]]) -> str:
    """Describe an option's default: where kinds differ, list each value with its kinds."""
    having: dict[object, list[str]] = {}
    for kind in kinds:
        default = getattr(kind, name)
        having.setdefault(_words(default), []).append(kind.kind)
    if len(having) == 1:
        return f"default: {next(iter(having))}"
    return "default: " + ", ".join(f"{value} ({' '.join(names)})" for value, names in having.items())
