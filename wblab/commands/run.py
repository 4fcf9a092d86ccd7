"""wblab run and wblab doctor."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wblab.core.errors import InputError, WblabError

if TYPE_CHECKING:
    from wblab.core.spec import Spec
    from wblab.host.run import Finished

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def add_verbs(verbs: Verbs) -> None:
    """Add the verbs to the command."""
    _add_run(verbs)
    doctor = verbs.add_parser("doctor", help="check this machine", description="Check this machine for the lab.")
    doctor.add_argument("--json", action="store_true", help="print the findings as JSON")
    doctor.set_defaults(run=_doctor)


def _add_run(verbs: Verbs) -> None:
    run = verbs.add_parser(
        "run",
        help="run an experiment",
        description="Boot a guest, run an experiment in it, and print the run directory.",
    )
    run.add_argument(
        "spec",
        nargs="?",
        default="base",
        metavar="SPEC",
        help="a TOML file, a preset of experiments/, or an experiment.json to run again (default: base)",
    )
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        dest="settings",
        help="change a key: disk.write_bps=2M",
    )
    run.add_argument("--clock", choices=("virtual", "real"), help="the guest's time (default: the spec's)")
    run.add_argument("--kernel", metavar="SERIES|PATH", help="a series (wblab kernel list) or a path")
    run.add_argument("--seed", type=int, metavar="N", help="what varies from run to run")
    run.add_argument("--name", metavar="NAME", help="part of the run directory's name")
    run.add_argument("--exp", type=Path, metavar="DIR", help="where run directories go (default: exp/ of the lab)")
    run.add_argument(
        "--patience", default="60s", metavar="TIME", help="how long a guest may say nothing before it counts as hanging"
    )
    run.add_argument(
        "--max-time", default="6h", metavar="TIME", help="host time after which a guest is ended (default: 6h)"
    )
    run.add_argument(
        "--max-output",
        default="1GiB",
        metavar="SIZE",
        help="what a guest may leave, its trace above all (default: 1GiB)",
    )
    run.add_argument(
        "--allow-read",
        action="append",
        default=[],
        type=Path,
        metavar="PATH",
        help="let the guest's programs read this too; by default they see the distribution's and the lab's files only",
    )
    run.add_argument("--json", action="store_true", help="print the run's record as JSON")
    run.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> None:
    from wblab.core.units import NS_PER_S, parse_bytes, parse_time
    from wblab.host.limits import Limits
    from wblab.lab.specfile import RESULTS

    limits = Limits(
        silence_s=parse_time(arguments.patience) / NS_PER_S,
        wall_s=parse_time(arguments.max_time) / NS_PER_S,
        output_bytes=parse_bytes(arguments.max_output),
    )
    readable = [str(path.resolve()) for path in arguments.allow_read]
    for path in readable:
        if not os.path.exists(path):
            raise InputError(f"--allow-read: there is no {path!r}: check the path")
    results, kernel_given = arguments.exp or RESULTS, arguments.kernel or ""
    finished = run_spec(_spec(arguments), results, kernel_given=kernel_given, limits=limits, readable=readable)
    _print(finished, arguments.json)


def run_spec(spec: "Spec", results: Path, *, kernel_given: str = "", **options: Any) -> "Finished":
    """Check a spec and run it with progress, on the kernel that it names. `options` are those of run_experiment.

    kernel_given: the kernel that the user named on the command line; without it, the spec must name a series.
    Raises InputError before anything is booted, RunFailedError after.
    """
    from wblab.host.check import check_kernel, check_run
    from wblab.host.run import run_experiment
    from wblab.host.sandbox import landlock_version
    from wblab.kernels import built_kernel, why_left_out
    from wblab.lab.progress import bar

    check_run(spec)
    kernel = built_kernel(spec.kernel, given=[kernel_given])
    check_kernel(spec, kernel)
    if said := why_left_out(kernel, spec.trace.events):
        print(f"wblab: {said}", file=sys.stderr)
    if not landlock_version():
        print("wblab: no Landlock here: only the guest's own kernel guards your files (wblab doctor)", file=sys.stderr)
    with bar(spec.name) as report:
        return run_experiment(spec, kernel, results, report=report, **options)


def _spec(arguments: argparse.Namespace) -> "Spec":
    from wblab.kernels import full_name
    from wblab.lab.specfile import find_spec, read_spec

    settings = list(arguments.settings)
    for key, value in (("clock.mode", arguments.clock), ("seed", arguments.seed)):
        if value is not None:
            settings.append(f"{key}={value}")
    kernel = arguments.kernel and full_name(arguments.kernel)  # the record may be read anywhere
    for key, value in (("kernel", kernel), ("name", arguments.name)):
        if value is not None:
            settings.append(f"{key}={json.dumps(value)}")
    return read_spec(find_spec(arguments.spec), settings)


def _print(finished: "Finished", as_json: bool) -> None:
    if as_json:
        print(json.dumps({"directory": str(finished.directory)} | finished.record, indent=2))
    else:
        print(finished.directory)


def _doctor(arguments: argparse.Namespace) -> None:
    from wblab.host.doctor import examine, table

    findings = examine()
    if arguments.json:
        json.dump([finding.to_json() for finding in findings], sys.stdout, indent=2)
        print()
    else:
        table(findings).show()
    bad = sum(not finding.good for finding in findings)
    if bad:
        raise WblabError(f"{bad} of {len(findings)} checks found something to mend")
