"""wblab advise: recommend a setting that shortens pauses on this machine."""

import argparse
import json
from pathlib import Path

from wblab.commands.common import (
    add_exp,
    add_json,
    add_kernel,
    add_seeds,
    add_where,
    asked_of,
    note,
    results,
    show,
)
from wblab.lab.extras import require
from wblab.lab.printable import printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Recommend what to set on this machine to shorten pauses. The lab measures the disk, makes a small guest like "
        "this machine (its twin), and tries remedies there: how long are light writers stalled, and how much slower "
        "does the heavy writer become? It recommends one remedy or none, and prints the commands that set and undo "
        "it. Only --apply changes this machine; --undo reverts it."
    )
    add = parser.add_argument
    about = "another machine, by what wblab recorder or its --facts made there; --dir is a directory of it then"
    add("--machine", type=Path, metavar="FILE", help=about)
    add("--dir", type=Path, metavar="DIR", help="a directory on the disk (default: .)")
    about = (
        "model of the disk: a name in experiments/disks, or a file of wblab disk measure (default: measure it, 10 s)"
    )
    add("--disk", metavar="DISK", help=about)
    about = (
        "take the loads from a spec (without its offenders) or from a live run, which is then compared with the twin"
    )
    add("--like", metavar="SPEC|RUN", help=about)
    about = "a control group that is there, as /proc/PID/cgroup has it: print limits for it, too"
    add("--cgroup", default="", metavar="PATH", help=about)
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
    from wblab.live.advise.make import AdviceRequest, make

    kernel = (arguments.kernel,) if arguments.kernel else ()
    asked = asked_of(
        arguments, AdviceRequest, kernel=kernel, machine=arguments.machine, directory=arguments.dir, every=arguments.all
    )
    show(make(asked), as_json=arguments.json)


def _change(arguments: argparse.Namespace) -> None:
    """Apply a remedy or undo it, and print what happened to each file."""
    from wblab.live.advise.advicefile import advice_at
    from wblab.live.advise.apply import apply_named, undo

    if arguments.undo:
        lines = undo() or ["no remedy is set: nothing to undo"]
        print(json.dumps({"undone": lines}, indent=2) if arguments.json else "\n".join(map(printable, lines)))
        return
    advice, undone, applied = apply_named(arguments.apply, advice_at(arguments.resume, results(arguments)))
    if arguments.json:
        rows = [vars(item) | {"as_asked": item.is_as_asked} for item in applied]
        print(json.dumps({"undone": undone, "set": rows}, indent=2))
    else:
        where = f"{advice.site.directory}, on {', '.join(advice.site.disks) or advice.site.device}:"
        print("\n".join(map(printable, [*undone, where, *map(str, applied)])))
        print("In force until the next boot. To undo it: sudo wblab advise --undo")
    if not all(item.is_as_asked for item in applied):
        note("the kernel changed some of the values that were tried: their effect is unknown")
