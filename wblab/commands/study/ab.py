"""wblab study --kernels: what differs between two kernels.

Builds both, runs the same specs with the same seeds on each until the differences are decided, and writes a page and a
text. Each kernel is a series, a tree, a tarball, a built linux, a build id, a commit, or a file or directory of patches
on the other one. The build of a tree, commit or patch runs its Makefiles and programs, and what its git configuration
names, as you.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_jobs, add_json, add_resume, add_settings, note, tell, whole
from wblab.core.errors import InputError, WblabError
from wblab.lab.designs import AB, DESIGNS
from wblab.lab.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wblab.commands.many import Planned
    from wblab.core.spec import Spec
    from wblab.kernels import KernelResolver
    from wblab.report.report import Report
    from wblab.study.designs.ab.sides import Side
    from wblab.study.store import Store

_MOST = 34
_LEAST = 3  # seeds: fewer give no interval
_OPTIONS = ("kernels", "tree", "base", "spec", "settings", "seeds", "each")  # of a new comparison, kept by --resume
_AGAIN = DESIGNS[AB].again


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Compare two kernels: build both, run the same specs with the same seeds on each until the differences are "
        "decided, and write a page and a text. They say what differs in source, options and patches, which figures "
        "differ, with intervals, and why the pauses that changed were as long. A kernel is a series, a tree, a "
        "tarball, a built linux, a build id, a commit, or a file or directory of patches on the other one. The build "
        "of a tree, commit or patch runs its Makefiles and programs, and what its git configuration names, as you."
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="two kernels; or a range of commits: FROM..TO")
    parser.add_argument("--tree", type=Path, metavar="PATH", help="git repository of commits (default: this directory)")
    parser.add_argument("--base", metavar="KERNEL", help="what patches are applied to (default: the other)")
    parser.add_argument("--each", action="store_true", help="compare each patch or commit with the state before it")
    parser.add_argument(
        "--spec",
        action="append",
        default=[],
        metavar="SPEC",
        help="run this, as for wblab run; repeatable (default: base, base-device, base-ext2, two-disks, commit, stick)",
    )
    add_settings(parser)
    about = f"at most N seeds for each kernel and spec: 3, 5, 8, 13 … until they decide (default: {_MOST})"
    parser.add_argument("--seeds", type=whole(_LEAST), metavar="N", help=about)
    about = "with --resume: a kernel's path that it may run"
    parser.add_argument("--kernel", action="append", default=[], metavar="SERIES|PATH", help=about)
    about = "build the kernels, print where each is, and run nothing"
    parser.add_argument("--build-only", action="store_true", help=about)
    add_jobs(parser)
    add_resume(parser)
    add_exp(parser, "the study's directory goes")
    add_json(parser, "print everything as JSON")
    parser.add_argument("--mail", action="store_true", help="print only the block for a mail, of at most 72 columns")
    parser.set_defaults(run=make)


def make(arguments: argparse.Namespace) -> None:
    """Compare two kernels, or resume that. Raises WblabError."""
    from wblab.commands.many import begun, check_failures, failed
    from wblab.study.decided import run_until_decided
    from wblab.study.designs.ab.made import question
    from wblab.study.designs.ab.plan import asked_of, pairs
    from wblab.study.designs.ab.report import report
    from wblab.study.designs.ab.result import result
    from wblab.study.run import run_store

    if arguments.json and arguments.mail:
        raise InputError("--json and --mail print different things: give one of them")
    if arguments.build_only:
        _build_only(arguments)
        return
    planned, resolve = _resumed(arguments) if arguments.resume else _new(arguments)
    with begun(arguments, resolve, planned, _AGAIN) as (store, _):
        asked = question(store, pairs(store.plan, asked_of(store.plan)))
        tally = run_until_decided(store, asked, partial(run_store, store, None, arguments.jobs), note)
        if not tally.failures or any(store.runs.glob("[!_.]*")):
            found = report(result(store, resolve, len(tally.failures)))
            _print(store, found, _write(store, found), arguments)
    check_failures(store, failed(tally), _AGAIN)


def _build_only(arguments: argparse.Namespace) -> None:
    from wblab.study.designs.ab.made import build_all, check_differ
    from wblab.study.designs.ab.sides import subject

    if arguments.resume:
        raise InputError(
            "--build-only is for new kernels, and --resume keeps those of the first call: give one of them"
        )
    states = _states(arguments)
    kernels = build_all(states, note)
    check_differ(states, kernels)
    if arguments.json:
        built = [
            {"kernel": state.label, "subject": subject(state), "linux": str(kernel.path)}
            for state, kernel in zip(states, kernels, strict=True)
        ]
        print(json.dumps(built, indent=2))
    else:
        print(
            "\n".join(printable(f"{state.label}: {kernel.path}") for state, kernel in zip(states, kernels, strict=True))
        )


def _states(arguments: argparse.Namespace) -> "Sequence[Side]":
    """Return what is to be built. Raises InputError."""
    from wblab.study.designs.ab.made import check_unequal
    from wblab.study.designs.ab.sides import sides, steps

    if arguments.kernel:
        raise InputError("--kernel is for --resume: name a new comparison's kernels without it")
    if not 1 <= len(arguments.kernels) <= 2:
        raise InputError("give two kernels, or a range of commits: see wblab study --kernels --help")
    ends = sides(arguments.kernels, arguments.tree or Path(), arguments.base or "")
    check_unequal(*ends)
    return steps(*ends) if arguments.each else ends


def _new(arguments: argparse.Namespace) -> "tuple[Planned, KernelResolver]":
    """Build the kernels, and plan the comparison."""
    from wblab.commands.many import Planned
    from wblab.kernels import built_kernels
    from wblab.study.designs.ab.made import build_all, check_differ
    from wblab.study.designs.ab.plan import asked, described, plan

    specs = _specs(arguments)
    states = _states(arguments)
    kernels = build_all(states, note)
    check_differ(states, kernels)
    asked_ = asked(states, kernels, _command(arguments))
    resolve = built_kernels(*(state.kernel for state in asked_.states))
    return Planned(plan(asked_, specs, arguments.seeds or _MOST), described(asked_, kernels)), resolve


def _specs(arguments: argparse.Namespace) -> "Sequence[Spec]":
    from wblab.host.check import check_run
    from wblab.lab.results import SPECS
    from wblab.lab.specfile import read_spec
    from wblab.study.designs.ab.plan import STANDARD

    specs = [read_spec(SPECS.find(name), arguments.settings) for name in arguments.spec or STANDARD]
    for spec in specs:
        check_run(spec)
    return specs


def _command(arguments: argparse.Namespace) -> list[str]:
    """Return the command that repeats the comparison, without options that have their defaults."""
    words = ["wblab", "study", "--kernels", *arguments.kernels]
    for option, values in (("--spec", arguments.spec), ("--set", arguments.settings)):
        for value in values:
            words += [option, value]
    for name in ("tree", "base", "seeds"):
        if (value := getattr(arguments, name)) is not None:
            words += [f"--{name}", str(value)]
    return [*words, *(["--each"] if arguments.each else [])]


def _resumed(arguments: argparse.Namespace) -> "tuple[Planned, KernelResolver]":
    from wblab.commands.many import Planned, named
    from wblab.kernels import built_kernels
    from wblab.study.begin import check_kernels
    from wblab.study.designs.ab.sides import cached
    from wblab.study.store import Store

    if changed := [name for name in _OPTIONS if getattr(arguments, name, None)]:
        raise InputError(f"--resume keeps the kernels and options of the first call: leave --{changed[0]} out")
    store = Store.open(named(arguments, AB), AB)
    own = [name for name in store.kernels if "/" in name and cached(name)]
    resolve = built_kernels(*arguments.kernel, *own)
    check_kernels(store, resolve)
    return Planned(store.plan, store.kernels, store), resolve


def _write(store: "Store", found: "Report") -> Path:
    """Write the report into the study's directory; return the page."""
    from wblab.lab.formats import write_json
    from wblab.report.page import write, write_page
    from wblab.report.text import lines

    try:
        write_json(store.path / "ab.json", found.to_json())
    except OSError as error:
        raise WblabError(f"cannot write the report in {store.path}: {error.strerror or error}") from None
    write_page(store.path / "ab.txt", "\n".join([*lines(found), ""]))
    return write(found, store.path / "ab.html")


def _print(store: "Store", found: "Report", page: Path, arguments: argparse.Namespace) -> None:
    from wblab.report.text import mail

    if arguments.mail:
        print("\n".join(mail(found)))
    else:
        tell(found, page, as_json=arguments.json, directory=str(store.path), page=str(page))
