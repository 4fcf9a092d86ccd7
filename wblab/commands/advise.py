"""wblab advise: recommend a setting that shortens pauses on this machine."""

import argparse
import json
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_json,
    add_kernel,
    add_seeds,
    add_where,
    directory_of,
    note,
    results,
    tell,
)
from wblab.core.errors import InputError
from wblab.lab.designs import ADVISE
from wblab.lab.extras import require
from wblab.lab.printable import printable
from wblab.machine.trust import distrust_new

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Client

    from wblab.commands.many import Planned
    from wblab.kernels import KernelResolver
    from wblab.study.designs.advise.record import Advice
    from wblab.study.designs.advise.result import Result
    from wblab.study.run import Tally
    from wblab.study.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Recommend what to set on this machine to shorten pauses. The lab measures the disk, makes a small guest like "
        "this machine (its twin), and tries remedies there: how long are light writers stalled, and how much slower "
        "does the heavy writer become? It recommends one remedy or none, and prints the commands that set and undo "
        "it. Only --apply changes this machine; --undo reverts it."
    )
    add = parser.add_argument
    add("--dir", type=Path, metavar="DIR", help="a directory on the disk (default: .)")
    about = (
        "model of the disk: a name in experiments/disks, or a file of wblab disk measure (default: measure it, 10 s)"
    )
    add("--disk", metavar="DISK", help=about)
    about = (
        "take the loads from a spec (without its offenders) or from a live run, which is then compared with the twin"
    )
    add("--like", metavar="SPEC|RUN", help=about)
    add_seeds(parser, "runs of each remedy", default=10)
    add_kernel(parser, "the one marked * in wblab kernel list")
    add_where(parser)
    about = "continue the study in this directory, or print its result again ('latest': the newest study)"
    add("--resume", type=Path, metavar="DIR", help=about)
    add(
        "-o",
        "--output",
        type=Path,
        metavar="DIR",
        help="where to write the files that install the remedy (default: the study's directory)",
    )
    add(
        "--all",
        action="store_true",
        help="also print which remedies were not tried and why, and which metrics the twin does not reproduce",
    )
    add("--explain", action="store_true", help="also print the run directories behind each row")
    change = parser.add_mutually_exclusive_group()
    about = (
        "set this remedy on this machine until --undo or a reboot "
        "(a remedy of the newest study, or of the one named by --resume)"
    )
    change.add_argument("--apply", metavar="NAME", help=about)
    change.add_argument("--undo", action="store_true", help="undo what --apply set")
    add_exp(parser, "the study's directory goes")
    add_json(parser)
    parser.set_defaults(run=_advise)


def _advise(arguments: argparse.Namespace) -> None:
    if arguments.apply or arguments.undo:
        _change(arguments)
        return
    require(("explore",))  # not needed to undo what was set
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels
    from wblab.lab.formats import REPORT
    from wblab.report.page import write
    from wblab.study.designs.advise.allowed import check_remedy
    from wblab.study.designs.advise.report import report

    place = _study(arguments) if arguments.resume else results(arguments)
    _check_owner(place, "--resume" if arguments.resume else "--exp")
    if arguments.output:
        _check_owner(arguments.output, "--output")
    resolve = built_kernels(arguments.kernel)
    with begun(arguments, resolve, _planned(arguments, resolve), "wblab advise --resume") as (store, client):
        found = run_rounds(store, client, arguments.jobs)
    if found.choice.name:
        check_remedy(found.advice.candidate(found.choice.name))  # before anybody installs it as root
    written = _write(found, arguments.output or store.path)
    page = write(report(found, written), store.path / REPORT)
    told = report(found, written, every=arguments.all, explain=arguments.explain)
    tell(told, *([] if arguments.all else _more(found)), page, as_json=arguments.json)


def _more(found: "Result") -> list[str]:
    """Return the command that says why remedies were not tried."""
    number = len(found.advice.left_out)
    count = "1 remedy was" if number == 1 else f"{number} remedies were"
    again = f"wblab advise --resume {shlex.quote(str(found.path))} --all"
    return [f"{count} not tried, see why: {again}"] if number else []


def run_rounds(
    store: "Store",
    client: "Client | None",
    jobs: int | None,
    run: "Callable[..., Tally] | None" = None,
    judge: "Callable[[Store, Advice], Result] | None" = None,
) -> "Result":
    """Try every remedy, then pairs of the best ones, and return the result.

    run: makes runs of the store, by default as `run_store`. judge: looks at what there is, by default as `result_of`.
    """
    from wblab.commands.many import failed, print_failures
    from wblab.study.cells import run_name
    from wblab.study.designs.advise.record import advice_in
    from wblab.study.designs.advise.result import result_of, second_round
    from wblab.study.run import run_store

    make, look = run or run_store, judge or result_of
    print_failures(store, failed(make(store, client, jobs)))
    found = look(store, advice_in(store))
    options = second_round(found)
    if not options:
        return found
    names = ", ".join(dict.fromkeys(name for option in options for name in option.of))
    note(f"second round: pairs of the remedies that help ({names})")
    store.add([option.cell for option in options])
    wanted = {run_name(option.cell, seed) for option in options for seed in store.plan.seeds}
    print_failures(store, failed(make(store, client, jobs, wanted)))
    return look(store, advice_in(store))


def _change(arguments: argparse.Namespace) -> None:
    """Apply a remedy or undo it, and print what happened to each file."""
    from wblab.study.designs.advise.allowed import check_remedy
    from wblab.study.designs.advise.apply import apply, undo
    from wblab.study.designs.advise.record import advice_in
    from wblab.study.store import Store

    if arguments.undo:
        lines = undo() or ["no remedy is set: nothing to undo"]
        print(json.dumps({"undone": lines}, indent=2) if arguments.json else "\n".join(map(printable, lines)))
        return
    advice = advice_in(Store.open(_study(arguments), ADVISE))
    candidate = advice.candidate(arguments.apply)
    check_remedy(candidate)
    undone, applied = apply(candidate, advice)
    if arguments.json:
        rows = [vars(item) | {"as_asked": item.is_as_asked} for item in applied]
        print(json.dumps({"undone": undone, "set": rows}, indent=2))
    else:
        where = f"{advice.site.directory}, on {', '.join(advice.site.disks) or advice.site.device}:"
        print("\n".join(map(printable, [*undone, where, *map(str, applied)])))
        print("In force until the next boot. To undo it: sudo wblab advise --undo")
    if not all(item.is_as_asked for item in applied):
        note("the kernel changed some of the values that were tried: their effect is unknown")


def _planned(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    """Plan the runs of a new study, after measuring the disk, or open the study to resume."""
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.lab.progress import bar
    from wblab.study.begin import described
    from wblab.study.designs.advise.begin import Question, begin
    from wblab.study.designs.advise.figures import MOST_BYTES, SECONDS, TIMES
    from wblab.study.designs.advise.record import packed
    from wblab.study.designs.advise.site import find_site

    if arguments.resume:
        return _resumed(arguments, resolve)
    resolve(arguments.kernel)  # fail early, before the disk is measured
    question = Question(
        site=find_site(arguments.dir or Path()),
        disk=arguments.disk or "",
        like=arguments.like or "",
        seeds=range(1, arguments.seeds + 1),
        kernel=full_name(arguments.kernel),
    )

    def announce() -> None:
        cost = f"this writes and removes up to {TIMES * MOST_BYTES >> 20} MiB and takes up to {TIMES * SECONDS:.0f} s"
        note(f"measuring the disk of {question.site.directory!r}: {cost}")

    with bar("disk") as report:
        planned, advice = begin(question, results(arguments), report, announce)
    return Planned(planned.plan, described(planned.plan, resolve), beside=packed(advice))


def _resumed(arguments: argparse.Namespace, resolve: "KernelResolver") -> "Planned":
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.study.begin import check_kernels
    from wblab.study.designs.advise.record import advice_in
    from wblab.study.store import Store

    for option in ("dir", "disk", "like"):
        if getattr(arguments, option):
            raise InputError(f"--{option}: --resume keeps the settings of the first call: leave --{option} out")
    store = Store.open(_study(arguments), ADVISE)
    advice_in(store)  # refuse a damaged study before anything runs
    if arguments.kernel and full_name(arguments.kernel) not in store.kernels:
        raise InputError(
            f"--kernel: {store.path} was started with {', '.join(store.kernels) or 'the default kernel'}: leave it out"
        )
    check_kernels(store, resolve)
    return Planned(store.plan, store.kernels, store)


def _study(arguments: argparse.Namespace) -> Path:
    """Return the directory of the requested study, by default the newest. Raises InputError."""
    from wblab.study.designs.advise.record import latest_advice

    given: Path | None = arguments.resume
    if given is None or str(given) == "latest":
        return latest_advice(results(arguments))
    return directory_of(given, results(arguments))


def _check_owner(directory: Path, option: str) -> None:
    """Raise InputError if root would write to a directory that another user could redirect."""
    try:
        reason = distrust_new(directory) if os.geteuid() == 0 else ""
    except OSError as error:
        reason = error.strerror or ""
    if reason:
        raise InputError(
            f"{option}: as root, wblab does not write to {str(directory)!r}: {reason}: run it without sudo (only "
            "--apply and --undo need root), or give a directory owned by root"
        )


def _write(found: "Result", directory: Path) -> list[Path]:
    """Write the recommended files and return their paths. Raises InputError."""
    from wblab.lab.held import replace_file

    written = []
    try:
        for name, text in found.files.items():
            directory.mkdir(parents=True, exist_ok=True)
            with replace_file(directory / name) as file:
                file.write(text.encode())
            written.append(directory / name)
    except OSError as error:
        raise InputError(
            f"--output: cannot write to {str(directory)!r}: {error.strerror}: give another directory"
        ) from None
    return written
