"""wblab advise."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import add_exp, add_json, add_kernel, add_seeds, add_where, print_wrapped, results
from wblab.core.errors import InputError
from wblab.lab.extras import require
from wblab.lab.printable import printable
from wblab.machine.trust import distrust_new

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client

    from wblab.advise.result import Result
    from wblab.commands.many import Planned
    from wblab.kernels import Shelf
    from wblab.study.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "What to set on this machine against pauses. Its disk is measured, a guest is made that is like it, scaled "
        "down, and remedies are tried on that: how long are light writers stalled, and how much slower does the heavy "
        "writer become? One remedy is recommended, or none, with the commands that set and undo it. Nothing is "
        "changed but by --apply, which --undo undoes."
    )
    add = parser.add_argument
    add("--dir", type=Path, metavar="DIR", help="a directory on the disk (default: here)")
    about = (
        "the disk's model: a name of experiments/disks, or a file of wblab disk measure (default: measured, in 10 s)"
    )
    add("--disk", metavar="DISK", help=about)
    about = "the loads: of a spec, its innocent ones; of a live run all, and is the twin like that run?"
    add("--like", metavar="SPEC|RUN", help=about)
    add_seeds(parser, "runs of each", default=10)
    add_kernel(parser, "wblab kernel list says which")
    add_where(parser)
    about = "go on with the advice in this directory, or print it again; latest: that one"
    add("--resume", type=Path, metavar="ADVICE", help=about)
    add("--out", type=Path, metavar="DIR", help="where the files to install go (default: the advice's directory)")
    add("--all", action="store_true", help="say too what was not tried and why, and where the twin differs")
    add("--explain", action="store_true", help="print the run directories behind each figure")
    change = parser.add_mutually_exclusive_group()
    about = "set a remedy of the advice (default: of the latest one) on this machine now, until --undo or a reboot"
    change.add_argument("--apply", metavar="NAME", help=about)
    change.add_argument("--undo", action="store_true", help="undo what --apply did")
    add_exp(parser, "its directory goes, and the latest one is")
    add_json(parser)
    parser.set_defaults(run=_advise)


def _advise(arguments: argparse.Namespace) -> None:
    if arguments.apply or arguments.undo:
        _change(arguments)
        return
    require(("explore",))  # here: what was set is undone without it
    from wblab.advise.allowed import check_remedy
    from wblab.commands.many import begun
    from wblab.kernels import built_kernels

    place = _found(arguments) if arguments.resume else results(arguments)
    _leave_to_its_owner(place, "--resume" if arguments.resume else "--exp")
    if arguments.out:
        _leave_to_its_owner(arguments.out, "--out")
    shelf = built_kernels(arguments.kernel)
    with begun(arguments, shelf, _planned(arguments, shelf), "wblab advise --resume") as (store, client):
        found = _run_rounds(store, client, arguments.jobs)
    if found.choice.name:
        check_remedy(found.advice.candidate(found.choice.name))  # before it is written and printed for root
    written = _write(found, arguments.out or store.path)
    if arguments.json:
        print(json.dumps(found.to_json() | {"written": [str(path) for path in written]}, indent=2))
    else:
        _print(found, written, every=arguments.all, explain=arguments.explain)


def _run_rounds(store: "Store", client: "Client | None", jobs: int | None) -> "Result":
    """Try all remedies, then the best of them two at a time, and return what came of it."""
    from wblab.advise.record import advice_in
    from wblab.advise.result import result_of
    from wblab.advise.rounds import second_round
    from wblab.advise.words import second
    from wblab.commands.many import failed, print_failures
    from wblab.study.cells import run_name
    from wblab.study.run import run_store

    print_failures(store, failed(run_store(store, client, jobs)))
    found = result_of(store, advice_in(store))
    options = second_round(found)
    if not options:
        return found
    print(printable(second(options)), file=sys.stderr)
    store.add([option.cell for option in options])
    wanted = {run_name(option.cell, seed) for option in options for seed in store.plan.seeds}
    print_failures(store, failed(run_store(store, client, jobs, wanted)))
    return result_of(store, advice_in(store))


def _change(arguments: argparse.Namespace) -> None:
    """Set a remedy, or undo what was set, and say what has become of each file."""
    from wblab.advise.allowed import check_remedy
    from wblab.advise.apply import apply, undo
    from wblab.advise.record import advice_in
    from wblab.study.store import Store

    if arguments.undo:
        lines = undo() or ["nothing was set: nothing is undone"]
        print(json.dumps({"undone": lines}, indent=2) if arguments.json else "\n".join(map(printable, lines)))
        return
    advice = advice_in(Store.open(_found(arguments), "advise"))
    candidate = advice.candidate(arguments.apply)
    check_remedy(candidate)
    undone, applied = apply(candidate, advice)
    if arguments.json:
        rows = [vars(item) | {"as_asked": item.is_as_asked} for item in applied]
        print(json.dumps({"undone": undone, "set": rows}, indent=2))
    else:
        where = f"{advice.site.directory}, on {', '.join(advice.site.disks) or advice.site.device}:"
        print("\n".join(map(printable, [*undone, where, *map(str, applied)])))
        print("Until the next boot, or: sudo wblab advise --undo")
    if not all(item.is_as_asked for item in applied):
        print("wblab: the kernel took other values than were tried: what they do is not known", file=sys.stderr)


def _planned(arguments: argparse.Namespace, shelf: "Shelf") -> "Planned":
    """Return what is to run: of an advice that is there, or of this machine, whose disk is then measured."""
    from wblab.advise.begin import Question, begin
    from wblab.advise.measure import MOST_BYTES, SECONDS, TIMES
    from wblab.advise.record import packed
    from wblab.advise.site import find_site
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.lab.progress import bar
    from wblab.study.begin import described

    if arguments.resume:
        return _resumed(arguments, shelf)
    shelf(arguments.kernel)  # before the disk is measured
    question = Question(
        site=find_site(arguments.dir or Path()),
        disk=arguments.disk or "",
        like=arguments.like or "",
        seeds=range(1, arguments.seeds + 1),
        kernel=full_name(arguments.kernel),
    )
    if not arguments.disk:
        said = f"up to {TIMES * MOST_BYTES >> 20} MiB are written and removed again, in up to {TIMES * SECONDS:.0f} s"
        print(printable(f"wblab: the disk below {question.site.directory!r} is measured: {said}"), file=sys.stderr)
    with bar("disk") as report:
        planned, advice = begin(question, results(arguments), report)
    return Planned(planned.plan, described(planned.plan, shelf), beside=packed(advice))


def _resumed(arguments: argparse.Namespace, shelf: "Shelf") -> "Planned":
    from wblab.advise.record import advice_in
    from wblab.commands.many import Planned
    from wblab.kernels import full_name
    from wblab.study.begin import check_kernels
    from wblab.study.store import Store

    for option in ("dir", "disk", "like"):
        if getattr(arguments, option):
            raise InputError(f"--{option}: an advice is resumed as it was begun: leave it out")
    store = Store.open(_found(arguments), "advise")
    advice_in(store)  # one of somebody else is refused before anything runs
    if arguments.kernel and full_name(arguments.kernel) not in store.kernels:
        raise InputError(
            f"--kernel: {store.path} was begun with {', '.join(store.kernels) or 'the default'}: leave it out"
        )
    check_kernels(store, shelf)
    return Planned(store.plan, store.kernels, store)


def _found(arguments: argparse.Namespace) -> Path:
    """Return the directory of the advice that is meant: by default of the latest one. Raises InputError."""
    from wblab.advise.record import latest_advice

    given: Path | None = arguments.resume
    if given is None or str(given) == "latest":
        return latest_advice(results(arguments))
    return next((path for path in (given, results(arguments) / given) if path.is_dir()), given)


def _leave_to_its_owner(directory: Path, option: str) -> None:
    """Raise InputError for root, where others could lead what is written to a directory anywhere."""
    try:
        reason = distrust_new(directory) if os.geteuid() == 0 else ""
    except OSError as error:
        reason = error.strerror or ""
    if reason:
        raise InputError(
            f"{option}: root writes nothing to {str(directory)!r}: {reason}: do it without sudo, as only --apply and "
            "--undo need root; or give a directory of root's"
        )


def _write(found: "Result", directory: Path) -> list[Path]:
    """Write the files of what is recommended, and return where. Raises InputError."""
    from wblab.core.files import replace_file

    written = []
    try:
        for name, text in found.files.items():
            directory.mkdir(parents=True, exist_ok=True)
            with replace_file(directory / name) as file:
                file.write(text.encode())
            written.append(directory / name)
    except OSError as error:
        raise InputError(f"--out: cannot write to {str(directory)!r}: {error.strerror}: give another") from None
    return written


def _print(found: "Result", written: "Sequence[Path]", *, every: bool, explain: bool) -> None:
    """Print an advice: of which machine, what to set and its commands, what that is worth; then what it rests on."""
    from wblab.advise import words

    for note in found.advice.notes:
        print(printable(f"wblab: {note}"), file=sys.stderr)
    answer = [*words.opening(found), "", *words.recommended(found)]
    print_wrapped([*answer, "", *words.likeness(found, every=every), "", *found.advice.about[1:2]])
    words.table(found).show()
    runs = ["", *words.explanation(found)] if explain else []
    print_wrapped([*words.left_out(found, every=every), *runs, "", *words.to_keep(found, written), str(found.path)])
