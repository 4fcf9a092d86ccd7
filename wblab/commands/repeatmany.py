"""wblab repeat of a study and of golden: many runs made again, or one beside those of other machines."""

import argparse
import json
from pathlib import Path

from wblab.analysis.runs.run import read_run
from wblab.api.making import run_shown
from wblab.commands.common import asked_of, results, show, tell
from wblab.core.errors import InputError, WblabError
from wblab.host.request import ready
from wblab.kernels import built_kernels, list_kernels
from wblab.lab.places import check_checkout
from wblab.lab.results import SPECS
from wblab.lab.specfile import read_spec
from wblab.study.asked import StudyRequest
from wblab.study.designs.audit.expected import FOLDER, path_of
from wblab.study.designs.audit.golden import FILE, SPEC, judge, noted, read_golden, seen, write_golden
from wblab.study.designs.audit.make import AuditRequest, beside_expected, make
from wblab.study.designs.audit.report import of_base, of_series

_ALL = "all"


def repeat_share(path: Path, arguments: argparse.Namespace) -> None:
    """Make a random part of a study's runs again, and say which share is identical. Raises WblabError for others."""
    show(make(asked_of(arguments, AuditRequest, study=path)), as_json=arguments.json)


def repeat_golden(arguments: argparse.Namespace) -> None:
    """Compare the base run with that of other machines, or a series' presets with what is expected of them.

    Raises WblabError for a difference.
    """
    if arguments.kernel:
        raise InputError("--kernel: golden has a kernel of its own: give a series with --series")
    if arguments.series:
        _of_series(arguments)
    elif arguments.jobs:
        raise InputError("--jobs goes with --series: the base experiment is one run")
    else:
        _of_base(arguments)


def _of_series(arguments: argparse.Namespace) -> None:
    known = {listed.series: listed.kernel for listed in list_kernels()}
    names = [name for name, kernel in known.items() if kernel] if arguments.series == _ALL else [arguments.series]
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"no series {unknown[0]!r}: give one of {', '.join(known)}, or {_ALL}")
    if not names:
        raise InputError("no series is built: build one with wblab kernel build")
    resolve = built_kernels()
    for name in names:
        resolve(name)
    if arguments.update:
        check_checkout(FOLDER, "--update")
    asked = asked_of(arguments, StudyRequest)
    found = {name: beside_expected(asked, name) for name in names}
    if arguments.update:
        paths = [str(path_of(name)) for name in names]
        print(json.dumps({"written": paths}, indent=2) if arguments.json else "\n".join(paths))
        return
    tell(of_series(found), as_json=arguments.json)
    if strange := [f"{one.preset} on {name}" for name, some in found.items() for one in some if not one.fits]:
        stale = sorted({name for some in found.values() for one in some for name in one.verdict.stale})
        why = f"; recorded with another version of {', '.join(stale)}: make expected" if stale else ""
        raise WblabError(f"not as expected: {', '.join(strange)}{why}")


def _of_base(arguments: argparse.Namespace) -> None:
    if arguments.update:
        check_checkout(FILE, "--update")
    request = ready(read_spec(SPECS.find(SPEC)), built_kernels())
    run = read_run(run_shown(request, results(arguments)).directory)
    new = seen(run)
    if arguments.update:
        write_golden(noted(read_golden(), new))
    verdict = None if arguments.update else judge(read_golden(), new)
    tell(of_base(run.path, new, verdict), as_json=arguments.json)
    if verdict and not verdict.same:
        raise WblabError("this machine's result differs")
