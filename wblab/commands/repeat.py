"""wblab repeat: is it the same to the bit? Makes a run again, or a part of a study's runs, and compares.

What is repeated: a run; a run of which a study kept its row; the record of a run in a site (repeat.json), which has the
spec and the digest of what was measured; a file of `wblab pack`; a share of a study; `golden`, what other machines got.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.commands.common import (
    add_exp,
    add_json,
    add_resume,
    add_run,
    add_workers,
    named_run,
    note,
    one_kernel,
    results,
    tell,
    whole,
)
from wblab.core.errors import InputError, WblabError
from wblab.lab.formats import EXPERIMENT, PACKED
from wblab.lab.results import study_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wblab.analysis.runs.run import Run
    from wblab.core.spec import Spec
    from wblab.host.request import Request
    from wblab.kernels import KernelResolver
    from wblab.study.made import Made

GOLDEN = "golden"
# The options that each kind of subject has, beside --kernel, --exp and --json; others are refused.
_OPTIONS: "Mapping[str, Sequence[str]]" = {
    "a run": ("other", "explain"),
    "a record": (),
    "a packed file": ("one",),
    "a study": ("share", "choice", "one", "resume", "jobs", "cluster"),
    GOLDEN: ("series", "update", "jobs"),
}


class DifferentError(WblabError):
    """What was made is not the same."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the verb and its options."""
    parser.description = (
        "Make a run again and compare the two, byte for byte: in virtual time they should be identical. If they "
        "differ, show the first difference, and the inputs that were others. Of a study, make a random part of its "
        "runs again; of a packed file, one of its runs. golden: the base run, beside what other machines got."
    )
    about = (
        "a run or a study: its directory, the directory's name, or 'latest'; a file of 'wblab pack'; the repeat.json "
        "of a site; or golden"
    )
    add_run(parser, about=about)
    parser.add_argument("other", nargs="?", metavar="OTHER", help="compare a run with this one instead of a new one")
    parser.add_argument("--explain", action="store_true", help="make two runs that trace everything, and compare those")
    parser.add_argument("--run", metavar="RUN", dest="one", help="this run of a study or file: its name, or CELL/SEED")
    parser.add_argument("--share", type=_share, metavar="PERCENT", help="how many of a study's runs (default: 1%%)")
    about = "which of a study's runs are chosen (default: 0)"
    parser.add_argument("--choice", type=whole(0), metavar="N", help=about)
    add_resume(parser)
    about = "golden: the expected figures of a kernel series, or of all that are built: all"
    parser.add_argument("--series", metavar="SERIES", help=about)
    about = "golden: record what this machine gets, for others to compare with"
    parser.add_argument("--update", action="store_true", help=about)
    add_exp(parser)
    add_workers(parser)
    add_json(parser)
    parser.set_defaults(run=_repeat)


def _repeat(arguments: argparse.Namespace) -> None:
    from wblab.commands.repeatmany import repeat_golden, repeat_share
    from wblab.kernels import built_kernels
    from wblab.study.asked import check_options
    from wblab.study.made import made_at

    name, path, place = arguments.run_name, Path(arguments.run_name), results(arguments)
    if name == GOLDEN and not path.exists():
        check_options(arguments, GOLDEN, _OPTIONS)
        repeat_golden(arguments)
    elif path.suffix == PACKED:
        check_options(arguments, "a packed file", _OPTIONS)
        _packed(path, arguments)
    elif path.suffix == ".json" and path.name != EXPERIMENT:
        check_options(arguments, "a record", _OPTIONS)
        _recorded(path, arguments, built_kernels(*arguments.kernel))
    elif study := study_at(path, place):
        check_options(arguments, "a study", _OPTIONS)
        if arguments.one:
            _one_of(study, arguments)
        else:
            repeat_share(study, arguments)
    elif not (arguments.other or arguments.explain) and (found := made_at(place, name)):
        check_options(arguments, "a run", _OPTIONS)
        _repeat_row(found, place, built_kernels(*arguments.kernel), one_kernel(arguments), as_json=arguments.json)
    else:
        check_options(arguments, "a run", _OPTIONS)
        _of_run(arguments, built_kernels(*arguments.kernel))


def _of_run(arguments: argparse.Namespace, resolve: "KernelResolver") -> None:
    from wblab.analysis.runs.run import find_run, read_run
    from wblab.host.request import ready
    from wblab.study.designs.audit.report import traced_fully

    directory, kernel = results(arguments), one_kernel(arguments)
    first = read_run(named_run(arguments))
    if arguments.explain and arguments.other:
        raise InputError("--explain makes two new runs and compares those: leave OTHER out")
    if arguments.other:
        second = read_run(find_run(arguments.other, directory))
    elif arguments.explain:
        spec = _spec(first, kernel)
        spec = traced_fully(spec, resolve(spec.kernel.build))
        first, second = (_made(ready(spec, resolve), directory) for _ in range(2))
    else:
        second = _made(ready(_spec(first, kernel), resolve), directory)
    _say(first, second, as_json=arguments.json)


def _recorded(path: Path, arguments: argparse.Namespace, resolve: "KernelResolver") -> None:
    """Repeat the run that a record describes, and print whether it is identical. Raises DifferentError if not."""
    from wblab.host.request import ready
    from wblab.study.designs.audit.report import read_record

    record, kernel = read_record(path), one_kernel(arguments)
    if record.needs_kernel and not kernel:
        raise InputError(f"{path}: the run had a kernel of its own ({record.kernel}): give one with --kernel PATH")
    made = _made(ready(_on(record.spec, kernel), resolve), results(arguments), may_lose=record.may_lose)
    if not record.is_repeatable:
        note("no two runs in real time are identical")
    _say_digests(str(path), {"record": str(path)}, (record.digest, record.made_with), made, as_json=arguments.json)


def _packed(file: Path, arguments: argparse.Namespace) -> None:
    """Keep what a file of `wblab pack` holds among the results, and repeat a run of it."""
    from wblab.kernels import built_kernels
    from wblab.lab.wings import needed

    place, kernel = results(arguments), one_kernel(arguments)
    kept = needed("a run of a packed file")(file, place, arguments.one, own_kernel=not kernel)
    for line in kept.notes:
        note(line)
    resolve = (lambda _: kept.kernel) if kept.kernel else built_kernels(kernel)
    if isinstance(kept.place, Path):
        _repeat_kept(kept.place, place, resolve, kernel, as_json=arguments.json)
    else:
        _repeat_row(kept.place, place, resolve, kernel, as_json=arguments.json)


def _one_of(study: Path, arguments: argparse.Namespace) -> None:
    """Repeat one run of a study."""
    from wblab.kernels import built_kernels
    from wblab.study.begin import with_kernel
    from wblab.study.designs.audit.audit import named_run_of
    from wblab.study.made import one_of
    from wblab.study.store import Store

    if given := [option for option in ("share", "choice", "resume", "cluster") if getattr(arguments, option)]:
        raise InputError(f"--{given[0]}: one run is repeated with --run: leave it out")
    store = Store.open(study)
    with_kernel(store.plan, arguments.kernel, begun=True)
    resolve = built_kernels(*arguments.kernel)
    made = one_of(store, *named_run_of(store, arguments.one))
    if made is None:
        raise InputError(f"--run {arguments.one} has not run yet: run it with wblab study --resume {study}")
    if made.directory:
        _repeat_kept(made.directory, results(arguments), resolve, "", as_json=arguments.json)
    else:
        _repeat_row(made, results(arguments), resolve, "", as_json=arguments.json)


def _repeat_kept(path: Path, results: Path, resolve: "KernelResolver", kernel: str, *, as_json: bool) -> None:
    """Repeat the run in a directory and print whether the two are the same. Raises DifferentError if not."""
    from wblab.analysis.runs.run import read_run
    from wblab.host.request import ready

    first = read_run(path)
    _say(first, _made(ready(_spec(first, kernel), resolve), results), as_json=as_json)


def _repeat_row(of: "Made", results: Path, resolve: "KernelResolver", kernel: str, *, as_json: bool) -> None:
    """Do the same for a run of which only the row was kept."""
    from wblab.host.request import ready

    study = of.store.path
    made = _made(ready(_on(of.cell.with_seed(of.seed), kernel), resolve), results, may_lose=of.cell.may_lose)
    about = {"study": str(study), "run": of.name}
    _say_digests(f"{of.name} of {study}", about, (of.digest, of.made_with), made, as_json=as_json)


def _say_digests(
    first: str, about: dict[str, str], of: "tuple[str, Mapping[str, str]]", made: "Run", *, as_json: bool
) -> None:
    """Say whether a new run has a recorded digest; if not, raise DifferentError with the inputs that differ.

    first, about: what recorded it, for people and for JSON. of: that digest, and the inputs of its run.
    """
    from wblab.analysis.runs.digest import digest
    from wblab.study.designs.audit.report import of_digests
    from wblab.study.inputs import different, inputs_of, reason

    (recorded, made_with), second = of, digest(made)
    inputs = different(made_with, inputs_of(made.record))
    tell(of_digests(about, recorded, made.path, second, inputs), as_json=as_json)
    if second != recorded:
        is_real = not inputs and made.spec.clock.mode == "real"
        why = "it had the host's clock" if is_real else reason(inputs)
        raise DifferentError(f"the new run is not that of {first}: {why}")


def _say(first: "Run", second: "Run", *, as_json: bool) -> None:
    from wblab.analysis.runs.difference import first_differences
    from wblab.study.designs.audit.report import of_runs
    from wblab.study.inputs import excuses

    differences = first_differences(first, second)
    why = excuses(first, second) if differences else ()
    tell(of_runs(first.path, second.path, differences, why), as_json=as_json)
    if differences:
        raise DifferentError(f"the runs differ, first at {differences[0].at_s:.6f} s of guest time")


def _spec(run: "Run", kernel_given: str) -> "Spec":
    from wblab.analysis.runs.run import guest_spec

    return _on(guest_spec(run), kernel_given)


def _on(spec: "Spec", kernel: str) -> "Spec":
    """Return a spec on the kernel that was given to --kernel, if any."""
    from wblab.kernels import full_name

    return spec.on(full_name(kernel)) if kernel else spec


def _made(request: "Request", results: Path, *, may_lose: bool = False) -> "Run":
    """Make a run. may_lose: one whose trace lost events counts too. Raises RunFailedError."""
    from wblab.analysis.runs.run import read_run
    from wblab.api.making import run_shown
    from wblab.host.recorded import RunFailedError
    from wblab.study.work import lost_events

    try:
        return read_run(run_shown(request, results).directory)
    except RunFailedError as error:
        if not may_lose or error.directory is None or not lost_events(error.directory):
            raise
        return read_run(error.directory)


def _share(text: str) -> float:
    """Read a share such as 1% or 0.5%. Raises ArgumentTypeError."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = 0.0
    if not text.endswith("%") or not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share: give a percentage over 0, such as 1%")
    return share
