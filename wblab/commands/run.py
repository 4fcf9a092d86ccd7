"""wblab run: one experiment, in a guest or on this machine itself."""

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wblab.commands.common import add_exp, add_json, add_settings, results
from wblab.core.errors import InputError
from wblab.core.units import NS_PER_S, parse_bytes, parse_time

if TYPE_CHECKING:
    from wblab.core.spec import Spec
    from wblab.host.recorded import Finished


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = "Boot a guest, run an experiment in it, and print the run directory."
    parser.add_argument(
        "spec",
        nargs="?",
        default="base",
        metavar="SPEC",
        help="a TOML file, a preset of experiments/, or an experiment.json to run again (default: base)",
    )
    parser.add_argument(
        "--disk",
        metavar="[NAME=]DISK",
        action="append",
        default=[],
        help="give a disk the speed of a kind of disk: hdd, ssd, nvme, usb-stick, sd-card or ram (experiments/disks), "
        "or a TOML file from wblab disk measure. NAME: which disk, if the spec has several",
    )
    add_settings(parser)
    parser.add_argument("--clock", choices=("virtual", "real"), help="the guest's time (default: the spec's)")
    parser.add_argument(
        "--kernel",
        default="",
        metavar="SERIES|PATH",
        help="where it runs: a series of the lab (wblab kernel list) or a path; stock:7.2, a distribution's kernel in "
        "QEMU, stock:7.2+sata with its own driver of disks; live:DIR, this machine itself, by --clock real "
        "(default: the spec's)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="seed of all random choices (default: the spec's)")
    parser.add_argument("--name", metavar="NAME", help="part of the run directory's name (default: the spec's)")
    add_exp(parser, "run directories go")
    parser.add_argument(
        "--patience",
        default="60s",
        metavar="TIME",
        help="how long a guest may print nothing before it counts as hung; three times as long in QEMU (default: 60s)",
    )
    parser.add_argument(
        "--max-time", default="6h", metavar="TIME", help="host time after which a guest is killed (default: 6h)"
    )
    parser.add_argument(
        "--max-output",
        default="1GiB",
        metavar="SIZE",
        help="how much a guest may write to the run directory, mostly its trace (default: 1GiB)",
    )
    parser.add_argument(
        "--allow-read",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="let the guest's programs read this file or directory too; by default they can only read the files of the "
        "distribution and of the lab; repeatable",
    )
    add_json(parser, "print the run's record as JSON")
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from wblab.api.making import run_shown
    from wblab.commands.answered import prepare
    from wblab.host.place import place_of
    from wblab.host.process.limits import Limits
    from wblab.host.request import ready
    from wblab.kernels import built_kernels

    limits = Limits(
        silence_s=parse_time(arguments.patience) / NS_PER_S,
        wall_s=parse_time(arguments.max_time) / NS_PER_S,
        output_bytes=parse_bytes(arguments.max_output),
    )
    readable = [str(path.resolve()) for path in arguments.allow_read]
    for path in readable:
        if not os.path.exists(path):
            raise InputError(f"--allow-read: there is no {path!r}: check the path")
    request = ready(_spec(arguments), built_kernels(arguments.kernel))
    guests: dict[str, Any] = {"limits": limits, "readable": readable} if place_of(request.kernel).boots else {}
    if readable and not guests:
        raise InputError("--allow-read: on this machine itself loads read what you may read: leave it out")
    meanwhile = (lambda: None) if arguments.json else prepare
    _print(run_shown(request, results(arguments), meanwhile=meanwhile, **guests), arguments.json)


def _spec(arguments: argparse.Namespace) -> "Spec":
    from wblab.api.making import asked
    from wblab.lab.disks import disk_settings

    settings = [*(setting for disk in arguments.disk for setting in disk_settings(disk)), *arguments.settings]
    clock = [f"clock.mode={arguments.clock}"] if arguments.clock else []
    return asked(arguments.spec, [*settings, *clock], seed=arguments.seed, kernel=arguments.kernel, name=arguments.name)


def _print(finished: "Finished", as_json: bool) -> None:
    if as_json:
        print(json.dumps({"directory": str(finished.directory)} | finished.record, indent=2))
    else:
        from wblab.commands.answered import print_answered

        print_answered(finished.directory)
