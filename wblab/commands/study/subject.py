"""What `wblab study` was given: which design makes it, and the names that there are."""

import argparse
import json
import os
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from wblab.commands.common import results, study_at
from wblab.commands.many import named
from wblab.core.errors import InputError, nearest
from wblab.lab.designs import DESIGNS, STUDY_AGAIN, TWIN, VERIFY, WITNESS
from wblab.lab.formats import STUDY_FILE
from wblab.report.listing import Listing

_ALL = "all"  # the places where a spec is run if none is named
HERE = "here:"  # this machine, in place of a live run


def subject(arguments: argparse.Namespace) -> str:
    """Return the design of what the arguments name; `arguments.what` is then what that design takes.

    Raises InputError, with the nearest name, if nothing is known that is called so.
    """
    arguments.is_report = False
    if arguments.resume:
        if arguments.what and not arguments.update:
            raise InputError("--resume keeps the plan of the first call: leave WHAT out")
        # The study says what it is of, so that words are the parts of a finding to update.
        arguments.parts, arguments.what = [*filter(None, [arguments.what]), *arguments.parts], ""
        arguments.resume = named(arguments, *_resumable())
        return _of_study(arguments.resume)
    if not arguments.what:
        raise InputError("give what to study: wblab study --list names what there is; or --resume DIR")
    is_witness = bool(arguments.on)
    if arguments.on == [_ALL]:
        arguments.on = []
    if claims := _claims([arguments.what, *arguments.parts]):
        arguments.parts, arguments.what = claims, ""
        return WITNESS if is_witness else VERIFY
    return WITNESS if is_witness else _named(arguments) or _found(arguments)


def _named(arguments: argparse.Namespace) -> str:
    """Return the design of what comes with the lab under the given name; empty for nothing."""
    given = arguments.what
    if os.path.exists(given):
        return ""
    return next((design for design, name, _ in names() if name == given), "")


def _found(arguments: argparse.Namespace) -> str:
    """Return the design of a study's directory, a file, a spec or a live run. Raises InputError."""
    given = arguments.what
    path = Path(given)
    if study := study_at(path, results(arguments)):
        arguments.what, arguments.resume, arguments.is_report = "", study, True
        return _of_study(study)
    if path.is_file() and path.suffix == ".toml":
        return _of_file(path)
    if given.startswith(HERE):
        return TWIN
    return WITNESS if _is_spec(given) else _of_live(arguments)


def _resumable() -> list[str]:
    return [name for name, design in DESIGNS.items() if design.again == STUDY_AGAIN]


def _of_study(path: Path) -> str:
    """Return the design of a study, from its directory. Raises InputError for one that another verb makes."""
    from wblab.lab.formats import STUDY

    name = str(STUDY.read(path / STUDY_FILE).get("design"))
    if name not in _resumable():
        again = DESIGNS[name].again if name in DESIGNS else ""
        raise InputError(f"{path} is no study of wblab study" + (f": {again} {path}" if again else ""))
    return name


def _of_file(path: Path) -> str:
    """Return the design of a TOML file, by the keys that it has; without any of these it is a spec."""
    from wblab.lab.specfile import read_toml

    table = read_toml(path, "file")
    return next((name for name, design in DESIGNS.items() if any(key in table for key in design.keys)), WITNESS)


def _is_spec(name: str) -> bool:
    from wblab.lab.results import SPECS

    return SPECS.has(name) or Path(name).is_file()


def _of_live(arguments: argparse.Namespace) -> str:
    """Return the design for a run's directory: a live run is repeated in a guest. Raises InputError for no run."""
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.core.spec import Spec

    given = arguments.what
    try:
        found = find_run(given, results(arguments))
    except InputError:
        near = nearest(given, [name for _, name, _ in names()])
        raise InputError(f"nothing to study is called {given!r}{near}: see wblab study --list") from None
    if isinstance(read_run(found).spec, Spec):
        raise InputError(f"{found} is a run of a guest: give a live run, or --on and a spec to compare places")
    return TWIN


def _claims(given: "list[str]") -> "list[str]":
    """Return the claims if all that is given are claims."""
    from wblab.study.sources.registry import WORKS

    known = {claim.name for work in WORKS.values() for claim in work.claims}
    return given if set(given) <= known else []


def names() -> "Iterator[tuple[str, str, str]]":
    """Yield the design, the name and what it is of all that comes with the lab, without single claims."""
    for design in DESIGNS:
        if DESIGNS[design].named:
            yield from ((design, *each) for each in _module(design).names())


def _module(design: str) -> ModuleType:
    return import_module(f"wblab.commands.study.{design}")


def print_names(arguments: argparse.Namespace) -> None:
    """Print what there is to study; of a work or of recommendations, each claim or recommendation."""
    if arguments.what:
        print_parts = getattr(_module(subject(arguments)), "print_parts", None)
        if not print_parts:
            raise InputError("--list names the parts of a work's claims or of recommendations: leave WHAT out")
        print_parts(arguments)
        return
    found = list(names())
    if arguments.json:
        print(json.dumps([{"name": name, "design": design, "what": what} for design, name, what in found], indent=2))
        return
    Listing([(name, what) for _, name, what in found], ("name", "what it is")).show()
    print("    wblab study NAME --list    # of a work or of recommendations: each of them")
