"""Plan what to try for this machine, try it in rounds, and write the recommendation and the files that install it."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from wblab.core.errors import InputError
from wblab.kernels import KernelResolver, built_kernels, full_name
from wblab.lab.designs import designs
from wblab.lab.formats import REPORT
from wblab.lab.held import replace_file
from wblab.lab.progress import bar
from wblab.live.advise import NAME
from wblab.live.advise.advicefile import advice_at, advice_in, check_remedy, recorded
from wblab.live.advise.begin import AdviceQuestion, begin
from wblab.live.advise.figures import MOST_BYTES, SECONDS, TIMES
from wblab.live.advise.machinesite import find_site, site_elsewhere
from wblab.live.advise.ofgroup import group_at
from wblab.live.advise.record import Advice, packed
from wblab.live.advise.report import report
from wblab.live.advise.result import AdviceResult, result_of, second_round
from wblab.live.twin.elsewhere import Elsewhere
from wblab.machine.trust import distrust_new
from wblab.report.page import write
from wblab.report.report import Report
from wblab.study.asked import Failures, StudyAnswer, StudyRequest
from wblab.study.begin import Planned, begun, check_kernels
from wblab.study.cells import run_name
from wblab.study.run import Tally, run_store
from wblab.study.store import Store

_SEEDS = 10


@dataclass(frozen=True, kw_only=True)
class AdviceRequest(StudyRequest):
    """What an advice is asked for.

    machine: a file with the facts of another machine; None: this one. directory: on the disk; None: this one. like:
    the loads of a spec or a live run; empty: the lab's own. every: show what was not tried, too. explain: show the runs
    behind each figure. cgroup: a control group that is there, for which limits are printed.
    """

    machine: Path | None = None
    directory: Path | None = None
    like: str = ""
    every: bool = False
    explain: bool = False
    cgroup: str = ""


def make(asked: AdviceRequest) -> StudyAnswer:
    """Try every remedy on this machine's twin, and recommend one or none; or go on with that."""
    place = advice_at(asked.resume, asked.results) if asked.resume else asked.results
    if asked.cgroup:
        group_at(asked.cgroup, elsewhere=asked.machine is not None or asked.resume is not None)  # fail early
    _check_owner(place, "--resume" if asked.resume else "--exp")
    if asked.output:
        _check_owner(asked.output, "--output")
    resolve = built_kernels(asked.one_kernel)
    with begun(asked, resolve, _planned(asked, resolve), designs()[NAME].again) as (store, client):

        def run(store: Store, wanted: set[str] | None) -> Tally:
            return run_store(store, client, asked.jobs, wanted)

        found = run_rounds(asked, store, run)
    if found.choice.name:
        check_remedy(found.advice.candidate(found.choice.name))  # before anybody installs it as root
    written = _written(found, asked.output or store.path)
    page = write(_pictured(report(found, written), found, store), store.path / REPORT)
    group = group_at(asked.cgroup, elsewhere=bool(found.advice.elsewhere)) if asked.cgroup else None
    told = report(found, written, every=asked.every, explain=asked.explain, group=group)
    return StudyAnswer(store.path, told, (*([] if asked.every else _more(found)), page))


def report_of(store: Store) -> Report:
    """Return the report of an advice that was made. Raises InputError."""
    found = replace(result_of(store, recorded(store)), path=Path(store.path.name))
    return _pictured(report(found), found, store)


def _pictured(told: Report, found: AdviceResult, store: Store) -> Report:
    """Return the report with pictures of the machine as it is and with remedies, first of the recommended one."""
    from wblab.study.pictured import with_pictures  # trying remedies needs no Matplotlib, which takes a while to load

    chosen = found.choice.name
    return with_pictures(told, store, [found.advice.candidate(chosen).cell] if chosen else [])


def run_rounds(
    asked: StudyRequest,
    store: Store,
    run: Callable[[Store, set[str] | None], Tally],
    judge: Callable[[Store, Advice], AdviceResult] = result_of,
) -> AdviceResult:
    """Try every remedy, then pairs of the best ones, and return the result.

    run: makes the missing runs of the store, or those of some names. judge: looks at what there is.
    """

    def tried(wanted: set[str] | None) -> AdviceResult:
        for line in Failures.of(store, run(store, wanted)).lines:
            asked.failed(line)
        return judge(store, advice_in(store))

    found = tried(None)
    options = second_round(found)
    if not options:
        return found
    names = ", ".join(dict.fromkeys(name for option in options for name in option.of))
    asked.note(f"second round: pairs of the remedies that help ({names})")
    cells = [cell for option in options for cell in option.cells]
    store.add(cells)
    return tried({run_name(cell, seed) for cell in cells for seed in store.plan.seeds})


def _more(found: AdviceResult) -> list[str]:
    """Return the command that says why remedies were not tried."""
    number = len(found.advice.left_out)
    count = "1 remedy was" if number == 1 else f"{number} remedies were"
    again = f"{designs()[NAME].again} {shlex.quote(str(found.path))} --all"
    return [f"{count} not tried, see why: {again}"] if number else []


def _planned(asked: AdviceRequest, resolve: KernelResolver) -> Planned:
    """Plan the runs of a new study, after measuring the disk, or open the study to resume."""
    if asked.resume:
        return _resumed(asked, resolve)
    resolve(asked.one_kernel)  # fail early, before the disk is measured
    there = Elsewhere.read(asked.machine, str(asked.directory or "")) if asked.machine else None
    question = AdviceQuestion(
        site=site_elsewhere(there) if there else find_site(asked.directory or Path()),
        there=there,
        disk=asked.disk,
        like=asked.like,
        seeds=range(1, (asked.seeds or _SEEDS) + 1),
        kernel=full_name(asked.one_kernel),
    )

    def announce() -> None:
        cost = f"this writes and removes up to {TIMES * MOST_BYTES >> 20} MiB and takes up to {TIMES * SECONDS:.0f} s"
        asked.note(f"measuring the disk of {question.site.directory!r}: {cost}")

    with bar("disk") as progress:
        planned, advice = begin(question, asked.results, progress, announce)
    return Planned.new(planned.plan, resolve, beside=packed(advice))


def _resumed(asked: AdviceRequest, resolve: KernelResolver) -> Planned:
    for option, value in (
        ("machine", asked.machine),
        ("dir", asked.directory),
        ("disk", asked.disk),
        ("like", asked.like),
    ):
        if value:
            raise InputError(f"--{option}: --resume keeps the settings of the first call: leave --{option} out")
    store = Store.open(advice_at(asked.resume, asked.results), NAME)
    advice_in(store)  # refuse a damaged study before anything runs
    if asked.kernel and full_name(asked.one_kernel) not in store.kernels:
        raise InputError(
            f"--kernel: {store.path} was started with {', '.join(store.kernels) or 'the default kernel'}: leave it out"
        )
    check_kernels(store, resolve)
    return Planned(store.plan, store.kernels, store)


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


def _written(found: AdviceResult, directory: Path) -> Sequence[Path]:
    """Write the recommended files and return their paths. Raises InputError."""
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
