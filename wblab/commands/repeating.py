"""What `wblab repeat` does for each kind of subject: finds it, makes it again, compares the two and prints that."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from wblab.analysis.runs.difference import first_differences
from wblab.analysis.runs.digest import digest
from wblab.analysis.runs.run import Run, find_run, guest_spec, read_run
from wblab.api.making import run_shown
from wblab.commands.common import named_run, note, one_kernel, results, tell
from wblab.commands.repeatmany import repeat_golden, repeat_share
from wblab.core.errors import InputError, WblabError
from wblab.host.recorded import RunFailedError
from wblab.host.request import Request, ready
from wblab.kernels import KernelResolver, built_kernels, full_name
from wblab.lab.formats import EXPERIMENT, HANDED, PACKED
from wblab.lab.results import study_at
from wblab.lab.wings import needed
from wblab.study.asked import check_options
from wblab.study.begin import with_kernel
from wblab.study.designs.audit.audit import named_run_of
from wblab.study.designs.audit.report import of_digests, of_runs, read_record, traced_fully
from wblab.study.inputs import different, excuses, inputs_of, reason
from wblab.study.made import Made, made_at, one_of
from wblab.study.store import Store
from wblab.study.work import lost_events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wblab.core.spec import Spec

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


def repeat(arguments: argparse.Namespace) -> None:
    """Make again what the arguments name, and print whether it is the same.

    Raises DifferentError if not, and InputError for an option that this subject does not have.
    """
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


def _of_run(arguments: argparse.Namespace, resolve: KernelResolver) -> None:
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
    elif (first.path / HANDED).is_dir():
        second = read_run(
            needed("a program's run made again")(ready(_spec(first, kernel), resolve), first.path, directory)
        )
    else:
        second = _made(ready(_spec(first, kernel), resolve), directory)
    _say(first, second, as_json=arguments.json)


def _recorded(path: Path, arguments: argparse.Namespace, resolve: KernelResolver) -> None:
    """Repeat the run that a record describes, and print whether it is identical. Raises DifferentError if not."""
    record, kernel = read_record(path), one_kernel(arguments)
    if record.needs_kernel and not kernel:
        raise InputError(f"{path}: the run had a kernel of its own ({record.kernel}): give one with --kernel PATH")
    made = _made(ready(_on(record.spec, kernel), resolve), results(arguments), may_lose=record.may_lose)
    if not record.is_repeatable:
        note("no two runs in real time are identical")
    _say_digests(str(path), {"record": str(path)}, (record.digest, record.made_with), made, as_json=arguments.json)


def _packed(file: Path, arguments: argparse.Namespace) -> None:
    """Keep what a file of `wblab pack` holds among the results, and repeat a run of it."""
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


def _repeat_kept(path: Path, results: Path, resolve: KernelResolver, kernel: str, *, as_json: bool) -> None:
    """Repeat the run in a directory and print whether the two are the same. Raises DifferentError if not."""
    first = read_run(path)
    _say(first, _made(ready(_spec(first, kernel), resolve), results), as_json=as_json)


def _repeat_row(of: Made, results: Path, resolve: KernelResolver, kernel: str, *, as_json: bool) -> None:
    """Do the same for a run of which only the row was kept."""
    study = of.store.path
    made = _made(ready(_on(of.cell.with_seed(of.seed), kernel), resolve), results, may_lose=of.cell.may_lose)
    about = {"study": str(study), "run": of.name}
    _say_digests(f"{of.name} of {study}", about, (of.digest, of.made_with), made, as_json=as_json)


def _say_digests(
    first: str, about: dict[str, str], of: "tuple[str, Mapping[str, str]]", made: Run, *, as_json: bool
) -> None:
    """Say whether a new run has a recorded digest; if not, raise DifferentError with the inputs that differ.

    first, about: what recorded it, for people and for JSON. of: that digest, and the inputs of its run.
    """
    (recorded, made_with), second = of, digest(made)
    inputs = different(made_with, inputs_of(made.record))
    tell(of_digests(about, recorded, made.path, second, inputs), as_json=as_json)
    if second != recorded:
        is_real = not inputs and made.spec.clock.mode == "real"
        why = "it had the host's clock" if is_real else reason(inputs)
        raise DifferentError(f"the new run is not that of {first}: {why}")


def _say(first: Run, second: Run, *, as_json: bool) -> None:
    differences = first_differences(first, second)
    why = excuses(first, second) if differences else ()
    same = "" if differences else digest(second)
    tell(of_runs(first.path, second.path, differences, why, same), as_json=as_json)
    if differences:
        raise DifferentError(f"the runs differ, first at {differences[0].at_s:.6f} s of guest time")


def _spec(run: Run, kernel_given: str) -> "Spec":
    return _on(guest_spec(run), kernel_given)


def _on(spec: "Spec", kernel: str) -> "Spec":
    """Return a spec on the kernel that was given to --kernel, if any."""
    return spec.on(full_name(kernel)) if kernel else spec


def _made(request: Request, results: Path, *, may_lose: bool = False) -> Run:
    """Make a run. may_lose: one whose trace lost events counts too. Raises RunFailedError."""
    try:
        return read_run(run_shown(request, results).directory)
    except RunFailedError as error:
        if not may_lose or error.directory is None or not lost_events(error.directory):
            raise
        return read_run(error.directory)
